import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { type ChunkChoice, createChunkChoice, KEEP_UP_MS, LEAST_OF_OTHERS } from '../../../swarm/chunk-choice.js'
import { bitsOf } from '../../../swarm/partial-blob.js'

const test = suite('which chunk is asked for')

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

/** A source delivers what it is asked for. @returns  the chunk; null: it is not asked */
function deliver(choice: ChunkChoice, source: string): number | null {
  const index = choice.next(source, LACKS_NONE)
  if (index === null) return null
  const over = choice.ask(source, index)
  assert.ok(choice.arrived(source, index))
  over()
  return index
}

test('the origin gives what nobody else has, and nothing while the others have more to give', () => {
  const { choice, time } = choosing()
  const first = deliver(choice, 'origin')!
  choice.holds('ben', NOTHING)
  const second = deliver(choice, 'origin')!
  assert.is.not(second, first)
  const [third] = ALL.filter((index) => index !== first && index !== second)
  choice.holds(
    'ben',
    bitsOf(CHUNKS, (index) => index === third),
  )
  assert.is(deliver(choice, 'origin'), null)
  assert.is(deliver(choice, 'ben'), third)
  assert.not.equal(deliver(choice, 'origin'), null, 'Ben has nothing more')
  choice.holds('ben', EVERY)
  time.nowMs += KEEP_UP_MS
  assert.is(deliver(choice, 'origin'), null, 'late, but it is there')
})

test('while the others bring nothing for a while the origin gives what they do not have', () => {
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

test('silent neighbours are waited for once, and less each time', () => {
  const { choice, time } = choosing()
  choice.holds('ben', EVERY)
  time.nowMs += PATIENCE_MS
  // Something came at the last moment.
  for (let chunk = 0; chunk < LEAST_OF_OTHERS; chunk++) deliver(choice, 'ben')
  assert.is(deliver(choice, 'origin'), null)
  time.nowMs += PATIENCE_MS - 1
  assert.is(deliver(choice, 'origin'), null)
  time.nowMs += 2
  assert.not.equal(deliver(choice, 'origin'), null)
})

test('a neighbour on a slow line, which has everything, does not hold a fetch up', () => {
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

test('nodes that begin together ask the origin for different chunks', () => {
  const firsts = new Set(
    ['ann', 'ben', 'cara', 'dan'].map((self) => choosing({ self }).choice.next('origin', LACKS_NONE)),
  )
  assert.ok(firsts.size > 1)
})

test('without an origin every source is asked, at the end for what is under way elsewhere', () => {
  const { choice } = choosing({ origin: null })
  const overs = ALL.map(() => choice.ask('ann', choice.next('ann', LACKS_NONE)!))
  assert.is(choice.next('ann', LACKS_NONE), null)
  const again = choice.next('ben', LACKS_NONE)!
  assert.ok(choice.arrived('ben', again))
  assert.not.ok(choice.arrived('ann', again), 'it came twice')
  for (const over of overs) over()
  assert.is(choice.next('ben', new Set(ALL)), null)
})

test.run()
