import type { RunState } from '../ledger/run-state.js'
import type { RunTerms } from '../ledger/terms.js'

/**
 * Leases that the run has room for: work that could not be used before it is too old is not handed out (docs/protocol.md,
 * "Leases"). Negative when a version took fewer groups than were under way.
 */
export function roomForLeases(
  state: RunState,
  { maxStaleness, batchGroups }: Pick<RunTerms, 'maxStaleness' | 'batchGroups'>,
): number {
  const inTraining = state.pendingBatch ? batchGroups : 0
  return (maxStaleness + 1) * batchGroups - state.trainableCount(maxStaleness) - inTraining - state.openLeases.size
}
