import { type Clock, createRateLimit } from '../../swarm/index.js'
import { originOf, type RunState } from '../ledger/run-state.js'

/** More than one block of addresses may have, so that its keys leave some to newcomers of others. */
const OF_ALL = { perMinute: 3, atOnce: 6 }
const OF_BLOCK = { perMinute: 1, atOnce: 3 }
/** Open ones that are told from others: each question walks through them. */
const MOST_TOLD_APART = 64

/** First leases for newcomers that find all places of keys without a record taken. */
export interface FirstLeases {
  /** Takes one for this key, if it is a newcomer and there is one. */
  take(state: RunState, node: string, addressBlock: string | null): boolean
  /** One that was taken is this lease now. */
  note(leaseId: string): void
  /** Those that are open, of keys that have not delivered yet: they take nobody’s room. @param origin  see `originOf`; by default all */
  open(state: RunState, origin?: string): number
}

/**
 * Whoever holds leases for nothing keeps their places until they lapse, which may take long, and where there are few places it
 * takes few keys to fill them. So a few come with time, beside the room for leases: they are work that a run may turn out not to
 * need. A key gets one of these at most: it holds no lease, and has never left one lying. A coordinator that is started anew takes those
 * that are open for leases like any other.
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
      if (given.size > MOST_TOLD_APART) given.delete(oldest!)
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
