import { open, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Stream } from '@libp2p/interface'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import {
  type BlobDescription,
  LIMITS,
  type PolicyManifest,
  PROTOCOLS,
  policyIdOf,
  type SealedManifest,
  sealManifest,
  sha256,
  snapshotRequest,
  snapshotResponse,
} from '../../proto/index.js'
import { createByteStream } from '../../swarm/byte-stream.js'
import {
  type BlobStore,
  type Clock,
  createBlobStore,
  createSnapshotExchange,
  type SnapshotExchange,
} from '../../swarm/index.js'
import { openPartialBlob } from '../../swarm/partial-blob.js'
import { fetchChunks } from '../../swarm/snapshot-fetch.js'
import { flightManifest, flightPolicy } from '../support/proto-samples.js'
import {
  connect,
  createTestSwarm,
  eventually,
  failure,
  noise,
  patientClock,
  soon,
  type TestNode,
  type TestSwarm,
} from '../support/swarm-nodes.js'

const MIB = LIMITS.chunkBytes.value
/** Five chunks, the last of them short. */
const ADAPTER = noise(4 * MIB + 12_345)

interface Holder extends TestNode {
  readonly store: BlobStore
  readonly exchange: SnapshotExchange
}
interface Context {
  swarm: TestSwarm
  coordinator: Holder
  sealed: SealedManifest
  blob: BlobDescription
}
const test = suite<Context>('snapshots')

interface HolderOptions {
  readonly upload?: () => number
  readonly clock?: Clock
  /** The store reads no chunk before this promise resolves. */
  readonly gate?: Promise<void>
}

async function holder(
  swarm: TestSwarm,
  seed: number,
  { clock, gate, upload }: HolderOptions = {},
): Promise<Holder> {
  const node = await swarm.node(seed, true, clock)
  const store = await createBlobStore(await swarm.folder())
  const gated: BlobStore = {
    ...store,
    async readChunk(...chunk) {
      await gate
      return store.readChunk(...chunk)
    },
  }
  if (upload) node.host.serving.limitUpload(upload)
  const exchange = await createSnapshotExchange(node.host, { store: gated })
  return { ...node, store, exchange }
}

test.before.each(async (context) => {
  context.swarm = await createTestSwarm()
  context.coordinator = await holder(context.swarm, 1)
  const { store, exchange, key } = context.coordinator
  const hash = await store.put(ADAPTER)
  context.blob = await store.describe(hash, 'adapter')
  const adapter = { ...flightPolicy.adapter!, sha256: hash, sizeBytes: ADAPTER.length }
  const policy = { ...flightPolicy, adapter }
  const manifest: PolicyManifest = { ...flightManifest, policy, policyId: policyIdOf(policy), blobs: [context.blob] }
  context.sealed = await sealManifest(key, context.swarm.runId, manifest)
  exchange.offer(context.sealed)
})
test.after.each((context) => context.swarm.close())

/** Creates a source with its own answers to requests for chunks. Null: no answer. */
async function crookedSource(swarm: TestSwarm, seed: number, answer: (index: number) => Uint8Array | null) {
  const node = await swarm.node(seed)
  let asked = 0
  const serve = async (stream: Stream): Promise<void> => {
    const bytes = createByteStream(stream, patientClock)
    for (;;) {
      const frame = await bytes.readFrameOrEnd(snapshotRequest.maxBytes, soon())
      if (!frame) return
      const { id, want } = snapshotRequest.parse(frame)
      asked += 1
      const data = want.kind === 'chunk' ? answer(want.index) : null
      if (data) await bytes.writeFrame(snapshotResponse.encode({ id, status: 'ok', data }), soon())
    }
  }
  await node.host.handle(PROTOCOLS.snapshot, (stream) => void serve(stream).catch(() => {}))
  return { ...node, asked: () => asked }
}

const trueChunk = (index: number): Uint8Array => ADAPTER.subarray(index * MIB, (index + 1) * MIB)

test('a node fetches the newest manifest and its adapter, and then serves both', async ({
  swarm,
  coordinator,
  sealed,
  blob,
}) => {
  const ann = await holder(swarm, 2)
  await connect(ann, coordinator)
  const got = await ann.exchange.fetchManifest([coordinator.host.peerId], 'newest', soon())
  assert.is(got.manifestId, sealed.manifestId)
  const path = await ann.exchange.fetchBlob(blob, [coordinator.host.peerId], { signal: soon() })
  assert.is(sha256(await readFile(path)), blob.sha256)
  assert.equal(await readdir(ann.store.directory), [blob.sha256])

  const ben = await holder(swarm, 3)
  await connect(ben, ann)
  const again = await ben.exchange.fetchManifest([ann.host.peerId], sealed.manifestId, soon())
  assert.equal(again.manifest, sealed.manifest)
  await ben.exchange.fetchBlob(blob, [ann.host.peerId], { signal: soon() })
  assert.ok(await ben.store.has(blob.sha256))
})

test('a manifest signed by another key, or another manifest than requested, is refused', async ({
  swarm,
  coordinator,
  sealed,
}) => {
  const mallory = await holder(swarm, 9)
  const forged = await sealManifest(mallory.key, swarm.runId, { ...sealed.manifest, version: 99 })
  mallory.exchange.offer(forged)
  const ann = await holder(swarm, 2)
  await connect(ann, coordinator)
  await connect(ann, mallory)
  const got = await ann.exchange.fetchManifest([mallory.host.peerId, coordinator.host.peerId], 'newest', soon())
  assert.is(got.manifest.version, 7)
  assert.equal(
    ann.refusals.map((event) => event.code),
    ['wrong_signer'],
  )
  assert.is(
    (await failure(ann.exchange.fetchManifest([coordinator.host.peerId], forged.manifestId, soon()))).code,
    'no_source',
  )
})

test('several sources share the work, and a source that sends false chunks is dropped and penalised', async ({
  swarm,
  coordinator,
  blob,
}) => {
  const liar = await crookedSource(swarm, 8, (index) => trueChunk(index).slice().fill(0, 0, 1))
  const ann = await holder(swarm, 2)
  // The other sources wait for the false one, which could otherwise be too late to send anything.
  const lied = Promise.withResolvers<void>()
  const honest = [await holder(swarm, 3, { gate: lied.promise }), await holder(swarm, 4, { gate: lied.promise })]
  for (const { exchange, store } of honest) {
    exchange.offer(coordinator.exchange.newest()!)
    await store.put(ADAPTER)
  }
  const sources = [liar, ...honest]
  for (const source of sources) await connect(ann, source)
  const from = new Set<string>()
  const [path] = await Promise.all([
    ann.exchange.fetchBlob(
      blob,
      sources.map((node) => node.host.peerId),
      { signal: soon(), onProgress: ({ peer }) => from.add(peer) },
    ),
    eventually('the false chunk is detected', () => ann.refusals.length > 0).then(lied.resolve),
  ])
  assert.is(sha256(await readFile(path)), blob.sha256)
  assert.not.ok(from.has(liar.host.peerId))
  assert.equal(
    ann.refusals.map(({ peer, code, effect }) => [peer, code, effect]),
    [[liar.host.peerId, 'chunk_mismatch', 'reject']],
  )
})

test('a stalled source does not delay the others, and alone it fails after the progress timeout', async ({
  swarm,
  coordinator,
  blob,
}) => {
  const staller = await crookedSource(swarm, 8, () => null)
  const ann = await holder(swarm, 2)
  await connect(ann, staller)
  const alone = await failure(
    ann.exchange.fetchBlob(blob, [staller.host.peerId], { signal: soon(), progressTimeoutMs: 200 }),
  )
  assert.is(alone.code, 'no_source')
  assert.match(String(alone.cause), /timeout/)

  await connect(ann, coordinator)
  // No source times out here, so a fetch that waits for the stalled source would never end.
  const before = staller.asked()
  await ann.exchange.fetchBlob(blob, [staller.host.peerId, coordinator.host.peerId], { signal: soon() })
  assert.ok(staller.asked() > before)
})

test('a download resumes after a kill, and damaged chunks are fetched again', async ({ swarm, blob }) => {
  const first = await crookedSource(swarm, 8, (index) => (index === 2 ? null : trueChunk(index)))
  const ann = await holder(swarm, 2)
  await connect(ann, first)
  const got = new Set<number>()
  const stop = new AbortController()
  await ann.exchange
    .fetchBlob(blob, [first.host.peerId], {
      signal: stop.signal,
      onProgress: ({ chunksDone }) => {
        got.add(chunksDone)
        if (chunksDone === 4) stop.abort(new Error('killed'))
      },
    })
    .then(
      () => assert.unreachable(),
      (why) => assert.match(why.message, /killed/),
    )
  assert.not.ok(await ann.store.has(blob.sha256))

  const part = await open(join(ann.store.directory, `.part-${blob.sha256}`), 'r+')
  await part.write(new Uint8Array([1, 2, 3]), 0, 3, 77)
  await part.close()

  const asked: number[] = []
  const second = await crookedSource(swarm, 7, (index) => {
    asked.push(index)
    return trueChunk(index)
  })
  const store = await createBlobStore(ann.store.directory)
  const restarted = await swarm.node(5)
  const exchange = await createSnapshotExchange(restarted.host, { store })
  await connect(restarted, second)
  const path = await exchange.fetchBlob(blob, [second.host.peerId], { signal: soon() })
  assert.is(sha256(await readFile(path)), blob.sha256)
  assert.equal(asked.sort(), [0, 2])
})

test('verified chunks are served while the download still runs', async ({ swarm, coordinator, blob, sealed }) => {
  const slow = await crookedSource(swarm, 8, (index) => (index === 4 ? null : trueChunk(index)))
  const ann = await holder(swarm, 2)
  const ben = await holder(swarm, 3)
  await connect(ann, slow)
  await connect(ben, ann)
  ann.exchange.offer(sealed)
  let annHas = 0
  const stop = new AbortController()
  const annFetch = ann.exchange.fetchBlob(blob, [slow.host.peerId], {
    signal: stop.signal,
    onProgress: ({ chunksDone }) => {
      annHas = chunksDone
    },
  })
  const annStopped = annFetch.catch(() => undefined)
  await eventually('Ann has four chunks', () => annHas === 4)
  let benHas = 0
  const benFetch = ben.exchange.fetchBlob(blob, [ann.host.peerId], {
    signal: soon(),
    onProgress: ({ chunksDone }) => {
      benHas = chunksDone
    },
  })
  // Awaited later. Until then a failure must not count as an unhandled rejection.
  benFetch.catch(() => undefined)
  await eventually('Ben has the chunks of Ann', () => benHas === 4)
  assert.not.ok(await ann.store.has(blob.sha256))
  // Ann's only other source appears, and both downloads complete.
  stop.abort()
  await annStopped
  await connect(ann, coordinator)
  await ann.exchange.fetchBlob(blob, [coordinator.host.peerId], { signal: soon() })
  await benFetch
  assert.ok(await ben.store.has(blob.sha256))
})

test('a manifest whose chunks do not make up its blob is refused at the end of the download', async ({
  swarm,
  coordinator,
  blob,
}) => {
  const ann = await holder(swarm, 2)
  const liar = await crookedSource(swarm, 8, trueChunk)
  await connect(ann, liar)
  const contradictory = { ...blob, sha256: sha256(noise(10, 3)) }
  const why = await failure(ann.exchange.fetchBlob(contradictory, [liar.host.peerId], { signal: soon() }))
  assert.is(why.code, 'bad_hash')
  assert.equal(await readdir(ann.store.directory), [])
  assert.ok(await coordinator.store.has(blob.sha256))
})

test('a full disk ends the download with its own error, and no source is penalised', async ({
  swarm,
  coordinator,
  blob,
}) => {
  const ann = await holder(swarm, 2)
  await connect(ann, coordinator)
  const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC', syscall: 'write' })
  const partial = await openPartialBlob(ann.store, blob)
  try {
    const write = async () => Promise.reject(full)
    const fetching = fetchChunks(ann.host, { ...partial, write }, [coordinator.host.peerId], { signal: soon() })
    assert.is(await fetching.catch((why: unknown) => why), full)
    assert.equal(ann.refusals, [])
  } finally {
    await partial.close()
  }
  await ann.exchange.fetchBlob(blob, [coordinator.host.peerId], { signal: soon() })
})

test('a blob that was damaged on disk is not served', async ({ swarm, coordinator, blob }) => {
  const damaged = Uint8Array.from(ADAPTER)
  damaged.fill(0, 0, 9)
  await writeFile(coordinator.store.path(blob.sha256), damaged)
  /** Ann's clock is stopped until she has all available chunks. */
  const clock = { ...patientClock, nowMs: 0, elapsedMs: () => clock.nowMs }
  const ann = await holder(swarm, 2, { clock })
  await connect(ann, coordinator)
  const got = new Set<number>()
  const why = await failure(
    ann.exchange.fetchBlob(blob, [coordinator.host.peerId], {
      signal: soon(),
      stallMs: 300,
      onProgress: ({ chunksDone }) => {
        got.add(chunksDone)
        if (chunksDone === 4) clock.nowMs = 301
      },
    }),
  )
  assert.is(why.code, 'no_source')
  assert.is(got.size, 4)
  assert.equal(ann.refusals, [])
})

test('an upload limit is kept', async ({ swarm, sealed, blob }) => {
  /** His clock advances only while he waits, so the waiting time is exact. */
  const clock: Clock & { nowMs: number } = {
    ...patientClock,
    nowMs: 0,
    now: () => clock.nowMs,
    elapsedMs: () => clock.nowMs,
    async sleep(ms, signal) {
      if (ms >= LIMITS.progressTimeoutMs.value) return patientClock.sleep(ms, signal)
      signal?.throwIfAborted()
      clock.nowMs += ms
    },
  }
  const frugal = await holder(swarm, 4, { clock, upload: () => 4 * MIB })
  frugal.exchange.offer(sealed)
  await frugal.store.put(ADAPTER)
  const ann = await holder(swarm, 2)
  await connect(ann, frugal)
  await ann.exchange.fetchBlob(blob, [frugal.host.peerId], { signal: soon() })
  assert.ok(clock.nowMs >= 990 && clock.nowMs < 1010, `${clock.nowMs} ms for 4 MiB`)
})

test('hostile bytes on a snapshot stream are refused, and the source keeps serving', async ({
  swarm,
  coordinator,
  blob,
}) => {
  const ann = await holder(swarm, 2)
  await connect(ann, coordinator)
  for (const bytes of [new Uint8Array([255, 255, 255, 255]), new Uint8Array([0, 0, 0, 2, 255, 255])]) {
    const stream = await ann.host.openStream(coordinator.host.peerId, PROTOCOLS.snapshot, {
      signal: soon(),
    })
    stream.send(bytes)
  }
  await eventually('both are reported', () => coordinator.refusals.length === 2)
  assert.equal(coordinator.refusals.map((event) => event.code).sort(), ['malformed', 'too_large'])
  await ann.exchange.fetchBlob(blob, [coordinator.host.peerId], { signal: soon() })
})

test('every holder reports its manifests and blobs, and those of other runs are left out', async ({
  swarm,
  coordinator,
  sealed,
  blob,
}) => {
  const next = { ...sealed.manifest, round: sealed.manifest.round + 1, version: sealed.manifest.version + 1 }
  coordinator.exchange.offer(await sealManifest(coordinator.key, swarm.runId, next))
  const [ann, ben, mallory] = [await holder(swarm, 2), await holder(swarm, 3), await holder(swarm, 9)]
  for (const node of [ann, mallory]) await connect(ben, node)
  await connect(ann, coordinator)
  await ann.exchange.fetchManifest([coordinator.host.peerId], sealed.manifestId, soon())
  await ann.exchange.fetchBlob(blob, [coordinator.host.peerId], { signal: soon() })
  mallory.exchange.offer(await sealManifest(mallory.key, swarm.runId, { ...next, version: 99 }))

  const both = await ann.exchange.fetchManifests([coordinator.host.peerId], soon())
  assert.equal(
    both.map(({ manifest }) => manifest.version),
    [next.version, sealed.manifest.version],
    'the newest first',
  )
  const peers = [ann.host.peerId, mallory.host.peerId]
  const found = await ben.exchange.fetchManifests(peers, soon())
  assert.equal(
    found.map(({ manifestId }) => manifestId),
    [sealed.manifestId],
  )
  assert.equal(await ben.exchange.holdersOf(blob, peers, soon()), [ann.host.peerId])
  assert.is((await failure(ben.exchange.fetchManifests([mallory.host.peerId], soon()))).code, 'no_source')
})

test.run()
