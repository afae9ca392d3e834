import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { prove } from '../../../proto/gen/swarm.js'
import {
  groupAnnouncement,
  groupBody,
  groupRequest,
  LIMITS,
  leaseRequest,
  leaseResponse,
  policyIdOf,
  policyManifest,
  REFUSALS,
  reply,
  snapshotRequest,
  snapshotResponse,
  toHex,
  verdictDigest,
} from '../../../proto/index.js'
import { announced, canary, group, ids, lease, manifest } from '../../support/changed-samples.js'
import {
  ask,
  bodyOfAbout,
  codeOf,
  digest,
  flightManifest,
  flightPolicy,
  hash,
  id16,
  leases,
  rollout,
} from '../../support/proto-samples.js'

const L = LIMITS

const tooLong = (max: number) => new Uint8Array(max + 1)
test('every message is refused as too large one byte above its limit, before it is parsed, and accepted at the limit', () => {
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

test('a body near the size limit is encoded, and the author cannot encode a larger one', () => {
  assert.is(
    codeOf(() => groupBody.encode(bodyOfAbout(L.groupBodyBytes.value - 64 * 1024))),
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

test('two million empty rollouts in one body are refused before one of them is allocated', () => {
  const bomb = new Uint8Array(L.groupBodyBytes.value)
  for (let at = 0; at < bomb.length; at += 2) bomb[at] = 0x22
  const before = process.memoryUsage().heapUsed
  assert.is(
    codeOf(() => groupBody.parse(bomb)),
    'too_large',
  )
  assert.ok(process.memoryUsage().heapUsed - before < 4e6)
})

test('a packed list that ends within an element is refused', () => {
  // A rollout with one byte of log-probabilities, and one with a token whose last byte has the continuation bit.
  for (const rolloutBytes of [
    [0x1a, 1, 0, 0x22, 0],
    [0x0a, 1, 0x80, 0x22, 0],
  ]) {
    try {
      groupBody.parse(Uint8Array.from([0x22, rolloutBytes.length, ...rolloutBytes]))
      assert.unreachable()
    } catch (why) {
      assert.match(String(why), /ends within an element/)
    }
  }
})

const nonFinite = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
test('numbers that are not finite are refused in every float field', () => {
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

test('a fractional token is refused and not rounded', () => {
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
    codeOf(() => leaseRequest.encode({ ...ask, backend: 'a\u001b[31m' })),
    'malformed',
  )
  assert.is(
    codeOf(() => leaseResponse.encode({ ...leases, detail: 'one\ntwo' })),
    'malformed',
  )
})

test('a manifest must contain the adapter that its policy id names', () => {
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

test('a request with two questions, or none, is refused', () => {
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

test('the policy id depends on everything that affects tokens, but not on the order of target modules', () => {
  const id = policyIdOf(flightPolicy)
  const adapter = flightPolicy.adapter
  assert.ok(adapter)
  assert.is(policyIdOf({ ...flightPolicy, adapter: { ...adapter, targetModules: ['v_proj', 'q_proj'] } }), id)
  const changed = [
    { ...flightPolicy, adapter: null },
    { ...flightPolicy, adapter: { ...adapter, alpha: 32 } },
    { ...flightPolicy, toolCallFormat: 'llama' },
    { ...flightPolicy, reward: 'outcome' },
    { ...flightPolicy, cacheType: 'q8_0' },
    { ...flightPolicy, sampler: { ...flightPolicy.sampler, temperature: 0.7 } },
    { ...flightPolicy, base: { ...flightPolicy.base, quantisation: 'Q8_0' } },
    { ...flightPolicy, engine: { ...flightPolicy.engine, llamaCpp: 'v0.5.1' } },
  ].map(policyIdOf)
  assert.is(new Set([id, ...changed]).size, changed.length + 1)
})

test('every refusal has a sentence for the volunteer', () => {
  for (const [code, row] of Object.entries(REFUSALS)) assert.match(row.meaning, /^[A-Z].*\.$/, code)
})

test('hex of a view on a buffer contains only the bytes of the view', () => {
  assert.is(toHex(Uint8Array.from([0, 255, 16, 0]).subarray(1, 3)), 'ff10')
})

test.run()
