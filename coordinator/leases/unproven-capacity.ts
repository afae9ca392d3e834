import type { RunConfiguration } from '../ledger/run-configuration.js'
import { type LeaseRecord, originOf, type RunState } from '../ledger/run-state.js'

/** Leases of such keys that were given beside their part, and take none of it. @param origin  by default from anywhere */
export type Beside = (origin?: string) => number

const NONE_BESIDE: Beside = () => 0

type CapacityConfiguration = Pick<RunConfiguration, 'maxStaleness' | 'batchGroups'>

/**
 * The part of the room for leases that is there for keys without a record. Keys cost nothing, so who only holds leases could
 * otherwise use up all room for work.
 *
 * Keys that are not proven share half of the room once others deliver, and those that left their last lease lying half of that.
 * A block of addresses gets a further place only while it holds fewer than are left free: dynamic thresholds, as switches share
 * memory among ports (Choudhury and Hahne, IEEE/ACM Trans. Networking 6(2), 1998). So n blocks together hold n / (n + 1) of
 * the part, one alone half of it, and a block that has none finds a place, however many keys the others have. A place is free
 * again when its group is accepted: the key is proven then.
 */
function unprovenPart(
  state: RunState,
  { maxStaleness, batchGroups }: CapacityConfiguration,
  origin: string,
  beside: Beside,
) {
  const held = (from?: string) => ({
    untried: state.openLeasesBy('untried', from) - beside(from),
    doubtful: state.openLeasesBy('doubtful', from),
  })
  const [all, own] = [held(), held(origin)]
  const capacity = (maxStaleness + 1) * batchGroups
  const part = state.reliable.size > 0 ? capacity / 2 : capacity
  return {
    own: own.untried + own.doubtful,
    free: part - all.untried - all.doubtful,
    hasPlaceForDoubtful: own.doubtful < part / 2 - all.doubtful,
  }
}

/** Whether a key may have a further lease, as far as that depends on its record. */
export function hasPlace(
  state: RunState,
  configuration: CapacityConfiguration,
  { node, addressBlock }: Pick<LeaseRecord, 'node'> & { readonly addressBlock: string | null },
  beside = NONE_BESIDE,
): boolean {
  const kind = state.kindOf(node)
  if (kind === 'proven') return true
  const { own, free, hasPlaceForDoubtful } = unprovenPart(state, configuration, originOf(node, addressBlock), beside)
  return own < free && (kind === 'untried' || hasPlaceForDoubtful)
}

/**
 * Whether a lease may be renewed, as far as that depends on its key's record. A block that holds more than it would be given
 * now gives way when its leases lapse. One slow newcomer always may: it would never be done.
 */
export function keepsPlace(
  state: RunState,
  configuration: CapacityConfiguration & Pick<RunConfiguration, 'leases'>,
  { node, addressBlock }: LeaseRecord,
  beside = NONE_BESIDE,
): boolean {
  if (state.kindOf(node) === 'proven') return true
  const { own, free } = unprovenPart(state, configuration, originOf(node, addressBlock), beside)
  return own <= Math.max(configuration.leases.perNode, free + 1)
}
