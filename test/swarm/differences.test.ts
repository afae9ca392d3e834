import { writeFile } from 'node:fs/promises'
import { brotliCompressSync } from 'node:zlib'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { createKeptPublications } from '../../node/policy/kept-publications.js'
import { type AdapterDifference, type PolicyManifest, policyIdOf, sealManifest, sha256 } from '../../proto/index.js'
import {
  applyDifference,
  type BlobStore,
  createBlobStore,
  createSnapshotExchange,
  silentLogger,
  storeDifference,
} from '../../swarm/index.js'
import { flightManifest, flightPolicy } from '../support/proto-samples.js'
import { connect, createTestSwarm, noise, soon, type TestNode, type TestSwarm } from '../support/swarm-nodes.js'

const test = suite<{ swarm: TestSwarm }>('differences of adapters')

test.before.each(async (context) => {
  context.swarm = await createTestSwarm()
})
test.after.each((context) => context.swarm.close())

const MIB = 2 ** 20
/** More than one block. */
const BYTES = 5 * MIB + 3

/** Returns an adapter after a small step: every weight moves by at most a few float16 steps. */
function stepFrom(adapter: Uint8Array, seed: number): Uint8Array {
  const moves = noise(adapter.length, seed)
  return adapter.map((byte, i) => (i % 2 === 0 ? byte ^ (moves[i]! & 3) : byte))
}

async function publish(blobs: BlobStore, version: number, adapter: Uint8Array, from: string | null) {
  const blob = await blobs.describe(await blobs.put(adapter), 'adapter')
  const policy = {
    ...flightPolicy,
    adapter: { ...flightPolicy.adapter!, sha256: blob.sha256, sizeBytes: blob.sizeBytes },
  }
  const difference = from && (await storeDifference(blobs, from, blob, soon()))
  return {
    ...{ ...flightManifest, version, round: version, policy, policyId: policyIdOf(policy), blobs: [blob] },
    difference: difference || null,
  } satisfies PolicyManifest
}

/** A node that counts the bytes that it passes on. */
async function nodeOf(swarm: TestSwarm, node: TestNode, peers: readonly TestNode[], origin: string) {
  const blobs = await createBlobStore(await swarm.folder())
  const sent = { bytes: 0 }
  const store: BlobStore = {
    ...blobs,
    async readChunk(...chunk) {
      const data = await blobs.readChunk(...chunk)
      sent.bytes += data?.length ?? 0
      return data
    },
  }
  const snapshots = await createSnapshotExchange(node.host, { store })
  const asked = peers.map(({ host }) => host.peerId)
  const publications = createKeptPublications({ snapshots, blobs, origin, peers: () => asked, logger: silentLogger })
  return { blobs, sent, snapshots, publications }
}

test('two volunteers with different versions exchange adapters as differences, and a newcomer gets the whole', async ({
  swarm,
}) => {
  const coordinator = await swarm.node(1)
  const [ann, ben, cara] = [await swarm.node(2), await swarm.node(3), await swarm.node(4)]
  for (const node of [ann, ben]) await connect(node, coordinator)
  await connect(ben, ann)
  await connect(cara, ann)
  const { runId } = swarm
  const own = await nodeOf(swarm, coordinator, [], runId)
  const [ofAnn, ofBen, ofCara] = [
    await nodeOf(swarm, ann, [coordinator], runId),
    await nodeOf(swarm, ben, [ann], runId),
    await nodeOf(swarm, cara, [ann], runId),
  ]
  const first = noise(BYTES)
  const second = stepFrom(first, 7)
  const one = await publish(own.blobs, 1, first, null)
  const two = await publish(own.blobs, 2, second, sha256(first))
  const versions: readonly PolicyManifest[] = [one, two]
  assert.is(one.difference, null)
  assert.ok(two.difference!.blob.sizeBytes < BYTES / 3, `${two.difference!.blob.sizeBytes} B`)
  const use = async ({ snapshots, publications }: typeof ofAnn, manifest: PolicyManifest): Promise<void> => {
    snapshots.offer(await sealManifest(coordinator.key, runId, manifest))
    await publications.prune(manifest)
    await publications.fetchAdapter(manifest, soon())
  }
  for (const manifest of versions) own.snapshots.offer(await sealManifest(coordinator.key, runId, manifest))

  await use(ofAnn, one)
  await use(ofBen, one)
  const before = { own: own.sent.bytes, ann: ofAnn.sent.bytes }
  await use(ofAnn, two)
  assert.ok(await ofAnn.blobs.isWhole(sha256(second), soon()))
  assert.is(own.sent.bytes - before.own, two.difference!.blob.sizeBytes)
  await use(ofBen, two)
  assert.ok(await ofBen.blobs.isWhole(sha256(second), soon()))
  assert.is(ofAnn.sent.bytes - before.ann, two.difference!.blob.sizeBytes)
  await use(ofCara, two)
  assert.ok(await ofCara.blobs.isWhole(sha256(second), soon()))
  assert.is(ofAnn.sent.bytes - before.ann, two.difference!.blob.sizeBytes + BYTES)
  for (const { snapshots } of [own, ofAnn, ofBen, ofCara]) await snapshots.close()
})

test('a node whose adapter was damaged on the disk fetches the whole', async ({ swarm }) => {
  const coordinator = await swarm.node(1)
  const ann = await swarm.node(2)
  await connect(ann, coordinator)
  const own = await nodeOf(swarm, coordinator, [], swarm.runId)
  const ofAnn = await nodeOf(swarm, ann, [coordinator], swarm.runId)
  const first = noise(MIB)
  const second = stepFrom(first, 5)
  await publish(own.blobs, 1, first, null)
  const manifest = await publish(own.blobs, 2, second, sha256(first))
  own.snapshots.offer(await sealManifest(coordinator.key, swarm.runId, manifest))
  await writeFile(ofAnn.blobs.path(sha256(first)), noise(MIB, 99))
  await ofAnn.publications.fetchAdapter(manifest, soon())
  assert.ok(await ofAnn.blobs.isWhole(sha256(second), soon()))
  for (const { snapshots } of [own, ofAnn]) await snapshots.close()
})

test('a difference of unrelated adapters, or of one with itself, is not published', async ({ swarm }) => {
  const blobs = await createBlobStore(await swarm.folder())
  const [first, second] = [noise(MIB), noise(MIB, 2)]
  await publish(blobs, 1, first, null)
  assert.is((await publish(blobs, 2, second, sha256(first))).difference, null)
  assert.is((await publish(blobs, 2, first, sha256(first))).difference, null)
  assert.is((await publish(blobs, 3, first.subarray(1), sha256(first))).difference, null)
  assert.is((await publish(blobs, 3, first, sha256(noise(10)))).difference, null)
})

test('hostile differences are refused, and leave nothing behind', async ({ swarm }) => {
  const blobs = await createBlobStore(await swarm.folder())
  const first = noise(MIB)
  const second = stepFrom(first, 3)
  await publish(blobs, 1, first, null)
  const { difference, blobs: files } = await publish(blobs, 2, second, sha256(first))
  const good = (await blobs.read(difference!.blob.sha256))!
  const framed = (block: Uint8Array): Uint8Array => {
    const head = Buffer.alloc(4)
    head.writeUInt32BE(block.length)
    return Buffer.concat([head, block])
  }
  const changed = good.slice()
  changed[good.length >> 1]! ^= 1
  await blobs.remove(sha256(second))
  for (const [what, content] of [
    ['empty', new Uint8Array(1)],
    ['cut off', good.subarray(0, good.length - 1)],
    ['too long', Buffer.concat([good, good.subarray(0, 5)])],
    ['changed', changed],
    ['a length beyond the file', Buffer.from('ffffffff00', 'hex')],
    ['a gigabyte of zeros', framed(brotliCompressSync(new Uint8Array(64 * MIB)))],
    ['too few moves', framed(brotliCompressSync(new Uint8Array(10)))],
    ['of another adapter', framed(brotliCompressSync(new Uint8Array(MIB)))],
  ] as const) {
    const blob = await blobs.describe(await blobs.put(content), 'adapter-difference')
    const hostile: AdapterDifference = { from: sha256(first), blob }
    const refused = await applyDifference(blobs, hostile, files[0]!, soon()).catch((why: unknown) => why)
    assert.is((refused as { code?: string } | undefined)?.code, 'malformed', what)
    assert.not(await blobs.has(sha256(second)), what)
  }
})

test.run()
