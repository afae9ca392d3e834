import type { EventOf, RunEvent } from '../../coordinator/ledger/events.js'
import type { RunConfiguration } from '../../coordinator/ledger/run-configuration.js'
import { RunReducer } from '../../coordinator/ledger/run-reducer.js'
import type { LogitErrorSums } from '../../rollout/verification/logit-error-sums.js'

export type { EventOf } from '../../coordinator/ledger/events.js'

/** Returns 32 bytes in hexadecimal that repeat one digit. */
export const hex = (digit: number): string => digit.toString(16).repeat(64)

/** Run configuration of small test runs. */
export const CONFIGURATION: RunConfiguration = {
  base: { name: 'village-model', ggufSha256: hex(7), quantisation: 'f16', chatTemplateSha256: hex(8) },
  dataset: { sha256: hex(0), tasks: 3 },
  environments: { library: hex(9) },
  toolCallFormat: 'hermes',
  draw: 'gumbel-murmur3',
  reward: 'paper',
  groupSize: 2,
  limits: { maxTurnTokens: 96, maxRolloutTokens: 1024, maxAssistantTurns: 10, maxCalls: 24 },
  maxStaleness: 1,
  batchGroups: 2,
  versions: 100,
  leases: { durationMs: 60_000, perNode: 2 },
  audit: { calibrations: {}, probation: 20, leastShare: 0.1 },
  canaryTolerance: { mean: 0.02, max: 0.3 },
  influence: { perKey: 1, perAddressBlock: 1 },
  training: {},
}

export const agreed = (
  change: Partial<RunConfiguration> = {},
  changes: EventOf<'configured'>['changes'] = [],
): EventOf<'configured'> => ({
  type: 'configured',
  atMs: 0,
  configuration: { ...CONFIGURATION, ...change },
  changes,
})

/** Returns the state of a run with a run configuration and no other event. */
export function begun(change: Partial<RunConfiguration> = {}): RunReducer {
  const state = new RunReducer()
  state.apply(agreed(change))
  return state
}

/** Events as a coordinator writes them, for tests of the state that a log leads to. Rounds equal versions unless stated. */
export const published = (version: number, change: Partial<EventOf<'published'>> = {}): EventOf<'published'> => ({
  type: 'published',
  atMs: version,
  round: version,
  version,
  step: version,
  adapterStep: version,
  policyId: hex(1),
  manifestId: hex(2),
  adapterSha256: hex(3),
  roundSecret: hex(4),
  skippedTasks: '',
  ...change,
})

export const reopened = (round: number, version: number): EventOf<'reopened'> => ({
  type: 'reopened',
  atMs: version,
  round,
  version,
  policyId: hex(1),
  manifestId: hex(2),
  roundSecret: hex(4),
  skippedTasks: '',
})

export const leased = (
  leaseId: string,
  node: string,
  version: number,
  change: Partial<EventOf<'leased'>> = {},
): EventOf<'leased'> => ({
  type: 'leased',
  atMs: 0,
  leaseId,
  round: version,
  index: 0,
  node,
  version,
  taskIndex: 0,
  seed: hex(5),
  deadlineMs: 1000,
  backend: 'cpu',
  ...change,
})

export const released = (leaseId: string): EventOf<'released'> => ({
  type: 'released',
  atMs: 0,
  leaseId,
  reason: 'shutdown',
})

export const judged = (
  leaseId: string,
  node: string,
  version: number,
  change: Partial<EventOf<'judged'>> = {},
): EventOf<'judged'> => ({
  type: 'judged',
  atMs: 0,
  leaseId,
  node,
  version,
  bodySha256: hex(6),
  accepted: true,
  code: null,
  detail: '',
  credit: 1,
  rewards: [0, 1.3],
  zeroVariance: false,
  audit: 'none',
  logitErrors: null,
  addressBlock: null,
  completions: [],
  logprobs: [],
  sketches: [],
  sampledTokens: 100,
  calls: 2,
  solved: 1,
  ...change,
})

/** Returns a lease and the verdict on its group. */
export const done = (
  leaseId: string,
  node: string,
  version: number,
  change: Partial<EventOf<'judged'>> = {},
  taskIndex = 0,
): RunEvent[] => [leased(leaseId, node, version, { taskIndex }), judged(leaseId, node, version, change)]

export const audited = (
  leaseId: string,
  node: string,
  code: EventOf<'audited'>['code'],
  atMs = 0,
): EventOf<'audited'> => ({
  type: 'audited',
  atMs,
  leaseId,
  node,
  accepted: code === null,
  code,
  detail: '',
  logitErrors: null,
})

/** Findings of the training forward pass on the pending batch: passing groups of these keys, with the sums that each adds. */
export const batchAudited = (
  batchId: string,
  groups: readonly (readonly [leaseId: string, node: string, repairs: LogitErrorSums])[],
): EventOf<'batch-audited'> => ({
  type: 'batch-audited',
  atMs: 0,
  batchId,
  groups: groups.map(([leaseId, node, logitErrors]) => ({ leaseId, node, logitErrors })),
})

export const batched = (batchId: string, step: number, leaseIds: readonly string[]): EventOf<'batched'> => ({
  type: 'batched',
  atMs: 0,
  batchId,
  step,
  leaseIds,
})

export const trained = (batchId: string, step: number): EventOf<'trained'> => ({
  type: 'trained',
  atMs: 0,
  batchId,
  step,
  skipped: false,
})

export const bodyLost = (leaseId: string): EventOf<'body-lost'> => ({
  type: 'body-lost',
  atMs: 0,
  leaseId,
  bodySha256: hex(6),
  detail: 'nobody has it',
})

export const batchRefused = (batchId: string): EventOf<'batch-refused'> => ({
  type: 'batch-refused',
  atMs: 0,
  batchId,
  code: 'bad_batch',
  detail: 'a gradient was not finite',
})

export const scored = (version: number): EventOf<'scored'> => ({
  ...{ type: 'scored', atMs: 0, version, adapterSha256: hex(3), tasks: 100, tooLong: 2 },
  reward: { mean: 0.25 + version / 35, stderr: 0.02 },
  solved: { mean: Math.min(1, version / 40), stderr: 0.01 },
  ...{ calls: 2.4 + version / 50, callsDue: 2.75 },
})

/** Author and time of an operator's order. */
export const ORDERED = { atMs: 0, by: { who: 'operator', via: 'a test' }, reason: null } as const

/** Generates any order at any time: the reducer accepts events that a coordinator would not have recorded, too. */
export const anyOrder = (pick: number, node: string): RunEvent => {
  const given = { ...ORDERED, atMs: pick }
  const orders: readonly RunEvent[] = [
    { type: 'paused', ...given, reason: 'a look at the rewards' },
    { type: 'resumed', ...given },
    { type: 'banned', ...given, node },
    { type: 'unbanned', ...given, node },
    { type: 'task-dropped', ...given, taskIndex: pick % 3, taskId: `task-${pick % 3}` },
    { type: 'environment-disabled', ...given, environment: `world ${pick % 2}` },
    { type: 'environment-enabled', ...given, environment: `world ${pick % 2}` },
    { type: 'announced', ...given, message: pick % 2 === 0 ? 'we move on Monday' : '', addresses: [] },
  ]
  return orders[pick % orders.length]!
}
