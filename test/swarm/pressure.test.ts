import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { encodeFrame, LIMITS, PROTOCOLS, sha256, snapshotRequest, snapshotResponse } from '../../proto/index.js'
import { createByteStream } from '../../swarm/byte-stream.js'
import { systemClock } from '../../swarm/clock.js'
import { createRateLimit } from '../../swarm/rate-limit.js'
import { serveSnapshots } from '../../swarm/snapshot-server.js'
import { openSnapshotSource } from '../../swarm/snapshot-source.js'
import { createUploadBudget } from '../../swarm/upload-budget.js'
import {
  connect,
  createTestSwarm,
  eventually,
  noise,
  patientClock,
  soon,
  type TestNode,
  type TestSwarm,
} from '../support/swarm-nodes.js'

const test = suite<{ swarm: TestSwarm; server: TestNode; client: TestNode }>('pressure')
test.before.each(async (context) => {
  context.swarm = await createTestSwarm()
  context.server = await context.swarm.node(1)
  context.client = await context.swarm.node(2, false)
  await connect(context.client, context.server)
})
test.after.each((context) => context.swarm.close())

const want = (index: number) => ({ kind: 'chunk' as const, blobSha256: 'ab'.repeat(32), index })

test('a peer that asks for much and reads nothing fills only its own receive window', async ({ server, client }) => {
  const chunk = noise(LIMITS.chunkBytes.value)
  let served = 0
  await serveSnapshots(server.host, async (asked) => {
    if (asked.kind !== 'chunk' || asked.index > 0) return new Uint8Array([1])
    served += 1
    return chunk
  })
  const stream = await client.host.openStream(server.host.peerId, PROTOCOLS.snapshot, {
    signal: soon(),
  })
  stream.pause()
  for (let id = 1; id <= 60; id += 1) stream.send(encodeFrame(snapshotRequest.encode({ id, want: want(0) })))
  await eventually('the server has started to answer', () => served > 0)
  // Another peer reads as many answers one after the other. In that time the first peer would have been served, too.
  const reader = await openSnapshotSource(client.host, server.host.peerId, soon())
  for (let i = 1; i <= 200; i += 1) assert.is((await reader.ask(want(i))).status, 'ok')
  assert.ok(served <= 8, `${served} chunks were prepared for a peer that reads none`)
  reader.close()
  stream.abort(new Error('enough'))
})

test('a frame larger than the stream buffer arrives whole', async ({ server, client }) => {
  const content = noise(LIMITS.streamBufferBytes.value + 1_500_000)
  await server.host.handle(
    '/test/large/1',
    (stream) =>
      void createByteStream(stream, patientClock)
        .writeFrame(content, soon())
        .catch(() => {}),
  )
  const stream = await client.host.openStream(server.host.peerId, '/test/large/1', { signal: soon() })
  const received = await createByteStream(stream, patientClock).readFrame(content.length, soon())
  assert.is(sha256(received), sha256(content))
  stream.abort(new Error('done'))
})

test('answers of a source are matched by their ids', async ({ server, client }) => {
  await serveSnapshots(server.host, async (asked) => (asked.kind === 'chunk' ? new Uint8Array([asked.index]) : null))
  const source = await openSnapshotSource(client.host, server.host.peerId, soon())
  const answers = await Promise.all([3, 1, 2].map((index) => source.ask(want(index))))
  assert.equal(
    answers.map(({ data }) => data[0]),
    [3, 1, 2],
  )
  assert.is((await source.ask({ kind: 'newest-manifest' })).status, 'not_found')
  source.close()
  await source.ask(want(1)).then(
    () => assert.unreachable(),
    (why) => assert.is(why.code, 'closed'),
  )
})

test('an answer without a question ends the source', async ({ server, client }) => {
  await server.host.handle(PROTOCOLS.snapshot, (stream) => {
    stream.send(encodeFrame(snapshotResponse.encode({ id: 77, status: 'ok', data: new Uint8Array([1]) })))
  })
  const source = await openSnapshotSource(client.host, server.host.peerId, soon())
  await source.ask(want(0)).then(
    () => assert.unreachable(),
    (why) => assert.is(why.code, 'malformed'),
  )
})

test('a spent upload budget answers busy and recovers', async ({ server, client }) => {
  const { serving } = server.host
  serving.limitUpload(() => 1)
  await serveSnapshots(server.host, async () => new Uint8Array([7]))
  const source = await openSnapshotSource(client.host, server.host.peerId, soon())
  serving.upload.count(10_000)
  assert.is((await source.ask(want(0))).status, 'busy')
  source.close()
  let nowMs = 0
  const budget = createUploadBudget({ ...systemClock, elapsedMs: () => nowMs }, () => 1000)
  budget.count(10_000)
  assert.ok(budget.spent)
  nowMs = 20_000
  assert.not.ok(budget.spent)
})

test('a rate limit refills with time and keeps recent keys', () => {
  let nowMs = 1_000_000
  const rate = createRateLimit({ elapsedMs: () => nowMs }, 60, 2)
  assert.equal([rate.allow('ann'), rate.allow('ann'), rate.allow('ann'), rate.allow('ben')], [true, true, false, true])
  nowMs += 1000
  assert.equal([rate.allow('ann'), rate.allow('ann')], [true, false])
})

test('setting the clock back two hours does not block an upload for two hours', async () => {
  let nowMs = 7_200_000
  const budget = createUploadBudget({ ...systemClock, ...{ now: () => nowMs } }, () => Number.POSITIVE_INFINITY)
  await budget.take(1, soon())
  nowMs = 0
  assert.not.ok(budget.spent)
  await budget.take(1, soon())
})

test.run()
