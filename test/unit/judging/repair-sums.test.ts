import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { SampledToken } from '../../../judging/evidence.js'
import { expectedRepair, sumRepairs } from '../../../judging/repair-sums.js'
import { describeHonest, fitThresholds, PRIOR, parseCalibration } from '../../../judging/thresholds.js'
import { near, syntheticGroup } from '../../support/audit-groups.js'
import { checkout } from '../../support/checkout.js'

const token = (repair: number, evidence: number): SampledToken => ({
  claimed: -1,
  logp: -1,
  argument: false,
  end: false,
  repair,
  evidence,
})

test('repairs are added up over the group, and apart for the rollouts that earned more than the mean', () => {
  const tokens = [token(0.01, 1), token(0, 2), token(0.03, 3), token(0, 4)]
  const rollouts = [
    { sampled: 1, reward: 0 },
    { sampled: 2, reward: 1 },
    { sampled: 1, reward: 0.2 },
  ]
  const sums = sumRepairs(tokens, rollouts, { mean: 0.001, square: 0.000005, largest: 0.01 })
  near(sums.repair, 0.04, 1e-12)
  near(sums.betterRepair, 0.75, 1e-12)
  near(sums.betterEvidence, 0.5, 1e-12)
  near(sums.expected, 0.001 * (10 + PRIOR), 1e-12)
  near(sums.largest, 0.01 * (10 + PRIOR), 1e-12)
  near(sums.variance, 0.000004 * (10 + PRIOR) ** 2, 1e-12)
  assert.is(sums.tokens, 4)
})

test('a group that needs no repair, or says nothing, leans nowhere', () => {
  const expectation = { mean: 0.001, square: 0.000005, largest: 0.01 }
  const { betterRepair, betterEvidence, repair } = sumRepairs([], [{ sampled: 0, reward: 1 }], expectation)
  assert.equal([betterRepair, betterEvidence, repair], [0, 0, 0])
})

test('what quantiles promise of honest repairs is never less than the honest groups needed', () => {
  const groups = Array.from({ length: 300 }, (_, i) => syntheticGroup(i))
  const thresholds = fitThresholds(groups, 0.005)
  const { mean, square, largest } = expectedRepair({
    honest: describeHonest(groups),
    groups: groups.length,
    thresholds,
  })
  const own = groups.map(({ all }) => all.repairs.reduce((sum, repair) => sum + repair, 0) / (all.evidence + PRIOR))
  const average = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length
  assert.ok(mean >= average(own) && mean < 4 * average(own), `${mean}`)
  assert.ok(square >= average(own.map((value) => value ** 2)))
  assert.ok(largest >= Math.max(...own) && largest < thresholds.all.repair)
})

test('a calibration without a single miss still expects one, as bad as its thresholds foresee', () => {
  const groups = Array.from({ length: 300 }, (_, i) => syntheticGroup(i)).map((group) => ({
    ...group,
    all: { ...group.all, misses: 0, repair: 0, repairs: [] },
  }))
  const thresholds = fitThresholds(groups, 0.005)
  const { mean, square, largest } = expectedRepair({
    honest: describeHonest(groups),
    groups: groups.length,
    thresholds,
  })
  // A repair is half of a difference of two errors, and the worst claim shows how large such a difference is.
  const worst = Math.max(...groups.map(({ all }) => all.claims[0]! / 2))
  const evidence = groups.reduce((sum, { all }) => sum + all.evidence, 0) / groups.length
  near(largest, worst / (evidence + PRIOR), 1e-12)
  near(mean, largest / (groups.length + 1), 1e-12)
  near(square, largest ** 2 / (groups.length + 1), 1e-12)
})

test('the calibration of the demo model says what is expected, and one that does not is refused', () => {
  const demo = parseCalibration(readFileSync(join(checkout, 'models', 'demo', 'calibration-f16.json'), 'utf8'))
  const { mean, largest } = expectedRepair(demo)
  assert.ok(mean > 0 && mean < largest && largest < demo.thresholds.all.repair)
  assert.throws(() => expectedRepair({ ...demo, honest: {} }), /bad_calibration/)
})

test.run()
