import { type Clock, createRateLimit } from '../../swarm/index.js'
import { originOf, type RunState } from '../ledger/run-state.js'

/** More than one block of addresses may have, so that the keys of a block leave some for newcomers from others. */
const OF_ALL = { perMinute: 3, atOnce: 6 }
const OF_BLOCK = { perMinute: 1, atOnce: 3 }
/** Open first leases that are distinguished from other leases. Each request iterates over all of them. */
const MOST_REMEMBERED = 64

/** First leases for newcomers that find all places for keys without a record occupied. */
export interface FirstLeases {
  /** Takes a first lease for this key. @returns  false if the key is no newcomer, or the rate limit is reached */
  take(state: RunState, node: string, addressBlock: string | null): boolean
  /** Notes the id of a first lease that was taken. */
  note(leaseId: string): void
  /** Counts the open first leases of keys that have not delivered yet. @param origin  see `originOf`; by default all */
  open(state: RunState, origin?: string): number
}

/**
 * Creates the limit of first leases. Keys that have leases without working occupy their places until the leases lapse. Where there
 * are few places, few keys suffice to occupy all of them. So the coordinator gives a few first leases per minute in addition to the
 * capacity for leases. The run may turn out not to need the work of these leases. A key gets at most one of them: it has no open
 * lease, and has never abandoned one. After a restart, the coordinator counts the open first leases like all others.
 */
export function createFirstLeases(clock: Pick<Clock, 'elapsedMs'>): FirstLeases {
  const all = createRateLimit(clock, OF_ALL.perMinute, OF_ALL.atOnce)
  const ofOrigin = createRateLimit(clock, OF_BLOCK.perMinute, OF_BLOCK.atOnce)
  const given = new Set<string>()
  return {
    take(state, node, addressBlock) {
      if (state.kindOf(node) !== 'untried' || state.openLeasesOf(node).size > 0) return false
      return all.has('all') && ofOrigin.allow(originOf(node, addressBlock)) && all.allow('all')
    },
    note(leaseId) {
      given.add(leaseId)
      const [oldest] = given
      if (given.size > MOST_REMEMBERED) given.delete(oldest!)
    },
    open(state, origin) {
      let count = 0
      for (const leaseId of given) {
        const lease = state.openLeases.get(leaseId)
        if (!lease || state.kindOf(lease.node) === 'proven') given.delete(leaseId)
        else if (origin === undefined || originOf(lease.node, lease.addressBlock) === origin) count += 1
      }
      return count
    },
  }
}
