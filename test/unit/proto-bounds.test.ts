import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { prove } from '../../proto/gen/swarm.js'
import {
  type GroupBody,
  groupAnnouncement,
  groupBody,
  groupRequest,
  LIMITS,
  leaseRequest,
  leaseResponse,
  type PolicyManifest,
  policyIdOf,
  policyManifest,
  REFUSALS,
  type RecordedRollout,
  reply,
  SwarmRefusal,
  snapshotRequest,
  snapshotResponse,
  toHex,
  verdictDigest,
  verdictRequest,
} from '../../proto/index.js'
import {
  acceptedVerdict,
  announcement,
  ask,
  body,
  bodyOfAbout,
  digest,
  flightManifest,
  flightPolicy,
  hash,
  id16,
  leases,
  rollout,
} from './proto-samples.js'

function codeOf(run: () => unknown): string {
  try {
    run()
  } catch (why) {
    assert.instance(why, SwarmRefusal)
    return (why as SwarmRefusal).code
  }
  return 'accepted'
}

const L = LIMITS
const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i))
const ids = (count: number) => times(count, (index) => id16(`${index}`))

const [lease] = leases.leases
const [canary] = flightManifest.canary
const [draw] = canary?.draws ?? []
if (!lease || !canary || !draw) throw new Error('the samples lack a lease or a canary')

const manifest = (change: Partial<PolicyManifest>) => () => policyManifest.encode({ ...flightManifest, ...change })
const policy = (change: Partial<typeof flightPolicy>) => {
  const changed = { ...flightPolicy, ...change }
  return manifest({ policy: changed, policyId: policyIdOf(changed) })
}
const group = (change: Partial<RecordedRollout>) => () =>
  groupBody.encode({ ...body, rollouts: [{ ...rollout, ...change }, rollout] })
const bodyWith = (change: Partial<GroupBody>) => () => groupBody.encode({ ...body, ...change })
const call = { name: 'note', argumentsJson: '{}', ok: true, malformed: false, raw: '', resultJson: '' }
const announced = (change: Partial<typeof announcement>) => () =>
  groupAnnouncement.encode({ ...announcement, ...change })

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
    'canary draws',
    (n) => manifest({ canary: [{ ...canary, draws: times(n, () => draw) }] }),
    L.canaryDraws.value,
    'too_large',
  ),
  edge(
    'canary tokens',
    (n) => manifest({ canary: [{ ...canary, promptTokens: times(n, () => 1) }] }),
    L.canaryTokens.value,
    'too_large',
  ),
  edge(
    'a canary seed',
    (seed) => manifest({ canary: [{ ...canary, draws: [{ seed, firstTokens: [1] }] }] }),
    2 ** 32 - 2,
    'out_of_bounds',
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
    'target modules',
    (n) => policy({ adapter: { ...flightPolicy.adapter!, targetModules: times(n, (i) => `m${i}`) } }),
    L.targetModules.value,
    'too_large',
  ),
  edge('a dialect', (n) => policy({ dialect: 'd'.repeat(n) }), L.shortNameBytes.value, 'too_large'),
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
    'a team',
    (n) => () => leaseRequest.encode({ ...ask, team: 't'.repeat(n) }),
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
  test(`${what} may be at the limit and not one beyond it`, () => {
    assert.is(codeOf(at), 'accepted')
    assert.is(codeOf(beyond), code)
  })
}

const tooLong = (max: number) => new Uint8Array(max + 1)
test('every message is measured before it is looked at: one byte too many is too large, at the limit it is not', () => {
  for (const codec of [
    policyManifest,
    leaseRequest,
    leaseResponse,
    groupAnnouncement,
    groupBody,
    verdictDigest,
    snapshotRequest,
  ]) {
    assert.is(
      codeOf(() => codec.parse(tooLong(codec.maxBytes))),
      'too_large',
    )
    assert.is(
      codeOf(() => codec.parse(new Uint8Array(codec.maxBytes))),
      'malformed',
    )
  }
})

test('a reply may be larger than its payload by its own header only', () => {
  const codec = reply('groupBodyBytes')
  assert.is(codec.maxBytes, L.groupBodyBytes.value + L.replyOverheadBytes.value)
  assert.ok(codec.parse(codec.encode({ ok: true, payload: new Uint8Array(L.groupBodyBytes.value) })).ok)
})

test('a body of almost 1 MiB passes and one of more does not leave its author', () => {
  assert.is(
    codeOf(() => groupBody.encode(bodyOfAbout(L.groupBodyBytes.value - 4096))),
    'accepted',
  )
  assert.is(
    codeOf(() => groupBody.encode(bodyOfAbout(L.groupBodyBytes.value + 300_000))),
    'too_large',
  )
})

test('a full chunk fits a snapshot response', () => {
  const data = new Uint8Array(L.chunkBytes.value)
  assert.is(
    codeOf(() => snapshotResponse.encode({ id: 2 ** 32 - 1, status: 'ok', data })),
    'accepted',
  )
})

test('half a million empty rollouts in 1 MiB are refused before one of them is allocated', () => {
  const bomb = new Uint8Array(L.groupBodyBytes.value)
  for (let at = 0; at < bomb.length; at += 2) bomb[at] = 0x22
  const before = process.memoryUsage().heapUsed
  assert.is(
    codeOf(() => groupBody.parse(bomb)),
    'too_large',
  )
  assert.ok(process.memoryUsage().heapUsed - before < 4e6)
})

test('a packed list that ends within an element cannot smuggle fields past the shape check', () => {
  // Field 3 of a rollout (log-probabilities) with one byte instead of four.
  const data = prove.GroupBody.encode({ rollouts: [{ tokens: [1] }] }).finish()
  const bad = Uint8Array.from([0x22, 3, 0x1a, 1, 0, ...data])
  assert.is(
    codeOf(() => groupBody.parse(bad)),
    'malformed',
  )
})

const nonFinite = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
test('numbers that are not finite are refused wherever a float travels', () => {
  for (const bad of nonFinite) {
    assert.is(codeOf(announced({ rewards: [bad, 0] })), 'out_of_bounds')
    assert.is(codeOf(group({ logprobs: [bad, -1, -1] })), 'out_of_bounds')
    assert.is(codeOf(group({ reward: { total: bad, components: [] } })), 'out_of_bounds')
    assert.is(codeOf(group({ reward: { total: 1, components: [{ name: 'arg', value: bad }] } })), 'out_of_bounds')
    assert.is(codeOf(manifest({ canary: [{ ...canary, policyLogprobs: [bad, 0] }] })), 'out_of_bounds')
    assert.is(codeOf(manifest({ createdAtMs: bad })), 'out_of_bounds')
    assert.is(
      codeOf(() => leaseResponse.encode({ ...leases, leases: [{ ...lease, deadlineMs: bad }] })),
      'out_of_bounds',
    )
    assert.is(
      codeOf(() => verdictDigest.encode({ ...digest, totalCredit: bad })),
      'out_of_bounds',
    )
  }
})

test('masks and log-probabilities must cover the tokens exactly', () => {
  assert.is(codeOf(group({ maskRuns: [3, 2, 3, 2] })), 'malformed')
  assert.is(codeOf(group({ maskRuns: [3, 2, 4, 0] })), 'out_of_bounds')
  assert.is(codeOf(group({ maskRuns: [9] })), 'out_of_bounds')
  assert.is(codeOf(group({ logprobs: [-1, -1] })), 'malformed')
  assert.is(codeOf(group({ logprobs: [-1, -1, -1, -1] })), 'malformed')
})

test('a fractional token is refused and not cut to another one', () => {
  assert.is(codeOf(group({ tokens: [1.5, ...rollout.tokens.slice(1)] })), 'out_of_bounds')
})

test('ids of another length, repeated ids and labels with control characters are malformed', () => {
  assert.is(codeOf(announced({ nonce: 'ab' })), 'malformed')
  assert.is(codeOf(announced({ taskId: 'two words' })), 'malformed')
  assert.is(codeOf(announced({ taskId: '' })), 'malformed')
  assert.is(
    codeOf(() => leaseRequest.encode({ ...ask, holding: [id16('a'), id16('a')] })),
    'malformed',
  )
  assert.is(
    codeOf(() => leaseRequest.encode({ ...ask, team: 'a\u001b[31m' })),
    'malformed',
  )
  assert.is(
    codeOf(() => leaseResponse.encode({ ...leases, detail: 'one\ntwo' })),
    'malformed',
  )
})

test('a manifest must carry the very adapter that its policy id vouches for', () => {
  const [blob] = flightManifest.blobs
  assert.ok(blob)
  assert.is(codeOf(manifest({ blobs: [] })), 'malformed')
  assert.is(codeOf(manifest({ blobs: [{ ...blob, sha256: hash('another') }] })), 'malformed')
  assert.is(codeOf(manifest({ blobs: [{ ...blob, chunkSha256s: [hash('chunk 0')] }] })), 'malformed')
  assert.is(codeOf(manifest({ blobs: [blob, { ...blob, role: 'base' }] })), 'malformed')
  assert.is(codeOf(manifest({ blobs: [blob, blob] })), 'malformed')
  assert.is(codeOf(manifest({ policyId: hash('another') })), 'policy_id_mismatch')
})

test('an accepted verdict has no code and a refused one has a known one', () => {
  const verdict = { leaseId: new Uint8Array(16), bodySha256: new Uint8Array(32), accepted: true, code: 'duplicate' }
  const one = (change: object) =>
    prove.VerdictDigest.encode({ peerId: 'p', verdicts: [{ ...verdict, ...change }] }).finish()
  assert.is(
    codeOf(() => verdictDigest.parse(one({}))),
    'malformed',
  )
  assert.is(
    codeOf(() => verdictDigest.parse(one({ accepted: false, code: '' }))),
    'malformed',
  )
  assert.is(
    codeOf(() => verdictDigest.parse(one({ accepted: false, code: 'because' }))),
    'malformed',
  )
  assert.is(
    codeOf(() => verdictDigest.parse(one({ accepted: false }))),
    'accepted',
  )
})

test('a request that wants two things, or nothing, is refused', () => {
  const both = [...leaseRequest.encode(ask), ...leaseRequest.encode({ kind: 'renew', leaseIds: ids(1) })]
  const manifestOf = snapshotRequest.encode({ id: 5, want: { kind: 'manifest', manifestId: hash('m') } })
  const newest = prove.SnapshotRequest.encode({ newestManifest: true }).finish()
  const refused = [
    () => leaseRequest.parse(new Uint8Array()),
    () => leaseRequest.parse(Uint8Array.from(both)),
    () => snapshotRequest.parse(manifestOf.subarray(0, 2)),
    () => snapshotRequest.parse(Uint8Array.from([...manifestOf, ...newest])),
    () => groupRequest.parse(new Uint8Array()),
  ].map(codeOf)
  assert.equal(refused, ['malformed', 'malformed', 'malformed', 'malformed', 'malformed'])
  assert.is(
    codeOf(() => snapshotRequest.parse(newest)),
    'out_of_bounds',
  )
})

test('the policy id changes with everything that changes tokens, and not with the order of target modules', () => {
  const id = policyIdOf(flightPolicy)
  const adapter = flightPolicy.adapter
  assert.ok(adapter)
  assert.is(policyIdOf({ ...flightPolicy, adapter: { ...adapter, targetModules: ['v_proj', 'q_proj'] } }), id)
  const changed = [
    { ...flightPolicy, adapter: null },
    { ...flightPolicy, adapter: { ...adapter, alpha: 32 } },
    { ...flightPolicy, dialect: 'hermes' },
    { ...flightPolicy, sampler: { ...flightPolicy.sampler, temperature: 0.7 } },
    { ...flightPolicy, base: { ...flightPolicy.base, quantisation: 'Q8_0' } },
    { ...flightPolicy, engine: { ...flightPolicy.engine, llamaCpp: 'v0.5.1' } },
  ].map(policyIdOf)
  assert.is(new Set([id, ...changed]).size, changed.length + 1)
})

test('every refusal has a sentence for the volunteer', () => {
  for (const [code, row] of Object.entries(REFUSALS)) assert.match(row.meaning, /^[A-Z].*\.$/, code)
})

test('hex of bytes in the middle of a buffer is that of the bytes alone', () => {
  assert.is(toHex(Uint8Array.from([0, 255, 16, 0]).subarray(1, 3)), 'ff10')
})

test.run()
