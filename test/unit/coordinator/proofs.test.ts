import { mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { generateKeyPair } from '@libp2p/crypto/keys'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { listProofs, openProof, openProofStore, ProofError } from '../../../coordinator/intake/proofs.js'
import { type GroupAnnouncement, peerIdOfKey, sealGroupAnnouncement, sha256 } from '../../../proto/index.js'
import { hex } from '../../support/run-events.js'

const test = suite<{ folder: string }>('proofs of lies')
test.before.each(async (context) => {
  context.folder = await mkdtemp(join(tmpdir(), 'prove-proofs-'))
})
test.after.each(({ folder }) => rm(folder, { recursive: true, force: true }))

const key = await generateKeyPair('Ed25519')
const run = peerIdOfKey(await generateKeyPair('Ed25519'))
const body = new TextEncoder().encode('tokens that nobody sampled')
const idOf = (i: number): string => i.toString(16).padStart(32, '0')
const announcementOf = (leaseId: string): GroupAnnouncement => ({
  leaseId,
  taskId: 'lend-emma',
  policyId: hex(1),
  rewards: [0, 1.3],
  bodySha256: sha256(body),
  bodySizeBytes: body.length,
  nonce: 'ab'.repeat(16),
  tokensGenerated: 40,
})
const sealedFor = (leaseId: string, inline: Uint8Array | null = null) =>
  sealGroupAnnouncement(key, run, announcementOf(leaseId), inline)
const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'held',
    (why: unknown) => (why instanceof ProofError ? why.code : String(why)),
  )

test('a proof is the announcement as it was signed and the body, readable by their owner only', async ({ folder }) => {
  const evidence = join(folder, 'evidence')
  const store = await openProofStore(evidence)
  const sealed = await sealedFor(idOf(1))
  await store.keep(idOf(1), sealed, body)
  const { node, announcement, ...proof } = await openProof(evidence, idOf(1), run)
  assert.is(node, peerIdOfKey(key))
  assert.equal(announcement, announcementOf(idOf(1)))
  assert.is(sha256(proof.sealed), sha256(sealed))
  assert.is(sha256(proof.body!), sha256(body))
  assert.is((await stat(evidence)).mode & 0o777, 0o700)
  for (const name of await readdir(evidence)) assert.is((await stat(join(evidence, name))).mode & 0o777, 0o600, name)
  const [kept] = await listProofs(evidence)
  assert.equal([kept!.leaseId, kept!.announcementBytes, kept!.bodyBytes], [idOf(1), sealed.length, body.length])
})

test('a body that did not come, or came along with the announcement, is no fault of the proof', async ({ folder }) => {
  const store = await openProofStore(folder)
  await store.keep(idOf(1), await sealedFor(idOf(1)), null)
  await store.keep(idOf(2), await sealedFor(idOf(2), body), body)
  assert.is((await openProof(folder, idOf(1), run)).body, null)
  assert.is(sha256((await openProof(folder, idOf(2), run)).body!), sha256(body))
})

test('the oldest of too many proofs are removed, also after a restart, and a new one never for an older', async ({
  folder,
}) => {
  const one = (await sealedFor(idOf(1))).length + body.length
  const open = (proofs: number, bytes: number) => openProofStore(folder, { proofs, bytes })
  const store = await open(3, 1e6)
  for (let i = 1; i <= 4; i++) await store.keep(idOf(i), await sealedFor(idOf(i)), body)
  const leases = async () => (await listProofs(folder)).map(({ leaseId }) => leaseId).sort()
  assert.equal(await leases(), [2, 3, 4].map(idOf))
  // The clock of the file system may be too coarse to tell which came first.
  for (const [age, i] of [4, 3, 2].entries()) await utimes(join(folder, `${idOf(i)}.announcement`), 9 - age, 9 - age)
  const narrower = await open(3, 2 * one + 10)
  await narrower.keep(idOf(5), await sealedFor(idOf(5)), body)
  assert.equal(await leases(), [4, 5].map(idOf))
  const narrowest = await open(3, 10)
  await narrowest.keep(idOf(6), await sealedFor(idOf(6)), body)
  assert.equal(await leases(), [6].map(idOf))
  await narrowest.drop(idOf(6))
  assert.equal(await readdir(folder), [])
})

test('a proof of the same lease takes the place of the earlier one', async ({ folder }) => {
  const store = await openProofStore(folder)
  await store.keep(idOf(1), await sealedFor(idOf(1)), body)
  await store.keep(idOf(1), await sealedFor(idOf(1)), null)
  assert.equal(await readdir(folder), [`${idOf(1)}.announcement`])
})

test('what a kill left half written is removed, and what proves nothing says so', async ({ folder }) => {
  const store = await openProofStore(folder)
  for (const i of [1, 2, 3]) await store.keep(idOf(i), await sealedFor(idOf(i)), body)
  await writeFile(join(folder, `${idOf(9)}.body`), body)
  await openProofStore(folder)
  assert.is((await readdir(folder)).length, 6)

  const file = join(folder, `${idOf(1)}.announcement`)
  const bytes = await readFile(file)
  for (let at = 0; at < bytes.length; at += 7) {
    const bent = Uint8Array.from(bytes)
    bent[at]! ^= 1
    await writeFile(file, bent)
    assert.is(await codeOf(openProof(folder, idOf(1), run)), 'damaged', `byte ${at}`)
  }
  await writeFile(file, await sealedFor(idOf(2)))
  assert.is(await codeOf(openProof(folder, idOf(1), run)), 'damaged', 'of another lease')
  await writeFile(join(folder, `${idOf(2)}.body`), 'other tokens')
  assert.is(await codeOf(openProof(folder, idOf(2), run)), 'damaged', 'another body')
  assert.is(await codeOf(openProof(folder, idOf(3), peerIdOfKey(key))), 'damaged', 'of another run')
  assert.is(await codeOf(openProof(folder, idOf(3), run)), 'held')
  for (const leaseId of [idOf(4), '../log', ''])
    assert.is(await codeOf(openProof(folder, leaseId, run)), 'not_kept', leaseId)
  assert.equal(await listProofs(join(folder, 'nowhere')), [])
})

test('only a lease names a file', async ({ folder }) => {
  const store = await openProofStore(folder)
  for (const name of ['../log', 'a'.repeat(31), idOf(1).toUpperCase().replace('0', 'A')])
    assert.match(await codeOf(store.keep(name, body, null)), /TypeError/)
})

test.run()
