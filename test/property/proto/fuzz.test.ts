import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import {
  type Codec,
  type EnvelopeKind,
  encodeFrame,
  FRAME_HEADER_BYTES,
  frameLength,
  groupAnnouncement,
  groupBody,
  groupRequest,
  LIMITS,
  leaderboard,
  leaderboardRequest,
  leaderboardResponse,
  leaseRequest,
  leaseResponse,
  openEnvelope,
  openGroupAnnouncement,
  openManifest,
  openPolicyAnnouncement,
  openVerdictDigest,
  peerIdOfKey,
  policyAnnouncement,
  policyManifest,
  reply,
  SwarmRefusal,
  sealEnvelope,
  sealGroupAnnouncement,
  sealManifest,
  sealVerdictDigest,
  sha256,
  snapshotRequest,
  snapshotResponse,
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
  flightLeaderboard,
  flightManifest,
  hash,
  id16,
  keyOf,
  leases,
  rollout,
} from '../../support/proto-samples.js'
import { change, changed, changedBy, encodeFields, fieldsOf, varintOf } from '../../support/wire-mutations.js'

interface Sample {
  readonly name: string
  readonly codec: Codec<unknown>
  readonly data: Uint8Array
}
const sample = <T>(name: string, codec: Codec<T>, value: T): Sample => ({
  name,
  codec: codec as Codec<unknown>,
  data: codec.encode(value),
})

const some = new Uint8Array([1, 2, 3])
const SAMPLES: readonly Sample[] = [
  sample('policy manifest', policyManifest, flightManifest),
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
  sample('lease renewal', leaseRequest, { kind: 'renew', leaseIds: [id16('a'), id16('b')] }),
  sample('lease return', leaseRequest, { kind: 'return', leaseIds: [id16('a')], reason: 'shutdown' }),
  sample('leave', leaseRequest, { kind: 'leave', reason: 'canary_failed', detail: 'canary 0 on cpu' }),
  sample('lease response', leaseResponse, leases),
  sample('group announcement', groupAnnouncement, announcement),
  sample('group body', groupBody, { ...body, rollouts: [rollout, rollout] }),
  sample('group fetch', groupRequest, { kind: 'fetch', bodySha256: hash('body') }),
  sample('group offer', groupRequest, { kind: 'offer', announcement: some }),
  sample('verdict digest', verdictDigest, digest),
  sample('verdict request', verdictRequest, { cursor: 4_294_967_295, max: 1 }),
  sample('verdict response', verdictResponse, { digest: some, more: true }),
  sample('leaderboard', leaderboard, flightLeaderboard),
  sample('board request', leaderboardRequest, { peerId: '12D3KooWhelper', team: 'night shift' }),
  sample('board response', leaderboardResponse, some),
  sample('snapshot request for a manifest', snapshotRequest, {
    id: 1,
    want: { kind: 'manifest', manifestId: hash('m') },
  }),
  sample('snapshot request for a chunk', snapshotRequest, {
    id: 2,
    want: { kind: 'chunk', blobSha256: hash('b'), index: 3 },
  }),
  sample('snapshot request for the newest manifest', snapshotRequest, { id: 3, want: { kind: 'newest-manifest' } }),
  sample('snapshot response', snapshotResponse, { id: 9, status: 'ok', data: some }),
  sample('good reply', reply('groupBodyBytes'), { ok: true, payload: some }),
  sample('refusing reply', reply('groupBodyBytes'), { ok: false, code: 'not_found', detail: 'no such body' }),
]

const plain = (value: unknown): string =>
  JSON.stringify(value, (_, part) => {
    const bytes = part?.type === 'Buffer' ? part.data : part instanceof Uint8Array ? [...part] : part
    return Object.is(bytes, -0) ? 'negative zero' : bytes
  })

/** Asserts that bytes are refused with a code, or parse to a value that is unchanged after encoding. */
function refusedOrStable({ codec }: Sample, data: Uint8Array): string {
  let value: unknown
  try {
    value = codec.parse(data)
  } catch (why) {
    if (why instanceof SwarmRefusal) return why.code
    throw why
  }
  assert.is(plain(codec.parse(codec.encode(value))), plain(value))
  return 'accepted'
}

for (const one of SAMPLES) {
  test(`a ${one.name} with false values in valid framing is refused, or unchanged after encoding`, () => {
    const donors = fc.constantFrom(...SAMPLES.map(({ data }) => data))
    const codes = new Set<string>()
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 3 }), donors, (changes, donor) => {
        codes.add(refusedOrStable(one, changedBy(one.data, changes, donor)))
      }),
      { seed: 601, numRuns: 600 },
    )
    assert.ok(codes.has('malformed') && codes.size >= 2, [...codes].join())
  })

  test(`a ${one.name} with changed, removed, repeated or moved bytes is refused, or unchanged after encoding`, () => {
    const at = fc.nat(one.data.length)
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(3), at, at, fc.nat(255)), { minLength: 1, maxLength: 4 }), (cuts) => {
        let data = one.data
        for (const [kind, from, to, byte] of cuts) {
          const [a, b] = from < to ? [from, to] : [to, from]
          const parts =
            kind === 0
              ? [data.slice(0, a), data.slice(b)]
              : kind === 1
                ? [data.slice(0, b), data.slice(a)]
                : kind === 2
                  ? [data.slice(0, a), Uint8Array.of(byte), data.slice(a + 1)]
                  : [data.slice(b), data.slice(0, b)]
          data = new Uint8Array(Buffer.concat(parts))
        }
        refusedOrStable(one, data)
      }),
      { seed: 607, numRuns: 300 },
    )
  })

  test(`a ${one.name} that repeats a field many times is refused before much memory is allocated`, () => {
    for (const field of fieldsOf(one.data)) {
      const unit = encodeFields([{ ...field, content: field.wire === 2 ? new Uint8Array() : field.content }])
      const flood = new Uint8Array(Buffer.alloc(one.codec.maxBytes - (one.codec.maxBytes % unit.length), unit))
      const before = process.memoryUsage().heapUsed
      const code = codeOf(() => one.codec.parse(flood))
      assert.not.equal(code, 'accepted')
      assert.ok(process.memoryUsage().heapUsed - before < 8e6, `field ${field.number}`)
    }
  })
}

test('messages nested a thousand deep are refused', () => {
  let nested = new Uint8Array()
  for (let depth = 0; depth < 1000; depth++) nested = Uint8Array.from([0x22, ...varintOf(nested.length), ...nested])
  for (const { codec } of SAMPLES)
    assert.not.equal(
      codeOf(() => codec.parse(nested)),
      'accepted',
    )
})

test('a task setting cannot reach the prototype of the settings', () => {
  for (const key of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
    const fields = fieldsOf(policyManifest.encode(flightManifest))
    const setting = encodeFields([
      { number: 1, wire: 2, content: Buffer.from(key) },
      { number: 2, wire: 2, content: Buffer.from('{"polluted":true}') },
    ])
    const code = codeOf(() => {
      const { taskSpec } = policyManifest.parse(encodeFields([...fields, { number: 8, wire: 2, content: setting }]))
      assert.is(Object.getPrototypeOf(taskSpec), Object.prototype)
    })
    assert.is(code, key === '__proto__' ? 'malformed' : 'accepted', key)
  }
  assert.is(({} as Record<string, unknown>).polluted, undefined)
})

test('parsers never return negative zero, so equal values have equal bytes', () => {
  const zero = announcement.rewards.map(() => -0)
  for (const reward of groupAnnouncement.parse(groupAnnouncement.encode({ ...announcement, rewards: zero })).rewards)
    assert.ok(Object.is(reward, 0))
  const [first, second] = body.rollouts
  const bent = {
    ...first!,
    logprobs: first!.logprobs.map(() => -0),
    reward: { total: -0, components: [{ name: 'c', value: -0 }] },
  }
  const parsed = groupBody.parse(groupBody.encode({ ...body, rollouts: [bent, second!] })).rollouts[0]!
  for (const value of [...parsed.logprobs, parsed.reward.total, parsed.reward.components[0]!.value])
    assert.ok(Object.is(value, 0))
})

test('a text with half a surrogate pair cannot be encoded, because its receiver would read another text', () => {
  for (const half of ['\ud800', 'a\udc00b', '\udfff\ud800']) {
    const call = { name: half, argumentsJson: '{}', ok: false, malformed: false, raw: '', resultJson: '' }
    assert.is(
      codeOf(() => groupBody.encode({ ...body, rollouts: [{ ...rollout, calls: [call] }, rollout] })),
      'malformed',
    )
  }
})

test('text bytes that are not UTF-8 are refused, because their text would differ from the signed bytes', () => {
  for (const bad of [[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xe2, 0x82]]) {
    const fields = fieldsOf(reply('groupBodyBytes').encode({ ok: false, code: 'not_found', detail: 'x' }))
    const bent = fields.map((field) => (field.number === 3 ? { ...field, content: Uint8Array.from(bad) } : field))
    assert.is(
      codeOf(() => reply('groupBodyBytes').parse(encodeFields(bent))),
      'malformed',
      bad.join(),
    )
  }
})

test('a frame header is accepted at the limit and refused above it or when it is too short', () => {
  for (const limit of [0, 1, 256, LIMITS.chunkBytes.value, 2 ** 31, 2 ** 32 - 1]) {
    const header = new Uint8Array(FRAME_HEADER_BYTES)
    new DataView(header.buffer).setUint32(0, limit)
    assert.is(frameLength(header, limit), limit)
    if (limit > 0)
      assert.is(
        codeOf(() => frameLength(header, limit - 1)),
        'too_large',
      )
  }
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 9 }), fc.nat(2 ** 31 - 1), (header, limit) => {
      const code = codeOf(() => assert.ok(frameLength(header, limit) <= limit))
      if (header.length < FRAME_HEADER_BYTES) assert.is(code, 'malformed')
      else assert.ok(code === 'accepted' || code === 'too_large')
    }),
    { seed: 611, numRuns: 300 },
  )
  assert.is(frameLength(encodeFrame(some).subarray(0, FRAME_HEADER_BYTES), 3), 3)
})

const coordinator = await keyOf(1)
const volunteer = await keyOf(2)
const runId = peerIdOfKey(coordinator)
const refusedOr = async (run: () => Promise<unknown>): Promise<string> => {
  try {
    await run()
    return 'accepted'
  } catch (why) {
    if (why instanceof SwarmRefusal) return why.code
    throw why
  }
}

test('a changed envelope is refused, unless its meaning is unchanged', async () => {
  const payload = verdictDigest.encode(digest)
  const expected = { kind: 'verdict-digest', runId, signer: runId } as const
  const sealed = await sealEnvelope(coordinator, 'verdictDigestBytes', { kind: 'verdict-digest', runId, payload })
  await fc.assert(
    fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 2 }), async (changes) => {
      const outer = changes.map((step) => ({ ...step, path: step.path.slice(0, 1) }))
      const data = changedBy(sealed, outer, payload)
      const code = await refusedOr(async () => {
        const opened = await openEnvelope(data, 'verdictDigestBytes', expected)
        assert.equal(Buffer.from(opened.payload), Buffer.from(payload))
        assert.is(opened.signer, runId)
      })
      if (Buffer.from(data).equals(Buffer.from(sealed))) assert.is(code, 'accepted')
    }),
    { seed: 613, numRuns: 400 },
  )
})

test('any signed payload is refused or within bounds', async () => {
  type Open = (data: Uint8Array, run: string) => Promise<unknown>
  const kinds: readonly (readonly [
    EnvelopeKind,
    'manifestBytes' | 'policyAnnouncementBytes' | 'announcementBytes' | 'verdictDigestBytes',
    Open,
  ])[] = [
    ['policy-manifest', 'manifestBytes', openManifest],
    ['policy-announcement', 'policyAnnouncementBytes', openPolicyAnnouncement],
    ['group-announcement', 'announcementBytes', openGroupAnnouncement],
    ['verdict-digest', 'verdictDigestBytes', openVerdictDigest],
  ]
  for (const [kind, limit, open] of kinds) {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...SAMPLES),
        change,
        fc.uint8Array({ maxLength: 40 }),
        async (one, step, attachment) => {
          const payload = changed(one.data, step, one.data)
          if (payload.length > 1500) return
          await refusedOr(async () =>
            open(await sealEnvelope(coordinator, limit, { kind, runId, payload, attachment }), runId),
          )
        },
      ),
      { seed: 617, numRuns: 60 },
    )
  }
})

test('a digest is valid only for the node that it names, and a signature only for its kind', async () => {
  const sealedDigest = await sealVerdictDigest(coordinator, runId, digest)
  const sealedManifest = (await sealManifest(coordinator, runId, flightManifest)).envelope
  const sealedGroup = await sealGroupAnnouncement(volunteer, runId, announcement, null)
  for (const open of [openManifest, openPolicyAnnouncement, openGroupAnnouncement, openVerdictDigest]) {
    const codes = await Promise.all(
      [sealedDigest, sealedManifest, sealedGroup].map((data) => refusedOr(() => open(data, runId))),
    )
    assert.is(codes.filter((code) => code === 'accepted').length, open === openPolicyAnnouncement ? 0 : 1)
  }
})

test('an inline body with any changed byte is refused', async () => {
  const content = new Uint8Array(2000).fill(5)
  const about = { ...announcement, bodySha256: sha256(content), bodySizeBytes: content.length }
  const sealed = await sealGroupAnnouncement(volunteer, runId, about, content)
  await fc.assert(
    fc.asyncProperty(fc.nat(content.length), fc.integer({ min: 1, max: 255 }), async (at, flip) => {
      const fields = fieldsOf(sealed)
      const bent = fields.map((field) => {
        if (field.number !== 6) return field
        const copy = Uint8Array.from(field.content)
        if (at < copy.length) copy[at]! ^= flip
        return { ...field, content: at < copy.length ? copy : copy.slice(1) }
      })
      assert.is(await refusedOr(() => openGroupAnnouncement(encodeFields(bent), runId)), 'body_mismatch')
    }),
    { seed: 619, numRuns: 40 },
  )
})

test.run()
