import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { LIMITS } from '../../../proto/index.js'
import {
  type ChunkChoice,
  createChunkChoice,
  HEARD_BYTES,
  KEEP_UP_CHUNKS,
  KEEP_UP_MS,
  LEAST_OF_OTHERS,
} from '../../../swarm/chunk-choice.js'
import { createGivenChunks, MOST_COPIES, NODES_PER_COPY } from '../../../swarm/given-chunks.js'
import { bitsOf } from '../../../swarm/partial-blob.js'

const test = suite('chunk choice')

const CHUNKS = 8
const ALL = Array.from({ length: CHUNKS }, (_, index) => index)
const EVERY = Uint8Array.of(0xff)
const NOTHING = Uint8Array.of(0)
const LACKS_NONE: ReadonlySet<number> = new Set()
const PATIENCE_MS = 10_000

function choosing({ origin = 'origin' as string | null, self = 'ann' } = {}) {
  const time = { nowMs: 0 }
  const choice = createChunkChoice({
    missing: ALL,
    self,
    origin,
    patienceMs: PATIENCE_MS,
    now: () => time.nowMs,
  })
  return { choice, time }
}

/** Lets a source deliver the next chunk. @returns  the chunk; null: the source is not asked */
function deliver(choice: ChunkChoice, source: string): number | null {
  const index = choice.next(source, LACKS_NONE)
  if (index === null) return null
  const over = choice.ask(source, index)
  choice.received(source, LIMITS.chunkBytes.value)
  assert.ok(choice.arrived(source, index))
  over()
  return index
}

test('the origin is asked at once for the offered chunk, and for no other while neighbours deliver', () => {
  const { choice, time } = choosing()
  choice.holds('ben', NOTHING)
  assert.equal(new Set(choice.wanted()), new Set(ALL))
  assert.is(choice.next('origin', LACKS_NONE), null)
  choice.offer(5)
  assert.is(deliver(choice, 'origin'), 5)
  assert.is(choice.next('origin', LACKS_NONE), null, 'once')
  choice.holds(
    'ben',
    bitsOf(CHUNKS, (index) => index === 3),
  )
  assert.not.ok(choice.wanted().includes(3) || choice.wanted().includes(5))
  time.nowMs += KEEP_UP_MS - 1
  assert.is(choice.next('origin', LACKS_NONE), null)
  choice.received('ben', HEARD_BYTES)
  time.nowMs += KEEP_UP_MS - 1
  assert.is(choice.next('origin', LACKS_NONE), null, 'half a chunk is something')
  assert.is(deliver(choice, 'ben'), 3)
})

test('refusals do not count as deliveries', () => {
  const { choice, time } = choosing()
  choice.holds('ben', NOTHING)
  time.nowMs += KEEP_UP_MS
  choice.received('ben', HEARD_BYTES - 1)
  assert.not.equal(choice.next('origin', LACKS_NONE), null)
})

test('after a while without deliveries the origin is asked for chunks that no neighbour has', () => {
  const { choice, time } = choosing()
  choice.holds(
    'ben',
    bitsOf(CHUNKS, (index) => index === 0),
  )
  assert.is(choice.next('origin', LACKS_NONE), null)
  time.nowMs += KEEP_UP_MS
  assert.not.equal(choice.next('origin', LACKS_NONE), null)
  assert.is.not(choice.next('origin', LACKS_NONE), 0)
})

test('chunks that enough nodes have received are awaited from neighbours, until they are silent for too long', () => {
  const { choice, time } = choosing()
  choice.holds('ben', NOTHING)
  for (; time.nowMs < PATIENCE_MS; time.nowMs += KEEP_UP_MS - 1) {
    choice.offer(null)
    assert.is(choice.next('origin', LACKS_NONE), null)
  }
  choice.offer(null)
  assert.not.equal(choice.next('origin', LACKS_NONE), null)
})

test('neighbours may be as slow as the origin', () => {
  const { choice, time } = choosing()
  choice.holds('ben', NOTHING)
  choice.offer(0)
  const over = choice.ask('origin', choice.next('origin', LACKS_NONE)!)
  time.nowMs += 2 * KEEP_UP_MS
  assert.ok(choice.arrived('origin', 0))
  over()
  choice.received('ben', HEARD_BYTES)
  time.nowMs += 2 * KEEP_UP_CHUNKS * KEEP_UP_MS - 1
  assert.is(choice.next('origin', LACKS_NONE), null)
  time.nowMs += 1
  assert.not.equal(choice.next('origin', LACKS_NONE), null)
})

test('the wait for silent neighbours shrinks each time', () => {
  const { choice, time } = choosing()
  choice.holds('ben', EVERY)
  time.nowMs += PATIENCE_MS
  // A chunk arrives at the last moment.
  for (let chunk = 0; chunk < LEAST_OF_OTHERS; chunk++) deliver(choice, 'ben')
  assert.is(deliver(choice, 'origin'), null)
  time.nowMs += PATIENCE_MS - 1
  assert.is(deliver(choice, 'origin'), null)
  time.nowMs += 2
  assert.not.equal(deliver(choice, 'origin'), null)
})

test('a complete neighbour on a slow line does not delay a fetch', () => {
  const { choice, time } = choosing()
  choice.holds('ben', EVERY)
  let fromOrigin = 0
  for (let second = 1; choice.left > 0; second++) {
    time.nowMs += 1000
    if (second % 8 === 0) deliver(choice, 'ben')
    if (deliver(choice, 'origin') !== null) fromOrigin += 1
    assert.ok(second < 8 * CHUNKS, 'Ben alone would be as quick')
  }
  assert.ok(fromOrigin > CHUNKS / 2)
})

test('nodes that start together ask the origin for different chunks', () => {
  const firsts = new Set(
    ['ann', 'ben', 'cara', 'dan'].map((self) => choosing({ self }).choice.next('origin', LACKS_NONE)),
  )
  assert.ok(firsts.size > 1)
})

test('without an origin every source is asked, and at the end for chunks requested elsewhere', () => {
  const { choice } = choosing({ origin: null })
  const overs = ALL.map(() => choice.ask('ann', choice.next('ann', LACKS_NONE)!))
  assert.is(choice.next('ann', LACKS_NONE), null)
  const again = choice.next('ben', LACKS_NONE)!
  assert.ok(choice.arrived('ben', again))
  assert.not.ok(choice.arrived('ann', again), 'it came twice')
  for (const over of overs) over()
  assert.is(choice.next('ben', new Set(ALL)), null)
})

test('a chunk is promised once, again after its node has left, and more often among many nodes', () => {
  const given = createGivenChunks()
  const [blob, wanted] = ['00'.repeat(32), EVERY]
  const names = Array.from({ length: CHUNKS }, (_, i) => `node ${i}`)
  assert.equal(
    names.map((name) => given.promise(name, blob, wanted)),
    ALL,
  )
  assert.is(given.promise('late', blob, wanted), null)
  assert.is(given.promise('node 3', blob, wanted), 3, 'it did not come')
  assert.is(given.promise('late', '11'.repeat(32), wanted), 0, 'of another blob')
  given.forget('node 3')
  assert.is(given.promise('late', blob, wanted), 3)
  given.forget('nobody')
  const crowd = Array.from({ length: NODES_PER_COPY }, (_, i) => given.promise(`more ${i}`, blob, wanted))
  assert.equal([...new Set(crowd)].sort(), [...ALL, null], 'a second copy')
})

test('the number of promised copies is limited, however many nodes there are', () => {
  const given = createGivenChunks()
  const copies = new Map<number | null, number>()
  for (let i = 0; i < 2 * MOST_COPIES * NODES_PER_COPY; i++) {
    const index = given.promise(`node ${i}`, '00'.repeat(32), EVERY)
    copies.set(index, (copies.get(index) ?? 0) + 1)
  }
  assert.equal(
    ALL.map((index) => copies.get(index)),
    ALL.map(() => MOST_COPIES),
  )
})

test.run()
