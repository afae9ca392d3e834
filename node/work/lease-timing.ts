import type { Clock } from '../../swarm/index.js'

/** Compares the speed of a machine with the duration of leases. */
export interface LeaseTiming {
  /** Whether another group, begun now, would be ready in time next to those in progress. */
  readonly hasTimeForAnother: boolean
  /** @param leaseMs  from now to the lease's deadline */
  leased(leaseMs: number): void
  delivered(ms: number): void
  /**
   * Counts a lease that ended before its group was ready. Leases that were held at the same time count once, because one cause may end all
   * of them. A lease that ended while the machine slept does not count.
   * @returns a text for the owner when this machine is too slow for the run, else null
   */
  lost(lease: LostLease): string | null
}

export interface LostLease {
  /** Time of the work on it. */
  readonly ms: number
  /** Whether the machine, or this process, did not run for a part of it. */
  readonly hasSlept: boolean
}

/** Times in a row at which leases end before their groups are ready. A single time may be chance, such as a lost connection. */
const MOST_LOST = 2

export function createLeaseTiming(clock: Pick<Clock, 'elapsedMs'>): LeaseTiming {
  let leaseMs = 0
  let groupMs: number | null = null
  let lost = 0
  let lostAtMs = Number.NEGATIVE_INFINITY
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
    lost({ ms, hasSlept }) {
      const wasHeldWithLast = clock.elapsedMs() - ms < lostAtMs
      if (hasSlept || wasHeldWithLast) return null
      lostAtMs = clock.elapsedMs()
      lost += 1
      if (lost < MOST_LOST) return null
      return (
        `this machine is too slow for the run: groups were not ready ${lost} times in a row after ${Math.round(ms / 60_000)} minutes, when their leases ended. ` +
        'Allow more threads or a GPU (prove-node doctor shows what this machine has), or join a run with a smaller model. ' +
        'Meanwhile this node serves adapters to other nodes, and all published files with --mirror'
      )
    },
  }
}
