import { generateKeyPair } from '@libp2p/crypto/keys'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { prove } from '../../../proto/gen/swarm.js'
import {
  announcementOf,
  checkSuccession,
  encodeFrame,
  FRAME_HEADER_BYTES,
  frameLength,
  groupAnnouncement,
  INLINE_BODY_BYTES,
  LIMITS,
  openEnvelope,
  openGroupAnnouncement,
  openManifest,
  openPolicyAnnouncement,
  openVerdictDigest,
  peerIdOfKey,
  SwarmRefusal,
  sealEnvelope,
  sealGroupAnnouncement,
  sealManifest,
  sealPolicyAnnouncement,
  sealVerdictDigest,
  sha256,
} from '../../../proto/index.js'
import { announcement, digest, flightManifest, keyOf, leases } from '../../support/proto-samples.js'

async function codeOf(run: () => Promise<unknown>): Promise<string> {
  try {
    await run()
  } catch (why) {
    assert.instance(why, SwarmRefusal)
    return (why as SwarmRefusal).code
  }
  return 'accepted'
}

const coordinator = await keyOf(1)
const volunteer = await keyOf(2)
const runId = peerIdOfKey(coordinator)
const payload = new Uint8Array([1, 2, 3])
const limit = 'policyAnnouncementBytes'
const kind = 'policy-announcement'

test('an opened envelope returns its payload and its signer', async () => {
  const opened = await openEnvelope(await sealEnvelope(volunteer, limit, { kind, runId, payload }), limit, {
    kind,
    runId,
  })
  assert.equal([...opened.payload], [1, 2, 3])
  assert.is(opened.signer, peerIdOfKey(volunteer))
})

test('a change of any signed byte invalidates the envelope', async () => {
  const sealed = await sealEnvelope(volunteer, limit, { kind, runId, payload })
  for (let at = 0; at < sealed.length; at += 1) {
    const bent = Uint8Array.from(sealed)
    bent[at] = (bent[at] ?? 0) ^ 1
    assert.not.equal(await codeOf(() => openEnvelope(bent, limit, { kind, runId })), 'accepted', `byte ${at}`)
  }
})

test('a signature is not valid for another kind or another run', async () => {
  const sealed = await sealEnvelope(volunteer, limit, { kind, runId, payload })
  assert.is(await codeOf(() => openEnvelope(sealed, limit, { kind: 'verdict-digest', runId })), 'malformed')
  assert.is(await codeOf(() => openEnvelope(sealed, limit, { kind, runId: 'another' })), 'wrong_run')
  const wire = prove.Envelope.decode(sealed)
  const relabelled = prove.Envelope.encode({ ...wire, kind: 'verdict-digest' }).finish()
  assert.is(await codeOf(() => openEnvelope(relabelled, limit, { kind: 'verdict-digest', runId })), 'bad_signature')
  const moved = prove.Envelope.encode({ ...wire, runId: 'another' }).finish()
  assert.is(await codeOf(() => openEnvelope(moved, limit, { kind, runId: 'another' })), 'bad_signature')
})

test('moving bytes from the kind into the run id invalidates the signature', async () => {
  const sealed = await sealEnvelope(volunteer, limit, { kind, runId: `t${runId}`, payload })
  const wire = prove.Envelope.decode(sealed)
  const shifted = prove.Envelope.encode({ ...wire, runId }).finish()
  assert.is(await codeOf(() => openEnvelope(shifted, limit, { kind, runId })), 'bad_signature')
})

test('an unsigned envelope, one without a key and one with a key that is no curve point are refused', async () => {
  const wire = prove.Envelope.decode(await sealEnvelope(volunteer, limit, { kind, runId, payload }))
  const open = (change: object) =>
    codeOf(() => openEnvelope(prove.Envelope.encode({ ...wire, ...change }).finish(), limit, { kind, runId }))
  assert.is(await open({ signature: new Uint8Array() }), 'malformed')
  assert.is(await open({ publicKey: new Uint8Array() }), 'malformed')
  assert.is(await open({ signature: new Uint8Array(64) }), 'bad_signature')
  assert.is(await open({ publicKey: new Uint8Array(32).fill(2) }), 'bad_signature')
  assert.is(await open({ publicKey: coordinator.publicKey.raw }), 'bad_signature')
})

test('an envelope at the size limit is accepted, and one byte more is refused', async () => {
  const { length } = await sealEnvelope(volunteer, limit, { kind, runId, payload: new Uint8Array(1024) })
  const room = LIMITS[limit].value - length
  const full = await sealEnvelope(volunteer, limit, { kind, runId, payload: new Uint8Array(1024 + room) })
  assert.is(full.length, LIMITS[limit].value)
  await openEnvelope(full, limit, { kind, runId })
  assert.is(
    await codeOf(() => sealEnvelope(volunteer, limit, { kind, runId, payload: new Uint8Array(1025 + room) })),
    'too_large',
  )
  assert.is(await codeOf(() => openEnvelope(Uint8Array.from([...full, 0]), limit, { kind, runId })), 'too_large')
})

test('only Ed25519 keys sign', async () => {
  const other = await generateKeyPair('secp256k1')
  try {
    await sealEnvelope(other, limit, { kind, runId, payload })
    assert.unreachable()
  } catch (why) {
    assert.instance(why, TypeError)
  }
})

test('manifests, policy announcements and verdict digests are valid only if the coordinator signed them', async () => {
  const sealed = await sealManifest(coordinator, runId, flightManifest)
  assert.equal((await openManifest(sealed.envelope, runId)).manifest, flightManifest)
  assert.is((await openManifest(sealed.envelope, runId)).manifestId, sealed.manifestId)
  const forged = await sealManifest(volunteer, runId, flightManifest)
  assert.is(await codeOf(() => openManifest(forged.envelope, runId)), 'wrong_signer')

  const news = announcementOf(sealed, { capacity: 2, waiting: 3 }, leases.providers)
  assert.equal(await openPolicyAnnouncement(await sealPolicyAnnouncement(coordinator, runId, news), runId), news)
  const fakeNews = await sealPolicyAnnouncement(volunteer, runId, news)
  assert.is(await codeOf(() => openPolicyAnnouncement(fakeNews, runId)), 'wrong_signer')

  assert.equal(await openVerdictDigest(await sealVerdictDigest(coordinator, runId, digest), runId), digest)
  const fakeDigest = await sealVerdictDigest(volunteer, runId, digest)
  assert.is(await codeOf(() => openVerdictDigest(fakeDigest, runId)), 'wrong_signer')
})

test('a small body is attached and checked against the announced hash, and a larger one is left out', async () => {
  const body = new Uint8Array(INLINE_BODY_BYTES).fill(7)
  const about = { ...announcement, bodySha256: sha256(body), bodySizeBytes: body.length }
  const sealed = await sealGroupAnnouncement(volunteer, runId, about, body)
  assert.ok(sealed.length <= LIMITS.announcementBytes.value)
  const opened = await openGroupAnnouncement(sealed, runId)
  assert.equal(opened.announcement, about)
  assert.is(opened.signer, peerIdOfKey(volunteer))
  assert.is(opened.body && sha256(opened.body), about.bodySha256)

  const swapped = await sealGroupAnnouncement(volunteer, runId, about, body.slice().fill(8))
  assert.is(await codeOf(() => openGroupAnnouncement(swapped, runId)), 'body_mismatch')

  const larger = await sealGroupAnnouncement(volunteer, runId, about, new Uint8Array(INLINE_BODY_BYTES + 1))
  assert.is((await openGroupAnnouncement(larger, runId)).body, null)
  assert.ok(larger.length <= LIMITS.announcementSignedBytes.value)
})

test('padding in the signed part of an announcement is refused', async () => {
  const padded = await sealEnvelope(volunteer, 'announcementBytes', {
    kind: 'group-announcement',
    runId,
    payload: new Uint8Array(LIMITS.announcementSignedBytes.value),
  })
  assert.is(await codeOf(() => openGroupAnnouncement(padded, runId)), 'too_large')
})

test('the largest announcement fits its limit of 2 KiB', async () => {
  const rewards = Array.from({ length: LIMITS.maxGroupSize.value }, (_, index) => index / 7)
  const largest = { ...announcement, rewards, taskId: 't'.repeat(LIMITS.nameBytes.value) }
  groupAnnouncement.encode(largest)
  const sealed = await sealGroupAnnouncement(volunteer, runId, largest, null)
  assert.ok(sealed.length <= LIMITS.announcementSignedBytes.value, `${sealed.length}`)
})

test('a full digest with the longest details fits its limit', async () => {
  const detail = 'd'.repeat(LIMITS.detailBytes.value)
  const verdict = { ...digest.verdicts[0]!, accepted: false, code: 'environment_mismatch' as const, detail }
  const full = { ...digest, verdicts: new Array(LIMITS.verdictsPerDigest.value).fill(verdict) }
  assert.ok((await sealVerdictDigest(coordinator, runId, full)).length <= LIMITS.verdictDigestBytes.value)
})

test('an expired or older manifest does not take effect, and a repeated one does', () => {
  const next = { round: 7, expiresAtMs: 1000 }
  const check = (newest: number | null, nowMs: number) => codeOf(async () => checkSuccession(next, newest, nowMs))
  return Promise.all([check(null, 999), check(7, 999), check(8, 999), check(6, 1000)]).then((codes) =>
    assert.equal(codes, ['accepted', 'accepted', 'stale_manifest', 'expired']),
  )
})

test('a frame longer than allowed is refused before its content is read', async () => {
  const frame = encodeFrame(new Uint8Array(300))
  assert.is(frame.length, FRAME_HEADER_BYTES + 300)
  assert.is(frameLength(frame, 300), 300)
  assert.is(await codeOf(async () => frameLength(frame, 299)), 'too_large')
})

test.run()
