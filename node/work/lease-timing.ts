/** Compares the speed of a machine with the duration of leases. */
export interface LeaseTiming {
  /** Whether another group, begun now, would be ready in time next to those in progress. */
  readonly hasTimeForAnother: boolean
  /** @param leaseMs  from now to the lease's deadline */
  leased(leaseMs: number): void
  delivered(ms: number): void
  /** Counts a lease that ended before its group was ready. @returns a text for the owner when this machine is too slow for the run, else null */
  lost(ms: number): string | null
}

/** Leases in a row that end before their groups are ready. One alone may end because the machine slept. */
const MOST_LOST = 2

export function createLeaseTiming(): LeaseTiming {
  let leaseMs = 0
  let groupMs: number | null = null
  let lost = 0
  return {
    get hasTimeForAnother() {
      // A group that shares its slots with another one takes longer: twice as long where all are shared.
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
        'Allow more threads or a GPU (prove-node doctor shows what this machine has), or join a run with a smaller model. ' +
        'Meanwhile this node serves adapters to other nodes, and all published files with --mirror'
      )
    },
  }
}
