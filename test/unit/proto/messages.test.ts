import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import {
  type Codec,
  type GroupBody,
  groupAnnouncement,
  groupBody,
  groupRequest,
  leaseRequest,
  leaseResponse,
  policyAnnouncement,
  policyIdOf,
  policyManifest,
  reply,
  SNAPSHOT_STATUSES,
  snapshotRequest,
  snapshotResponse,
  toMaskRuns,
  verdictDigest,
  verdictRequest,
  verdictResponse,
} from '../../../proto/index.js'
import {
  announcement,
  ask,
  body,
  codeOf,
  digest,
  flightManifest,
  flightPolicy,
  hash,
  id16,
  leases,
} from '../../support/proto-samples.js'

interface Sample<T> {
  readonly name: string
  readonly codec: Codec<T>
  readonly value: T
}
const sample = <T>(name: string, codec: Codec<T>, value: T): Sample<unknown> =>
  ({ name, codec, value }) as Sample<unknown>

const bytes = new Uint8Array([1, 2, 3])
const SAMPLES = [
  sample('policy manifest', policyManifest, flightManifest),
  sample('policy manifest of a bare base', policyManifest, {
    ...flightManifest,
    policy: { ...flightPolicy, adapter: null },
    policyId: policyIdOf({ ...flightPolicy, adapter: null }),
    blobs: [],
  }),
  sample('policy announcement', policyAnnouncement, {
    manifestId: hash('manifest'),
    manifestSizeBytes: 5000,
    round: 3,
    version: 7,
    policyId: flightManifest.policyId,
    expiresAtMs: 1_700_000_600_000,
    capacity: 3,
    waiting: 40,
    shards: 64,
    providers: [
      { peerId: '12D3KooWhelper', addresses: ['/ip4/198.51.100.7/tcp/4001', '/dns4/prove.example/tcp/443/wss'] },
    ],
  }),
  sample('lease ask', leaseRequest, ask),
  sample('lease ask of a node that holds nothing', leaseRequest, { ...ask, holding: [] }),
  sample('lease renewal', leaseRequest, { kind: 'renew', leaseIds: [id16('a'), id16('b')] }),
  sample('lease return', leaseRequest, { kind: 'return', leaseIds: [id16('a')], reason: 'shutdown' }),
  sample('leave', leaseRequest, { kind: 'leave', reason: 'canary_failed', detail: 'canary 0 on cpu' }),
  sample('lease response', leaseResponse, leases),
  sample('empty lease response', leaseResponse, { ...leases, leases: [], renewed: [], reason: null, detail: '' }),
  sample('group announcement', groupAnnouncement, announcement),
  sample('group body', groupBody, body),
  sample('group fetch', groupRequest, { kind: 'fetch', bodySha256: hash('body') }),
  sample('group offer', groupRequest, { kind: 'offer', announcement: bytes }),
  sample('verdict digest', verdictDigest, digest),
  sample('verdict request', verdictRequest, { cursor: 4_294_967_295, max: 1 }),
  sample('verdict response', verdictResponse, { digest: bytes, more: true }),
  sample('request for the newest manifest', snapshotRequest, { id: 5, want: { kind: 'newest-manifest' } }),
  sample('request for a manifest', snapshotRequest, { id: 1, want: { kind: 'manifest', manifestId: hash('m') } }),
  sample('request for chunk 0', snapshotRequest, { id: 2, want: { kind: 'chunk', blobSha256: hash('b'), index: 0 } }),
  ...SNAPSHOT_STATUSES.map((status) =>
    sample(`snapshot response ${status}`, snapshotResponse, {
      id: 9,
      status,
      data: status === 'ok' ? bytes : new Uint8Array(),
    }),
  ),
  sample('good reply', reply('groupBodyBytes'), { ok: true, payload: bytes }),
  sample('refusing reply', reply('groupBodyBytes'), { ok: false, code: 'not_found', detail: 'no such body' }),
]

/** Converts Buffers, so that bytes compare by content. */
const comparable = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (_, part) =>
      part?.type === 'Buffer' ? part.data : part instanceof Uint8Array ? [...part] : part,
    ),
  )

for (const { name, codec, value } of SAMPLES) {
  test(`a ${name} is unchanged after encoding`, () => {
    assert.equal(comparable(codec.parse(codec.encode(value))), comparable(value))
  })

  test(`a ${name} followed by an unknown field, or given twice, is malformed`, () => {
    const data = codec.encode(value)
    const unknown = new Uint8Array([...data, 0xf8, 0x07, 0x01])
    assert.is(
      codeOf(() => codec.parse(unknown)),
      'malformed',
    )
    if (data.length > 2) {
      const code = codeOf(() => codec.parse(new Uint8Array([...data, ...data])))
      assert.not.equal(code, 'accepted')
    }
  })

  test(`a truncated or changed ${name} is refused or within bounds, and causes no other error`, () => {
    const data = codec.encode(value)
    for (let length = 0; length < Math.min(data.length, 400); length += 3)
      codeOf(() => codec.parse(data.subarray(0, length)))
    fc.assert(
      fc.property(fc.nat(data.length - 1), fc.integer({ min: 1, max: 255 }), (at, flip) => {
        const bent = Uint8Array.from(data)
        bent[at] = (bent[at] ?? 0) ^ flip
        codeOf(() => codec.parse(bent))
      }),
      { seed: 7, numRuns: 150 },
    )
  })
}

test('random bytes cause no error except SwarmRefusal in any parser', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (data) => {
      for (const { codec } of SAMPLES) codeOf(() => codec.parse(data))
    }),
    { seed: 11, numRuns: 300 },
  )
})

/** Creates well-formed protobuf with random fields, which passes more checks than random bytes. */
const field = fc.oneof(
  fc.tuple(
    fc.integer({ min: 1, max: 12 }),
    fc.constant(0),
    fc.uint8Array({ maxLength: 1 }).map(() => [1]),
  ),
  fc.tuple(fc.integer({ min: 1, max: 12 }), fc.constant(1), fc.uint8Array({ minLength: 8, maxLength: 8 })),
  fc.tuple(
    fc.integer({ min: 1, max: 12 }),
    fc.constant(2),
    fc.uint8Array({ maxLength: 100 }).map((data) => [data.length, ...data]),
  ),
)
test('random fields in valid framing cause no error except SwarmRefusal in any parser', () => {
  fc.assert(
    fc.property(fc.array(field, { maxLength: 14 }), (fields) => {
      const data = Uint8Array.from(fields.flatMap(([number, wire, value]) => [number * 8 + wire, ...value]))
      for (const { codec } of SAMPLES) codeOf(() => codec.parse(data))
    }),
    { seed: 13, numRuns: 400 },
  )
})

const rolloutOf = (bits: readonly boolean[], seed: number): GroupBody['rollouts'][number] => {
  const mask = [0 as const, ...bits.map((bit) => (bit ? 1 : 0)), 1 as const]
  return {
    tokens: mask.map((_, index) => (seed * 31 + index * 977) % 150_000),
    maskRuns: toMaskRuns(mask),
    logprobs: mask.filter((bit) => bit === 1).map((_, index) => Math.fround(-index / 7)),
    calls: [],
    reward: { total: seed / 1000, components: [] },
    stateHash: hash(`${seed}`),
    endReason: 'end_of_turn',
  }
}
test('any group of rollouts is unchanged after encoding: tokens, masks, float32 log-probabilities, rewards', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.array(fc.boolean(), { maxLength: 60 }), fc.nat(1000)), { minLength: 2, maxLength: 6 }),
      (plan) => {
        const value = { ...body, rollouts: plan.map(([bits, seed]) => rolloutOf(bits, seed)) }
        assert.equal(groupBody.parse(groupBody.encode(value)), value)
      },
    ),
    { seed: 17, numRuns: 60 },
  )
})

test('any text of a call is unchanged after encoding', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), (raw) => {
      const call = { name: 'note', argumentsJson: raw, ok: false, malformed: true, raw, resultJson: raw }
      const [first, ...rest] = body.rollouts
      assert.ok(first)
      const value = { ...body, rollouts: [{ ...first, calls: [call] }, ...rest] }
      assert.equal(groupBody.parse(groupBody.encode(value)).rollouts[0]?.calls[0], call)
    }),
    { seed: 19, numRuns: 100 },
  )
})

test.run()
