import assert from 'node:assert/strict'
import { test } from 'uvu'
import { draws, intervalMiss, mersenneTwister, miss } from '../../../engine/sampler-draws.js'

const NUMPY: readonly (readonly [number, readonly number[]])[] = [
  [0, [0.5928446165166826, 0.8442657442565983, 0.8579456199898299]],
  [1, [0.9971848082302656, 0.9325573613681655, 0.128124447772306]],
  [123456789, [0.9906491405639875, 0.013154497727317877, 0.7238656947178657]],
  [4294967294, [0.10184899170898529, 0.9478975125873301, 0.8289334013947556]],
]

test('the generator is std::mt19937: its 10000th output from seed 5489 is the one the C++ standard names', () => {
  const next = mersenneTwister(5489)
  assert.equal(next(), 3499211612)
  for (let i = 2; i < 10_000; i++) next()
  assert.equal(next(), 4123659995)
})

test('draws equal those of numpy for the same seeds, two words each with the low word first', () => {
  // numpy: bg = MT19937(); bg._legacy_seeding(seed); r = bg.random_raw(6); (r[0::2] + r[1::2] * 2**32) / 2**64
  for (const [seed, expected] of NUMPY) {
    draws(seed, 3).forEach((u, i) => {
      assert.equal(u, expected[i])
    })
  }
})

test('draws are uniform numbers below one', () => {
  const sample = draws(7, 20_000)
  assert.ok(sample.every((u) => u >= 0 && u < 1))
  const mean = sample.reduce((sum, u) => sum + u, 0) / sample.length
  assert.ok(Math.abs(mean - 0.5) < 0.01)
})

test('exactly one token explains a draw, whatever the order of the vocabulary', () => {
  const probabilities = Float64Array.of(0.1, 0.5, 0.15, 0.25)
  const explains = (u: number) => [0, 1, 2, 3].filter((token) => miss(u, probabilities, token) === 0)
  assert.deepEqual(explains(0.2), [1])
  assert.deepEqual(explains(0.6), [3])
  assert.deepEqual(explains(0.8), [2])
  assert.deepEqual(explains(0.95), [0])
})

test('the miss is the distance to the interval, on both sides', () => {
  const probabilities = Float64Array.of(0.1, 0.5, 0.15, 0.25)
  assert.ok(Math.abs(miss(0.4, probabilities, 3) - 0.1) < 1e-12)
  assert.ok(Math.abs(miss(0.8, probabilities, 3) - 0.05) < 1e-12)
  assert.ok(Math.abs(intervalMiss(0.8, { logprob: Math.log(0.25), low: 0.5 }) - 0.05) < 1e-12)
})

test('a token outside the vocabulary is refused', () => {
  assert.throws(() => miss(0.5, Float64Array.of(1), 1), RangeError)
})

test.run()
