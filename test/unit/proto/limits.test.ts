import { test } from 'uvu'
import * as assert from 'uvu/assert'
import {
  type GroupBody,
  groupBody,
  LIMITS,
  leaseRequest,
  leaseResponse,
  policyIdOf,
  snapshotRequest,
  verdictDigest,
  verdictRequest,
} from '../../../proto/index.js'
import { announced, canary, group, ids, lease, manifest, times } from '../../support/changed-samples.js'
import {
  acceptedVerdict,
  ask,
  body,
  codeOf,
  digest,
  flightManifest,
  flightPolicy,
  hash,
  leases,
  rollout,
} from '../../support/proto-samples.js'

const L = LIMITS

const policy = (change: Partial<typeof flightPolicy>) => {
  const changed = { ...flightPolicy, ...change }
  return manifest({ policy: changed, policyId: policyIdOf(changed) })
}
const bodyWith = (change: Partial<GroupBody>) => () => groupBody.encode({ ...body, ...change })
const call = { name: 'note', argumentsJson: '{}', ok: true, malformed: false, raw: '', resultJson: '' }

/** [what, at the limit, beyond it, the refusal]: each pair differs by one unit. */
type Pair = readonly [string, () => unknown, () => unknown, 'too_large' | 'out_of_bounds']
const edge = (what: string, make: (n: number) => () => unknown, limit: number, code: Pair[3], step = 1): Pair => [
  what,
  make(limit),
  make(limit + step),
  code,
]

const EDGES: readonly Pair[] = [
  edge(
    'task settings',
    (n) => manifest({ taskSpec: Object.fromEntries(times(n, (i) => [`k${i}`, 'v'])) }),
    L.taskSettings.value,
    'too_large',
  ),
  edge('a task setting', (n) => manifest({ taskSpec: { k: 'v'.repeat(n) } }), L.taskSettingBytes.value, 'too_large'),
  edge(
    'closed rounds',
    (n) => manifest({ closedRounds: times(n, (round) => ({ round, secret: hash('s') })) }),
    L.closedRounds.value,
    'too_large',
  ),
  edge('canaries', (n) => manifest({ canary: times(n, () => canary) }), L.canaries.value, 'too_large'),
  edge(
    'canary tokens',
    (n) => manifest({ canary: [{ ...canary, promptTokens: times(n, () => 1) }] }),
    L.canaryTokens.value,
    'too_large',
  ),
  edge(
    'the largest group size',
    (groupSize) => manifest({ limits: { ...flightManifest.limits, groupSize } }),
    L.maxGroupSize.value,
    'out_of_bounds',
  ),
  edge(
    'the smallest group size',
    (groupSize) => manifest({ limits: { ...flightManifest.limits, groupSize } }),
    L.minGroupSize.value,
    'out_of_bounds',
    -1,
  ),
  edge(
    'tokens per turn',
    (maxTurnTokens) => manifest({ limits: { ...flightManifest.limits, maxTurnTokens } }),
    L.turnTokens.value,
    'out_of_bounds',
  ),
  edge(
    'tokens per rollout',
    (maxRolloutTokens) => manifest({ limits: { ...flightManifest.limits, maxRolloutTokens } }),
    L.rolloutTokens.value,
    'out_of_bounds',
  ),
  edge(
    'assistant turns',
    (maxAssistantTurns) => manifest({ limits: { ...flightManifest.limits, maxAssistantTurns } }),
    L.turns.value,
    'out_of_bounds',
  ),
  edge(
    'staleness',
    (maxStaleness) => manifest({ limits: { ...flightManifest.limits, maxStaleness } }),
    L.staleness.value,
    'out_of_bounds',
  ),
  edge(
    'the expiry before the creation',
    (n) => manifest({ expiresAtMs: n }),
    flightManifest.createdAtMs,
    'out_of_bounds',
    -1,
  ),
  edge('the last date', (n) => manifest({ expiresAtMs: n }), L.maxTimeMs.value, 'out_of_bounds'),
  edge(
    'a rank',
    (rank) => policy({ adapter: { ...flightPolicy.adapter!, rank } }),
    L.adapterRank.value,
    'out_of_bounds',
  ),
  edge(
    'an alpha',
    (alpha) => policy({ adapter: { ...flightPolicy.adapter!, alpha } }),
    L.adapterAlpha.value,
    'out_of_bounds',
  ),
  edge(
    'a temperature',
    (temperature) => policy({ sampler: { ...flightPolicy.sampler, temperature } }),
    L.samplerSetting.value,
    'out_of_bounds',
  ),
  edge(
    'target modules',
    (n) => policy({ adapter: { ...flightPolicy.adapter!, targetModules: times(n, (i) => `m${i}`) } }),
    L.targetModules.value,
    'too_large',
  ),
  edge('a dialect', (n) => policy({ toolCallFormat: 'd'.repeat(n) }), L.shortNameBytes.value, 'too_large'),
  edge(
    'a model name',
    (n) => policy({ base: { ...flightPolicy.base, name: 'n'.repeat(n) } }),
    L.nameBytes.value,
    'too_large',
  ),

  edge(
    'leases asked for',
    (count) => () => leaseRequest.encode({ ...ask, count }),
    L.leasesPerRequest.value,
    'out_of_bounds',
  ),
  edge('leases held', (n) => () => leaseRequest.encode({ ...ask, holding: ids(n) }), L.leasesHeld.value, 'too_large'),
  edge(
    'leases renewed',
    (n) => () => leaseRequest.encode({ kind: 'renew', leaseIds: ids(n) }),
    L.leasesHeld.value,
    'too_large',
  ),
  edge(
    'a backend',
    (n) => () => leaseRequest.encode({ ...ask, backend: 'b'.repeat(n) }),
    L.shortNameBytes.value,
    'too_large',
  ),
  edge('an agent', (n) => () => leaseRequest.encode({ ...ask, agent: 'a'.repeat(n) }), L.nameBytes.value, 'too_large'),
  edge(
    'leases granted',
    (n) => () => leaseResponse.encode({ ...leases, leases: times(n, () => lease) }),
    L.leasesPerRequest.value,
    'too_large',
  ),
  edge(
    'a task',
    (n) => () => leaseResponse.encode({ ...leases, leases: [{ ...lease, task: new Uint8Array(n) }] }),
    L.taskBytes.value,
    'too_large',
  ),
  edge(
    'a detail',
    (n) => () => leaseResponse.encode({ ...leases, detail: 'd'.repeat(n) }),
    L.detailBytes.value,
    'too_large',
  ),
  edge(
    'a retry delay',
    (retryAfterMs) => () => leaseResponse.encode({ ...leases, retryAfterMs }),
    2 ** 31 - 1,
    'out_of_bounds',
  ),

  edge('rewards', (n) => announced({ rewards: times(n, () => 1) }), L.maxGroupSize.value, 'out_of_bounds'),
  edge('few rewards', (n) => announced({ rewards: times(n, () => 1) }), L.minGroupSize.value, 'out_of_bounds', -1),
  edge('a reward', (n) => announced({ rewards: [n, 0] }), L.rewardMagnitude.value, 'out_of_bounds'),
  edge('a negative reward', (n) => announced({ rewards: [n, 0] }), -L.rewardMagnitude.value, 'out_of_bounds', -1),
  edge('a body size', (bodySizeBytes) => announced({ bodySizeBytes }), L.groupBodyBytes.value, 'out_of_bounds'),
  edge('an empty body', (bodySizeBytes) => announced({ bodySizeBytes }), 1, 'out_of_bounds', -1),
  edge('a task id', (n) => announced({ taskId: 't'.repeat(n) }), L.nameBytes.value, 'too_large'),

  edge('rollouts', (n) => bodyWith({ rollouts: times(n, () => rollout) }), L.maxGroupSize.value, 'too_large'),
  edge(
    'few rollouts',
    (n) => bodyWith({ rollouts: times(n, () => rollout) }),
    L.minGroupSize.value,
    'out_of_bounds',
    -1,
  ),
  edge('a token', (n) => group({ tokens: [n, ...rollout.tokens.slice(1)] }), L.tokenId.value, 'out_of_bounds'),
  edge('a negative token', (n) => group({ tokens: [n, ...rollout.tokens.slice(1)] }), 0, 'out_of_bounds', -1),
  edge('a likely token', (n) => group({ logprobs: [n, -1, -1] }), 0, 'out_of_bounds'),
  edge('an unlikely token', (n) => group({ logprobs: [n, -1, -1] }), L.logprobFloor.value, 'out_of_bounds', -1),
  edge(
    'tokens of a rollout',
    (n) => group({ tokens: times(n, () => 1), maskRuns: [n - 1, 1], logprobs: [0] }),
    L.rolloutTokens.value,
    'too_large',
  ),
  edge(
    'mask runs',
    (n) => group({ tokens: times(n, () => 1), maskRuns: times(n, () => 1), logprobs: times(n >> 1, () => 0) }),
    L.maskRuns.value,
    'out_of_bounds',
  ),
  edge('calls', (n) => group({ calls: times(n, () => call) }), L.callsPerRollout.value, 'too_large'),
  edge(
    'a result',
    (n) => group({ calls: [{ ...call, resultJson: 'r'.repeat(n) }] }),
    L.callTextBytes.value,
    'too_large',
  ),
  edge(
    'a result of wide characters',
    (n) => group({ calls: [{ ...call, resultJson: 'é'.repeat(n / 2) }] }),
    L.callTextBytes.value,
    'too_large',
    2,
  ),
  edge(
    'reward components',
    (n) => group({ reward: { total: 1, components: times(n, (i) => ({ name: `c${i}`, value: 1 })) } }),
    L.rewardComponents.value,
    'too_large',
  ),

  edge(
    'verdicts',
    (n) => () => verdictDigest.encode({ ...digest, verdicts: times(n, () => acceptedVerdict) }),
    L.verdictsPerDigest.value,
    'too_large',
  ),
  edge(
    'verdicts asked for',
    (max) => () => verdictRequest.encode({ cursor: 0, max }),
    L.verdictsPerDigest.value,
    'out_of_bounds',
  ),
  edge(
    'a chunk index',
    (index) => () => snapshotRequest.encode({ id: 1, want: { kind: 'chunk', blobSha256: hash('b'), index } }),
    16 * 1024 - 1,
    'out_of_bounds',
  ),
]

for (const [what, at, beyond, code] of EDGES) {
  test(`${what} is accepted at the limit and refused above it`, () => {
    assert.is(codeOf(at), 'accepted')
    assert.is(codeOf(beyond), code)
  })
}

test.run()
