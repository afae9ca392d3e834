import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { applyMoves, movesOf, SwarmRefusal } from '../../../proto/index.js'
import { seededRandom } from '../../../servers/kernel/index.js'

const wordsOf = (words: readonly number[]): Uint8Array => new Uint8Array(Uint16Array.from(words).buffer)

test('every pair of float16 words comes back, infinities and numbers that are not', () => {
  const random = seededRandom(1)
  const special = [0, 0x8000, 1, 0x8001, 0x3ff, 0x7c00, 0xfc00, 0x7fff, 0xffff, 0x7bff, 0xfbff, 0x3c00]
  const earlier = special.flatMap((word) => special.map(() => word))
  const later = special.flatMap(() => special)
  for (let i = 0; i < 50_000; i++) {
    earlier.push(random.int(0, 0xffff))
    later.push(random.int(0, 0xffff))
  }
  const [from, to] = [wordsOf(earlier), wordsOf(later)]
  assert.equal(applyMoves(from, movesOf(from, to)), to)
})

test('blocks of any length come back, also of an odd one', () => {
  const random = seededRandom(2)
  for (const length of [0, 1, 2, 3, 64, 1001]) {
    const [from, to] = [0, 1].map(() => Uint8Array.from({ length }, () => random.int(0, 255)))
    assert.equal(applyMoves(from!, movesOf(from!, to!)), to!)
  }
})

test('a step to the next float16 is the move 1 or 2 over all exponents and both signs', () => {
  const earlier = [0x3c00, 0xbc00, 0x0400, 0x8400, 0x3bff, 0x0000]
  const up = wordsOf(earlier.map((word) => word + 1))
  const moves = movesOf(wordsOf(earlier), up)
  assert.equal([...moves.subarray(0, earlier.length)], [0, 0, 0, 0, 0, 0])
  assert.ok(moves.subarray(earlier.length).every((byte) => byte === 1 || byte === 2))
  assert.ok(movesOf(up, up).every((byte) => byte === 0))
})

test('moves of another length are malformed', () => {
  assert.throws(
    () => applyMoves(new Uint8Array(4), new Uint8Array(6)),
    (why: unknown) => why instanceof SwarmRefusal && why.code === 'malformed',
  )
})

test.run()
