import { readFileSync } from 'node:fs'
import * as fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { expectedLogitError, sumLogitErrors } from '../../../rollout/verification/logit-error-sums.js'
import {
  fitLogitErrorTail,
  LOGIT_ERROR_EDGES,
  oddsOfSteering,
  steeringOdds,
} from '../../../rollout/verification/logit-error-tail.js'
import type { GroupStatistics, SampledToken } from '../../../rollout/verification/sampled-token.js'
import { describeHonest, fitThresholds, PRIOR, parseCalibration } from '../../../rollout/verification/thresholds.js'
import { DEMO_CALIBRATION } from '../../attackers/calibration.js'
import { near, syntheticGroup } from '../../support/audit-groups.js'

const token = (logitError: number, expectedMismatch: number): SampledToken => ({
  claimed: -1,
  logp: -1,
  argument: false,
  end: false,
  logitError,
  expectedMismatch,
})

/** One honest logit error of at least a thousandth of a nat in a hundred units of expected mismatch, and one of ten times that in ten thousand. */
const EXPECTED_TAIL = LOGIT_ERROR_EDGES.map((edge) => (edge < 0.004 ? 1e-2 : edge < 0.016 ? 1e-3 : 1e-4))
const EXPECTED = {
  mean: 0.001,
  steering: steeringOdds(EXPECTED_TAIL, 2),
  claims: { usual: 0.002, within: 0, between: 0, largest: 0.1 },
}
const calibrationOf = (groups: readonly GroupStatistics[]) => ({
  honest: describeHonest(groups),
  groups: groups.length,
  thresholds: fitThresholds(groups, 0.005),
  logitErrorTail: fitLogitErrorTail(groups.map(({ all }) => all)),
})

test('logit errors are summed over the group, and separately for rollouts above the mean reward', () => {
  const tokens = [token(0.01, 1), token(0, 2), token(0.03, 3), token(0, 4)]
  const rollouts = [
    { sampled: 1, reward: 0 },
    { sampled: 2, reward: 1 },
    { sampled: 1, reward: 0.2 },
  ]
  const sums = sumLogitErrors(tokens, rollouts, EXPECTED)
  near(sums.logitError, 0.04, 1e-12)
  near(sums.betterLogitError, 0.75, 1e-12)
  near(sums.betterExpectedMismatch, 0.5, 1e-12)
  near(sums.expected, 0.001 * (10 + PRIOR), 1e-12)
  assert.equal(sums.odds, oddsOfSteering([0.01, 0.03], 10, EXPECTED.steering))
  assert.is(sums.tokens, 4)
})

test('a group without logit errors, or without tokens, has no bias', () => {
  const { betterLogitError, betterExpectedMismatch, logitError } = sumLogitErrors(
    [],
    [{ sampled: 0, reward: 1 }],
    EXPECTED,
  )
  assert.equal([betterLogitError, betterExpectedMismatch, logitError], [0, 0, 0])
})

test('the expected logit error from quantiles is never below that of the honest groups', () => {
  const groups = Array.from({ length: 300 }, (_, i) => syntheticGroup(i))
  const { mean } = expectedLogitError(calibrationOf(groups))
  const own = groups.map(
    ({ all }) => all.logitErrors.reduce((sum, logitError) => sum + logitError, 0) / (all.expectedMismatch + PRIOR),
  )
  const average = own.reduce((sum, value) => sum + value, 0) / own.length
  assert.ok(mean >= average && mean < 4 * average, `${mean}`)
})

test('a calibration without a single miss still expects one, as bad as its thresholds foresee', () => {
  const groups = Array.from({ length: 300 }, (_, i) => syntheticGroup(i)).map((group) => ({
    ...group,
    all: { ...group.all, misses: 0, logitError: 0, logitErrors: [] },
  }))
  const { mean } = expectedLogitError(calibrationOf(groups))
  // A logit error is half of a difference of two errors, and the worst claim shows how large such a difference is.
  const worst = Math.max(...groups.map(({ all }) => all.claims[0]! / 2))
  const expectedMismatch = groups.reduce((sum, { all }) => sum + all.expectedMismatch, 0) / groups.length
  near(mean, worst / (expectedMismatch + PRIOR) / (groups.length + 1), 1e-12)
})

test('the rates of honest logit errors bound the counted ones, decrease, and are positive where none was counted', () => {
  const groups = Array.from({ length: 300 }, (_, i) => syntheticGroup(i).all)
  const tail = fitLogitErrorTail(groups)
  const expectedMismatch = groups.reduce((sum, group) => sum + group.expectedMismatch, 0)
  for (const [i, edge] of LOGIT_ERROR_EDGES.entries()) {
    const found = groups.reduce(
      (sum, { logitErrors }) => sum + logitErrors.filter((logitError) => logitError >= edge).length,
      0,
    )
    assert.ok(tail[i]! > 0 && tail[i]! >= found / expectedMismatch)
    assert.ok(i === 0 || tail[i]! <= tail[i - 1]!)
  }
  // Half as many groups promise less.
  const half = fitLogitErrorTail(groups.slice(0, 150))
  assert.ok(half.at(-1)! > 1.5 * tail.at(-1)!)
})

test('odds of honest logit errors are even on average at the expected rate, and lower below it', () => {
  // Poisson: the mean of the product of the factors is e^(expected mismatch x (sum of rate x (factor - 1) - cost)).
  const growth = (rates: readonly number[], drift: number): number[] =>
    steeringOdds(EXPECTED_TAIL, drift).map(
      ({ gains, cost }) => gains.reduce((sum, gain, i) => sum + rates[i]! * Math.expm1(gain), 0) - cost,
    )
  const between = (tail: readonly number[]): number[] => tail.map((rate, i) => rate - (tail[i + 1] ?? 0))
  for (const nats of growth(between(EXPECTED_TAIL), 1)) near(nats, 0, 1e-12)
  // Twice as many, each twice as large, are what a drift of 2 foresees.
  const drifted = LOGIT_ERROR_EDGES.map((edge) => {
    const at = LOGIT_ERROR_EDGES.findLastIndex((one) => one <= edge / 2)
    return at < 0 ? 2 : 2 * EXPECTED_TAIL[at]!
  })
  for (const nats of growth(between(drifted), 2)) assert.ok(nats <= 1e-12, `${nats}`)
  const property = fc.property(
    fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 15, maxLength: 15 }),
    (parts) => {
      let bound = 1
      const fewer = EXPECTED_TAIL.map((rate, i) => {
        bound = Math.min(bound, parts[i]! * rate)
        return bound
      })
      for (const nats of growth(between(fewer), 1)) assert.ok(nats <= 1e-12, `${nats}`)
    },
  )
  fc.assert(property, { numRuns: 200, seed: 11 })
  // More or larger logit errors never decrease the odds.
  for (const { gains } of steeringOdds(EXPECTED_TAIL, 2))
    for (const [i, gain] of gains.entries()) assert.ok(gain >= (gains[i - 1] ?? 0))
})

test('the calibration of the demo model says what is expected, and one that does not is refused', () => {
  const demo = parseCalibration(readFileSync(DEMO_CALIBRATION, 'utf8'))
  const { mean } = expectedLogitError(demo)
  assert.ok(mean > 0 && mean < demo.thresholds.all.logitError)
  assert.throws(() => expectedLogitError({ ...demo, honest: {} }), /bad_calibration/)
})

test.run()
