import type { RunState } from '../../coordinator/ledger/run-state.js'
import { LIMITS } from '../../proto/index.js'
import type { Violation } from './check-log.js'

/** Names of everything that a coordinator knows of its run, but for what one at `version` has forgotten. */
function known(state: RunState, version: number): Set<string> {
  const oldest = version - LIMITS.staleness.value
  const verdicts = [...state.nodes].flatMap(([node, { verdictCount }]) =>
    Array.from({ length: verdictCount }, (_, i) => `verdict ${i} on ${node}`),
  )
  const batches = [...state.batches.values()].filter(({ step }) => step >= oldest).map(({ batchId }) => batchId)
  return new Set([
    ...state.configurationHistory.map((_, i) => `terms ${i}`),
    ...state.rounds.filter((round) => round.version >= oldest).map(({ round }) => `round ${round}`),
    ...[...state.registered.keys()].map((node) => `key ${node}`),
    ...[...state.leases.values()].filter((lease) => lease.version >= oldest).map(({ leaseId }) => `lease ${leaseId}`),
    ...verdicts,
    ...[...state.quarantinedEnvironments].map((environment) => `quarantine of ${environment}`),
    ...batches.map((batchId) => `batch ${batchId}`),
    ...[...state.lostBodies]
      .filter((leaseId) => state.leases.get(leaseId)!.version >= oldest)
      .map((leaseId) => `loss of ${leaseId}`),
    ...batches
      .filter((batchId) => state.trained.has(batchId) || state.refusedBatches.has(batchId))
      .map((batchId) => `outcome of ${batchId}`),
  ])
}

/**
 * What a coordinator knew when it ended must be in its log: what it did on the strength of an event that never reached the
 * disk is unknown to its next life.
 * @param before  as the process that ended had it in memory
 * @param after   as the next one has read it from the log
 */
export function checkMemory(before: RunState, after: RunState): Violation[] {
  const version = after.current?.version ?? 0
  const read = known(after, version)
  return [...known(before, version)]
    .filter((name) => !read.has(name))
    .map((detail): Violation => ({ rule: 'known and not on disk', at: null, detail }))
}
