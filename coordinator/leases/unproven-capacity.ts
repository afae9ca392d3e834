import type { RunConfiguration } from '../ledger/run-configuration.js'
import { type LeaseRecord, originOf, type RunState } from '../ledger/run-state.js'

/** Counts the leases that keys without a record got in addition to their part of the capacity. @param origin  default: all */
export type ExemptLeases = (origin?: string) => number

const NO_EXEMPT_LEASES: ExemptLeases = () => 0

type CapacityConfiguration = Pick<RunConfiguration, 'maxStaleness' | 'batchGroups'>

/**
 * Returns the part of the capacity for leases that is reserved for keys without a record. Keys are free to create, so keys that only
 * hold leases could otherwise use up all capacity.
 *
 * Unproven keys share half of the capacity once others deliver. Keys that abandoned their last lease share half of that.
 * A block of addresses gets a further place only while it has fewer than are free: dynamic thresholds, as switches share
 * memory among ports (Choudhury and Hahne, IEEE/ACM Trans. Networking 6(2), 1998). So n blocks together have n / (n + 1) of
 * the part, a single block has half of it, and a block without a lease finds a place, however many keys the others have. A place
 * becomes free when its group is accepted: the key is proven then.
 */
function unprovenPart(
  state: RunState,
  { maxStaleness, batchGroups }: CapacityConfiguration,
  origin: string,
  exempt: ExemptLeases,
) {
  const held = (from?: string) => ({
    untried: state.openLeasesBy('untried', from) - exempt(from),
    doubtful: state.openLeasesBy('doubtful', from),
  })
  const [all, own] = [held(), held(origin)]
  const capacity = (maxStaleness + 1) * batchGroups
  const part = state.reliable.size > 0 ? capacity / 2 : capacity
  // New keys of a block answer for what its other keys have abandoned, unless that is forgiven.
  const owed = state.reliabilityOfBlock(origin) < 1 ? state.owedFrom(origin) : 0
  return {
    own: own.untried + own.doubtful,
    owed,
    free: part - all.untried - all.doubtful,
    hasPlaceForDoubtful: own.doubtful < part / 2 - all.doubtful,
  }
}

/** Whether the record of a key permits a further lease. */
export function hasPlace(
  state: RunState,
  configuration: CapacityConfiguration,
  { node, addressBlock }: Pick<LeaseRecord, 'node'> & { readonly addressBlock: string | null },
  exempt = NO_EXEMPT_LEASES,
): boolean {
  const kind = state.kindOf(node)
  if (kind === 'proven') return true
  const { own, owed, free, hasPlaceForDoubtful } = unprovenPart(
    state,
    configuration,
    originOf(node, addressBlock),
    exempt,
  )
  // A neighbour of keys that abandon leases still finds one place.
  const ofBlock = own === 0 ? 0 : own + owed
  return ofBlock < free && (kind === 'untried' || hasPlaceForDoubtful)
}

/**
 * Whether the record of a key permits the renewal of a lease. A block that has more leases than it would be given now loses
 * them as they lapse. A single slow newcomer may always renew, because it could never finish otherwise.
 */
export function keepsPlace(
  state: RunState,
  configuration: CapacityConfiguration & Pick<RunConfiguration, 'leases'>,
  { node, addressBlock }: LeaseRecord,
  exempt = NO_EXEMPT_LEASES,
): boolean {
  if (state.kindOf(node) === 'proven') return true
  const { own, free } = unprovenPart(state, configuration, originOf(node, addressBlock), exempt)
  return own <= Math.max(configuration.leases.perNode, free + 1)
}
