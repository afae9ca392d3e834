/** How a machine's speed compares with the time that leases last. */
export interface LeaseTiming {
  /** Whether a group that is begun now would be ready in time beside those in hand. */
  readonly fitsBeside: boolean
  /** @param leaseMs  from now to the lease's deadline */
  leased(leaseMs: number): void
  delivered(ms: number): void
  /** A lease ended before its group was ready. @returns  what to tell the owner when this machine is too slow for the run, else null */
  lost(ms: number): string | null
}

/** Leases in a row that end before their groups are ready: one may end because the machine slept. */
const MOST_LOST = 2

export function createLeaseTiming(): LeaseTiming {
  let leaseMs = 0
  let groupMs: number | null = null
  let lost = 0
  return {
    get fitsBeside() {
      // In lanes that another group leaves it takes longer than alone: twice as long where all are shared.
      return groupMs !== null && 2 * groupMs <= leaseMs
    },
    leased(ms) {
      leaseMs = ms
    },
    delivered(ms) {
      groupMs = ms
      lost = 0
    },
    lost(ms) {
      lost += 1
      if (lost < MOST_LOST) return null
      return (
        `this machine is too slow for the run: ${lost} groups in a row were not ready after ${Math.round(ms / 60_000)} minutes, when their leases ended. ` +
        'Let it use more threads or a GPU (prove-node doctor tells what it has), look for a run with a smaller model, ' +
        'or give others what is published: this node goes on serving adapters, and everything else with --mirror'
      )
    },
  }
}
