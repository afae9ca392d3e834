import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { wordSpread } from '../../bench/word-spread.js'

const test = suite('how texts repeat one another')
const near = (actual: number, expected: number): void => assert.ok(Math.abs(actual - expected) < 1e-9, `${actual}`)

test('counts pairs and triples of words within texts', () => {
  const { words, distinct2, distinct3 } = wordSpread(['a b c d', 'a b c e'], 100)
  assert.is(words, 8)
  near(distinct2, 4 / 6)
  near(distinct3, 3 / 4)
})

test('finds in the same text all of it, and in two texts what they share', () => {
  near(wordSpread(['put the red book away', 'put the red book away'], 100).selfBleu4, 1)
  // Of 5 words 4, of 4 pairs 3, of 3 triples 2 and of 2 runs of four 1 are those of the other text.
  const shared = (4 / 5) * (3 / 4) * (2 / 3) * (1 / 2)
  near(wordSpread(['put the red book away', 'put the red book down'], 100).selfBleu4, shared ** (1 / 4))
})

test('does not take a text for one of the others', () => {
  const { selfBleu4 } = wordSpread(['show me all my cards', 'book the next free room'], 100)
  near(selfBleu4, ((0.1 / 5) * (0.1 / 4) * (0.1 / 3) * (0.1 / 2)) ** (1 / 4))
})

test('looks at whole texts until there are enough words', () => {
  assert.is(wordSpread(['a b c d', 'e f g h', 'i j k l'], 5).words, 8)
  assert.equal(wordSpread([], 5), { words: 0, distinct2: 0, distinct3: 0, selfBleu4: 0 })
})

test.run()
