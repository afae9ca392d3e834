import type { RunConfiguration } from '../ledger/run-configuration.js'
import type { RunState } from '../ledger/run-state.js'

/**
 * Returns how many further leases the run has capacity for. Work that would be too stale before it could be used is not given
 * out (docs/protocol.md, "Leases"). The result is negative when a version took fewer groups than were in progress. Leases of
 * keys without a record count by the share of them that was delivered lately. Otherwise keys that only hold leases would take
 * the capacity from keys that deliver.
 * @param exempt  leases of such keys that take no capacity
 */
export function capacityForLeases(
  state: RunState,
  { maxStaleness, batchGroups }: Pick<RunConfiguration, 'maxStaleness' | 'batchGroups'>,
  exempt = 0,
): number {
  const inTraining = state.pendingBatch ? batchGroups : 0
  const unproven = state.openLeasesBy('untried') + state.openLeasesBy('doubtful') - exempt
  const underWay = state.openLeasesBy('proven') + Math.ceil(state.unprovenYield * unproven)
  return (maxStaleness + 1) * batchGroups - state.trainableCount(maxStaleness) - inTraining - underWay
}
