import * as fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { intervalOf } from '../../../engine/token-interval.js'

const test = suite('the place of a token in a distribution')
const RUNS = { numRuns: 300, seed: 20260303 }

const near = (actual: number, expected: number, what: string): void =>
  assert.ok(Math.abs(actual - expected) < 1e-6 * Math.max(1, Math.abs(expected)), `${what}: ${actual}, not ${expected}`)

/** Logits, token, draw, and what the trainer's `_chunk_evidence` computed of them. */
const BY_THE_TRAINER: readonly (readonly [number[], number, number, readonly number[]])[] = [
  [[2.0, 1.0, 0.0, -1.0], 0, 0.3, [-0.440189699, 0.0, 0.947536964, 0.616586275, 0.52063907, 0.0]],
  [[2.0, 1.0, 0.0, -1.0], 1, 0.3, [-1.440189699, 0.64391426, 0.947536964, 0.616586275, 0.52063907, 0.5]],
  [[1.0, 0.999, -2.0], 1, 0.2, [-0.718248188, 0.488093551, 0.790638035, 0.213321141, 0.523414839, 0.0005]],
  [[0.5, -0.5, 3.0, 2.9], 2, 0.95, [-0.701670652, 0.0, 0.900660856, 0.402616377, 0.551122439, 0.056652003]],
  [[8.0, 0.0, -1.0], 2, 0.5, [-9.000458767, 0.999876647, 0.004251416, 0.031436986, 0.000916986, 3.843369156]],
]

for (const [logits, token, draw, [logprob, low, entropy, variance, evidence, repair]] of BY_THE_TRAINER) {
  test(`is what the trainer computes, token ${token} by ${draw} of [${logits}]`, () => {
    const place = intervalOf(logits[token]!, logits, draw)
    near(place.logprob, logprob!, 'logprob')
    near(place.low, low!, 'low')
    near(place.entropy, entropy!, 'entropy')
    near(place.variance, variance!, 'variance')
    near(place.evidence, evidence!, 'evidence')
    near(place.repair, repair!, 'repair')
  })
}

test('is unknown in its repair alone where no draw is given, and a forbidden token takes no part', () => {
  const place = intervalOf(1, [1, 0, Number.NEGATIVE_INFINITY], Number.NaN)
  assert.ok(Number.isNaN(place.repair))
  near(place.entropy, intervalOf(1, [1, 0], 0.5).entropy, 'entropy')
})

/** The token that the draw selects, from the likeliest down. */
function selected(logits: readonly number[], draw: number): number {
  const order = logits.map((_, token) => token).sort((a, b) => logits[b]! - logits[a]!)
  const total = logits.reduce((sum, logit) => sum + Math.exp(logit), 0)
  let sum = 0
  for (const token of order) {
    sum += Math.exp(logits[token]!) / total
    if (sum > draw) return token
  }
  return order.at(-1)!
}

test('needs no repair when the draw selects the token, and never more than the largest error that was made', () => {
  const logit = fc.double({ min: -4, max: 4, noNaN: true })
  const size = fc.constantFrom(0.001, 0.1, 1)
  const sample = fc.tuple(
    fc.array(fc.tuple(logit, fc.double({ min: -1, max: 1, noNaN: true })), { minLength: 2, maxLength: 12 }),
    size,
    fc.double({ min: 0, max: 0.999_999, noNaN: true }),
  )
  fc.assert(
    fc.property(sample, ([pairs, scale, draw]) => {
      const own = pairs.map(([value]) => value)
      const others = pairs.map(([value, error]) => value + scale * error)
      const token = selected(others, draw)
      const most = Math.max(...pairs.map(([, error]) => Math.abs(scale * error)))
      assert.ok(intervalOf(own[token]!, own, draw).repair <= most + 1e-6)
      const right = selected(own, draw)
      assert.ok(intervalOf(own[right]!, own, draw).repair < 1e-8)
    }),
    RUNS,
  )
})

test.run()
