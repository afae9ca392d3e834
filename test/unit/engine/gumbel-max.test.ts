import { readFileSync } from 'node:fs'
import * as fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { createDrawTable, DRAW, noiseOf, selectAmong } from '../../../rollout/engine/gumbel-max.js'
import { tokenScoreOf } from '../../../rollout/engine/token-score.js'
import type { Draw, Token } from '../../../rollout/engine/types.js'
import { checkout } from '../../support/checkout.js'
import { distributionOf } from '../../support/listed-distribution.js'

const test = suite('Gumbel-max sampling')
const RUNS = { numRuns: 200, seed: 20261122 }

interface Vector extends Draw {
  readonly token: Token
  readonly noise: number
}
const vectors: readonly Vector[] = JSON.parse(readFileSync(`${checkout}/test/fixtures/draws.json`, 'utf8'))

test('the noise is that of the vectors which the trainer is held to', () => {
  assert.ok(vectors.length > 20)
  for (const { seed, position, token, noise } of vectors) {
    assert.ok(Math.abs(noiseOf({ seed, position }, token) - noise) < 1e-13, `${seed} ${position} ${token}`)
  }
})

test('coordinator, trainer and program name the rule alike', () => {
  const contract = JSON.parse(readFileSync(`${checkout}/coordinator/trainer/contract.json`, 'utf8'))
  assert.is(contract.draw, DRAW)
})

const draw = fc.record({ seed: fc.nat({ max: 2 ** 32 - 1 }), position: fc.nat({ max: 5000 }) })
const logits = fc.array(fc.double({ min: -30, max: 30, noNaN: true }), { minLength: 2, maxLength: 300 })

/** What a table must say of a vocabulary, token by token. */
const plainly = (size: number, by: Draw, candidateNoise: number) => {
  const noises = Float64Array.from({ length: size }, (_, token) => noiseOf(by, token))
  return {
    largest: noises.reduce((a, b) => Math.max(a, b)),
    candidates: [...noises.keys()].filter((token) => noises[token]! >= candidateNoise),
  }
}

const sameAsPlainly = (size: number, by: Draw): void => {
  const table = createDrawTable(size)
  const noise = table.noise(by)
  const { largest, candidates } = plainly(size, by, table.candidateNoise)
  assert.equal([...noise.candidates], candidates)
  assert.is(noise.largest, largest)
  assert.equal(
    Array.from({ length: size }, (_, token) => token).filter((token) => noise.isCandidate(token)),
    candidates,
  )
  assert.is(noise.of(size - 1), noiseOf(by, size - 1))
}

test('candidates and largest noise of a vocabulary equal those of its tokens one by one', () => {
  fc.assert(fc.property(fc.integer({ min: 1, max: 3000 }), draw, sameAsPlainly), RUNS)
  fc.assert(fc.property(fc.integer({ min: 1, max: 9 }), draw, sameAsPlainly), RUNS)
  for (const [size, seed, position] of [
    [151_936, 7, 0],
    [151_935, 2 ** 32 - 1, 4999],
    [32_001, 2 ** 31, 1],
  ] as const)
    sameAsPlainly(size, { seed, position })
})

test('the largest noise is known without candidates', () => {
  const table = createDrawTable(1)
  const draws = Array.from({ length: 100 }, (_, seed) => ({ seed, position: 3 }))
  const silent = draws.filter((by) => table.noise(by).candidates.length === 0)
  assert.ok(silent.length > 0 && silent.length < draws.length)
  for (const by of silent) assert.is(table.noise(by).largest, noiseOf(by, 0))
})

test('the noise of a draw stays what it is when the table is asked for another one', () => {
  const table = createDrawTable(2048)
  const first = table.noise({ seed: 1, position: 0 })
  const before = [...first.candidates]
  table.noise({ seed: 2, position: 0 })
  assert.equal([...first.candidates], before)
})

const argmax = (values: readonly number[]): number => values.indexOf(Math.max(...values))
const noisy = (values: readonly number[], by: Draw): number[] =>
  values.map((logit, token) => logit + noiseOf(by, token))
const descending = (values: readonly number[]): [Token, number][] => [...values.entries()].sort(([, a], [, b]) => b - a)

/** How far below the likeliest token another one may be and still be selected. */
const reachOf = (values: readonly number[], by: Draw, largest: number): number => largest - noiseOf(by, argmax(values))

test('the tokens that noise can lift above the likeliest one are enough to find that whose logit and noise are the largest', () => {
  fc.assert(
    fc.property(logits, draw, (values, by) => {
      const table = createDrawTable(values.length)
      const noise = table.noise(by)
      const { largest } = noise
      assert.is(largest, Math.max(...values.map((_, token) => noiseOf(by, token))))
      const near = descending(values).filter(([, logit]) => logit >= Math.max(...values) - reachOf(values, by, largest))
      assert.is(selectAmong(noise, near), argmax(noisy(values, by)))
    }),
    RUNS,
  )
})

test('a temperature says the same as logits that are divided by it, and at 0 the likeliest token is taken', () => {
  fc.assert(
    fc.property(logits, draw, fc.constantFrom(0.25, 0.5, 2, 4), (values, by, temperature) => {
      const table = createDrawTable(values.length)
      const noise = table.noise(by)
      const { largest } = noise
      const reach = temperature * reachOf(values, by, largest)
      const near = descending(values).filter(([, logit]) => logit >= Math.max(...values) - reach)
      const divided = values.map((logit) => logit / temperature)
      assert.is(selectAmong(noise, near, temperature), argmax(noisy(divided, by)))
      assert.is(selectAmong(noise, descending(values), 0), argmax(values))
    }),
    RUNS,
  )
})

test('non-finite logits select nothing', () => {
  const table = createDrawTable(2)
  const by = { seed: 1, position: 0 }
  const none: [Token, number][] = [
    [0, Number.NaN],
    [1, Number.NaN],
  ]
  assert.is(selectAmong(table.noise(by), none), -1)
})

test('the draws of a policy are its samples', () => {
  const p = [0.6, 0.25, 0.1, 0.05]
  const values = p.map(Math.log)
  const table = createDrawTable(p.length)
  const counts = [0, 0, 0, 0]
  const draws = 20_000
  for (let i = 0; i < draws; i++) {
    const by = { seed: (i >> 6) * 0x9e3779b1, position: i & 63 }
    counts[selectAmong(table.noise(by), descending(values))]! += 1
  }
  const chiSquare = counts.reduce(
    (sum, count, token) => sum + (count - draws * p[token]!) ** 2 / (draws * p[token]!),
    0,
  )
  assert.ok(chiSquare < 16.3, `${counts}: a chance below 0.001`)
})

const score = async (token: Token, values: readonly number[], by: Draw | null) => {
  const table = createDrawTable(values.length)
  return await tokenScoreOf(token, distributionOf(values), by && table.noise(by), table)
}

test('a token that its draw selects has no logit error, and no disturbance of the logits causes a larger one than itself', async () => {
  const errors = fc.array(fc.double({ min: -1, max: 1, noNaN: true }), { minLength: 300, maxLength: 300 })
  await fc.assert(
    fc.asyncProperty(logits, errors, fc.constantFrom(0.001, 0.1, 1), draw, async (values, units, size, by) => {
      assert.is((await score(argmax(noisy(values, by)), values, by)).logitError, 0)
      const wrong = values.map((logit, token) => logit + size * units[token]!)
      const { logitError } = await score(argmax(noisy(wrong, by)), values, by)
      const most = size * Math.max(...values.map((_, token) => Math.abs(units[token]!)))
      assert.ok(logitError >= 0 && logitError <= most + 1e-12)
    }),
    RUNS,
  )
})

test('the logit error is half of the distance to the best score; log-probability and expected mismatch are those of the softmax', async () => {
  const by = { seed: 9, position: 4 }
  const values = [0, 1, 2].map((wanted, token) => wanted - noiseOf(by, token))
  assert.is((await score(2, values, by)).logitError, 0)
  assert.ok(Math.abs((await score(0, values, by)).logitError - 1) < 1e-12)
  const {
    logprob,
    expectedMismatch: open,
    logitError,
  } = await score(1, [Math.log(0.5), Math.log(0.3), Math.log(0.2)], null)
  assert.ok(Math.abs(logprob - Math.log(0.3)) < 1e-12)
  assert.ok(Math.abs(open - 0.62) < 1e-12)
  assert.ok(Number.isNaN(logitError))
  const [one, other] = await Promise.all([score(0, [1, 0, Number.NEGATIVE_INFINITY], by), score(0, [1, 0], by)])
  assert.ok(Math.abs(one.expectedMismatch - other.expectedMismatch) < 1e-12)
})

test('the expected mismatch of an uncertain policy, computed in another way, is that of the softmax too', async () => {
  const values = Array.from({ length: 40 }, (_, token) => Math.sin(token))
  const weights = values.map(Math.exp)
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  const squares = weights.reduce((sum, weight) => sum + (weight / total) ** 2, 0)
  assert.ok(Math.abs((await score(3, values, null)).expectedMismatch - (1 - squares)) < 1e-12)
})

test.run()
