import type { RunConfiguration } from '../ledger/run-configuration.js'
import type { RunState } from '../ledger/run-state.js'

/**
 * Returns how many further leases the run has capacity for. Work that would be too stale before it could be used is not given
 * out (docs/reference/protocol.md, "Leases"). The result is negative when a version took fewer groups than were in progress. A lease counts
 * by the share of such leases that is delivered, and only within one duration of its grant. Otherwise keys that hold leases and
 * deliver few groups would take the capacity from keys that deliver.
 * @param exempt  leases of keys without a record that take no capacity
 */
export function capacityForLeases(
  state: RunState,
  { maxStaleness, batchGroups }: Pick<RunConfiguration, 'maxStaleness' | 'batchGroups'>,
  nowMs: number,
  exempt = 0,
): number {
  const inTraining = state.pendingBatch ? batchGroups : 0
  const unproven = state.capacityTakenBy('untried', nowMs) + state.capacityTakenBy('doubtful', nowMs) - exempt
  const underWay =
    Math.ceil(state.capacityTakenBy('proven', nowMs)) + Math.ceil(state.unprovenYield * Math.max(0, unproven))
  return (maxStaleness + 1) * batchGroups - state.trainableCount(maxStaleness) - inTraining - underWay
}
