import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { encodeFrame, LIMITS, SwarmRefusal } from '../../../proto/index.js'
import { createByteQueue } from '../../../swarm/byte-queue.js'
import { createByteStream } from '../../../swarm/byte-stream.js'
import { systemClock } from '../../../swarm/clock.js'
import { TransportError } from '../../../swarm/errors.js'
import { FakeStream } from '../../support/fake-stream.js'
import { patience } from '../../support/patience.js'

const soon = patience
const codeOf = async (run: () => Promise<unknown>): Promise<string> => {
  try {
    await run()
    return 'accepted'
  } catch (why) {
    if (why instanceof SwarmRefusal || why instanceof TransportError) return why.code
    throw why
  }
}

test('a queue returns the same bytes for pieces of any size', () => {
  const piece = fc.oneof(
    fc.nat(20),
    fc.integer({ min: 4090, max: 4100 }),
    fc.integer({ min: 16_380, max: 16_390 }),
    fc.nat(40_000),
  )
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.boolean(), piece), { minLength: 1, maxLength: 60 }), (steps) => {
      const queue = createByteQueue()
      let written = 0
      let read = 0
      for (const [isPush, size] of steps) {
        if (isPush) {
          queue.push(Uint8Array.from({ length: size }, (_, i) => (written + i) % 251))
          written += size
        } else {
          const wanted = Math.min(size, queue.size)
          const bytes = queue.take(wanted)
          assert.is(bytes.length, wanted)
          assert.ok(bytes.every((byte, i) => byte === (read + i) % 251))
          read += wanted
        }
        assert.is(queue.size, written - read)
      }
      assert.throws(
        () => queue.take(queue.size + 1),
        (why: unknown) => why instanceof RangeError,
      )
    }),
    { seed: 701, numRuns: 200 },
  )
})

test('a megabyte that arrives byte by byte is read in linear time and little memory', async () => {
  const stream = new FakeStream()
  const bytes = createByteStream(stream.asStream, systemClock)
  const frame = encodeFrame(new Uint8Array(LIMITS.chunkBytes.value).fill(9))
  const started = process.cpuUsage()
  const reading = bytes.readFrame(LIMITS.chunkBytes.value, soon())
  const before = process.memoryUsage()
  for (let at = 0; at < frame.length; at++) stream.feed(frame.subarray(at, at + 1))
  const after = process.memoryUsage()
  assert.ok(after.heapUsed + after.arrayBuffers - before.heapUsed - before.arrayBuffers < 40e6)
  assert.is((await reading).length, LIMITS.chunkBytes.value)
  assert.ok(process.cpuUsage(started).user < 8e6)
})

test('a frame with a false length is refused before its content is read', async () => {
  for (const [limit, announced] of [
    [0, 1],
    [256, 257],
    [LIMITS.chunkBytes.value, 2 ** 32 - 1],
  ] as const) {
    const stream = new FakeStream()
    const bytes = createByteStream(stream.asStream, systemClock)
    const header = new Uint8Array(4)
    new DataView(header.buffer).setUint32(0, announced)
    stream.feed(header)
    const before = process.memoryUsage().arrayBuffers
    assert.is(await codeOf(() => bytes.readFrame(limit, soon())), 'too_large')
    assert.ok(process.memoryUsage().arrayBuffers - before < 1e6)
  }
})

test('truncated frames in pieces of any size are read whole or end the stream', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.uint8Array({ maxLength: 50 }), { maxLength: 4 }),
      fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 10 }),
      fc.nat(60),
      async (contents, cuts, missing) => {
        const all = new Uint8Array(Buffer.concat(contents.map(encodeFrame)))
        const data = all.subarray(0, Math.max(0, all.length - missing))
        const stream = new FakeStream()
        const bytes = createByteStream(stream.asStream, systemClock)
        for (let at = 0, i = 0; at < data.length; i++) {
          const size = cuts[i % cuts.length]!
          stream.feed(data.subarray(at, at + size))
          at += size
        }
        stream.finish()
        let whole = 0
        for (const content of contents) {
          whole += 4 + content.length
          if (whole > data.length) break
          assert.equal(await bytes.readFrame(64, soon()), content)
        }
        if (whole > data.length) assert.is(await codeOf(() => bytes.readFrame(64, soon())), 'stream_ended')
        else assert.is(await bytes.readFrameOrEnd(64, soon()), null)
      },
    ),
    { seed: 703, numRuns: 200 },
  )
})

test('a fast sender is paused, and its frame still arrives whole', async () => {
  const stream = new FakeStream()
  const bytes = createByteStream(stream.asStream, systemClock)
  for (let i = 0; i < 40; i++) stream.feed(new Uint8Array(64 * 1024))
  assert.is(stream.readStatus, 'paused')
  assert.is((await bytes.readFrame(0, soon())).length, 0)
  assert.is(stream.readStatus, 'readable')
})

test.run()
