import type { RunConfiguration } from '../ledger/run-configuration.js'
import type { RunState } from '../ledger/run-state.js'

/**
 * Leases that the run has room for: work that could not be used before it is too old is not handed out (docs/protocol.md,
 * "Leases"). Negative when a version took fewer groups than were under way. Of the leases of keys without a record as many
 * count as bring something lately, or keys that only hold theirs would take the room from those that deliver.
 * @param beside  leases of such keys that take no room
 */
export function capacityForLeases(
  state: RunState,
  { maxStaleness, batchGroups }: Pick<RunConfiguration, 'maxStaleness' | 'batchGroups'>,
  beside = 0,
): number {
  const inTraining = state.pendingBatch ? batchGroups : 0
  const unproven = state.openLeasesBy('untried') + state.openLeasesBy('doubtful') - beside
  const underWay = state.openLeasesBy('proven') + Math.ceil(state.unprovenYield * unproven)
  return (maxStaleness + 1) * batchGroups - state.trainableCount(maxStaleness) - inTraining - underWay
}
