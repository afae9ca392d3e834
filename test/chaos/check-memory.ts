import type { RunState } from '../../coordinator/ledger/run-state.js'
import type { Violation } from './check-log.js'

/** Names of everything that a coordinator knows of its run. */
function known(state: RunState): Set<string> {
  const verdicts = [...state.nodes].flatMap(([node, record]) =>
    record.verdicts.map((_, i) => `verdict ${i} on ${node}`),
  )
  return new Set([
    ...state.termsHistory.map((_, i) => `terms ${i}`),
    ...state.rounds.map(({ round }) => `round ${round}`),
    ...[...state.registered.keys()].map((node) => `key ${node}`),
    ...[...state.leases.keys()].map((leaseId) => `lease ${leaseId}`),
    ...verdicts,
    ...[...state.quarantinedWorlds].map((server) => `quarantine of ${server}`),
    ...[...state.batches.keys()].map((batchId) => `batch ${batchId}`),
    ...[...state.lostBodies].map((leaseId) => `loss of ${leaseId}`),
    ...[...state.trained.keys(), ...state.refusedBatches.keys()].map((batchId) => `outcome of ${batchId}`),
  ])
}

/**
 * What a coordinator knew when it ended must be in its log: what it did on the strength of an event that never reached the
 * disk is unknown to its next life.
 * @param before  as the process that ended had it in memory
 * @param after   as the next one has read it from the log
 */
export function checkMemory(before: RunState, after: RunState): Violation[] {
  const read = known(after)
  return [...known(before)]
    .filter((name) => !read.has(name))
    .map((detail): Violation => ({ rule: 'known and not on disk', at: null, detail }))
}
