import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { auditShare, Reputation } from '../../../coordinator/ledger/reputation.js'
import { afterLogitErrors, isSteered, UNSTEERED } from '../../../coordinator/ledger/steering.js'
import { expectedLogitError, type LogitErrorSums } from '../../../rollout/verification/logit-error-sums.js'
import { LOGIT_ERROR_EDGES, oddsOfSteering } from '../../../rollout/verification/logit-error-tail.js'
import { DRIFT, PRIOR, parseCalibration } from '../../../rollout/verification/thresholds.js'
import { seededRandom } from '../../../servers/kernel/index.js'
import { RECORDED_CALIBRATION } from '../../attackers/calibration.js'
import { checkout } from '../../support/checkout.js'

const RECORDED = parseCalibration(readFileSync(RECORDED_CALIBRATION, 'utf8'))
const { mean, steering: ODDS } = expectedLogitError(RECORDED)
/** Of a group whose rollouts are as long as the demo model's; half of them earn more than the mean. */
const EXPECTED_MISMATCH = RECORDED.honest['expected mismatch']!['0.5']!
/** What the repairs of one group may come to. */
const BUDGET = RECORDED.thresholds.all.logitError * (EXPECTED_MISMATCH + PRIOR)
type Random = ReturnType<typeof seededRandom>
const unit = (random: Random): number => random.int(0, 999_999) / 1e6

const group = (logitErrors: readonly number[], betterLogitError: number): LogitErrorSums => ({
  tokens: 590,
  logitError: logitErrors.reduce((sum, logitError) => sum + logitError, 0),
  expected: mean * (EXPECTED_MISMATCH + PRIOR),
  odds: oddsOfSteering(logitErrors, EXPECTED_MISMATCH, ODDS),
  betterLogitError,
  betterExpectedMismatch: 0.5,
})

/** How many come of things that happen at a rate (Poisson). */
function howMany(random: Random, expected: number): number {
  let [count, chance] = [0, unit(random)]
  while (chance > Math.exp(-expected)) {
    chance *= unit(random)
    count += 1
  }
  return count
}

/**
 * Honest repairs as the calibration bounds them, each as large as its class allows: more and worse than it has seen.
 * @param drift  they are so many times as many, and as large
 */
function honestGroup(random: Random, drift = 1): LogitErrorSums {
  const rates = RECORDED.logitErrorTail.map((rate, i) => drift * (rate - (RECORDED.logitErrorTail[i + 1] ?? 0)))
  const logitErrors = rates.flatMap((rate, i) =>
    Array.from(
      { length: howMany(random, rate * EXPECTED_MISMATCH) },
      () => drift * (LOGIT_ERROR_EDGES[i + 1] ?? 0.5) * 0.999,
    ),
  )
  return group(logitErrors, random.chance(0.5) ? 1 : 0)
}

/** Near ties within a repair of `reach` are spread evenly, two times `reach` for each unit of evidence; a part of them is chosen. */
const steeredLogitErrors = (random: Random, reach: number, part: number): number[] =>
  Array.from({ length: howMany(random, 2 * reach * part * EXPECTED_MISMATCH) }, () => reach * unit(random))

/** A group of one who spends a part of what one group may be off: all near ties within the reach that comes to. */
const spender = (random: Random, part: number): LogitErrorSums =>
  group(steeredLogitErrors(random, Math.sqrt((part * BUDGET) / EXPECTED_MISMATCH), 1), 0.5)

/** What becomes of a key, each of whose groups is audited before it may be trained on. */
interface Fate {
  /** Audited groups until it is held back for the first time, and until it is quarantined. */
  readonly stopped: number
  readonly caught: number
  /** Groups until then that a batch could take: all but those that wait when it is quarantined. */
  readonly trained: number
}

function fateOf(next: () => LogitErrorSums, most: number): Fate {
  const reputation = new Reputation()
  let [stopped, trained, waiting] = [Number.POSITIVE_INFINITY, 0, 0]
  for (let i = 1; i <= most; i++) {
    reputation.accepted(true)
    if (reputation.addsUp(next(), 0)) {
      assert.ok(reputation.isQuarantined(0))
      assert.is(reputation.streak, 0)
      return { stopped: Math.min(stopped, i), caught: i, trained }
    }
    waiting += 1
    if (reputation.isHeldBack) stopped = Math.min(stopped, i)
    else {
      trained += waiting
      waiting = 0
    }
  }
  return { stopped, caught: Number.POSITIVE_INFINITY, trained }
}

const KEYS = 2000

/** Of so many keys the median, and the shares of those that are caught, and of those whose groups are not trained on any more, within three groups. */
function catches(next: (random: Random) => LogitErrorSums, seed: number) {
  const random = seededRandom(seed)
  const fates = Array.from({ length: KEYS }, () => fateOf(() => next(random), 5000))
  const withinThree = (of: 'stopped' | 'caught'): number => fates.filter((one) => one[of] <= 3).length / KEYS
  const sorted = fates.map(({ caught }) => caught).sort((a, b) => a - b)
  const trained = fates.reduce((sum, one) => sum + one.trained, 0) / KEYS
  return { median: sorted[KEYS / 2]!, caught: withinThree('caught'), stopped: withinThree('stopped'), trained }
}

test('who spends what one group may be off is caught within a few groups, and mostly not trained on from the third', () => {
  const keys = [1, 0.7, 0.5, 0.2].map((part, i) => catches((random) => spender(random, part), i))
  const [all, most, half, fifth] = keys
  assert.ok(all!.median <= 3 && most!.median <= 4 && half!.median <= 6 && fifth!.median <= 15)
  assert.ok(all!.stopped >= 0.95 && most!.stopped >= 0.9 && half!.stopped >= 0.8, JSON.stringify(keys))
  const stated = readFileSync(join(checkout, 'docs', 'explain', 'verification.md'), 'utf8').replaceAll('**', '')
  const share = (of: number): string => `${(100 * of).toFixed(0)} %`
  const rows = keys.map(
    ({ stopped, caught, median, trained }) =>
      `| ${share(stopped)} | ${share(caught)} | ${median} | ${trained.toFixed(1)} |`,
  )
  const lacking = rows.filter((row) => !stated.includes(row))
  assert.equal(lacking, [], 'docs/explain/verification.md has them all')
})

/** How often the groups of an honest key begin to wait, and how many do. */
function waits(drift: number, groups: number, seed: number): { holds: number; waited: number } {
  const random = seededRandom(seed)
  let [steering, holds, waited] = [UNSTEERED, 0, 0]
  for (let i = 0; i < groups; i++) {
    const after = afterLogitErrors(steering, honestGroup(random, drift))
    if (after.isHeldBack && !steering.isHeldBack) holds += 1
    if (after.isHeldBack) waited += 1
    steering = after
  }
  return { holds, waited }
}

test('groups of an honest key wait once in thousands of groups, and not for long, also when it is as far off as may be', () => {
  const asCalibrated = waits(1, 500_000, 29)
  assert.ok(asCalibrated.holds <= 10 && asCalibrated.waited <= 100, JSON.stringify(asCalibrated))
  const drifted = waits(DRIFT, 300_000, 31)
  assert.ok(drifted.holds > 0 && drifted.holds <= 150, JSON.stringify(drifted))
  assert.ok(drifted.waited <= 20 * drifted.holds, JSON.stringify(drifted))
})

test('a key waits until honest groups have taken back all that spoke against it, and its groups are audited meanwhile', () => {
  const reputation = new Reputation()
  for (let i = 0; i < 100; i++) reputation.accepted(true)
  const configuration = { probation: 20, leastShare: 0.1 }
  assert.is(auditShare(reputation, configuration), 0.2)
  assert.not(reputation.addsUp(group([0.02, 0.015], 0.5), 0))
  assert.ok(reputation.isHeldBack)
  assert.is(auditShare(reputation, configuration), 1)
  let waited = 0
  for (; reputation.isHeldBack; waited++) reputation.addsUp(group([], 0.5), 0)
  assert.ok(waited >= 5 && waited <= 15, `${waited}`)
  assert.equal([auditShare(reputation, configuration), reputation.doubt, reputation.isQuarantined(0)], [0.2, 0, false])
})

test('what may be chosen for ever is a small part of all near ties', () => {
  const perUnit = [0.002, 0.004, 0.008, 0.012, 0.016, 0.032].map((reach) => {
    // Who takes this part of all ties within the reach is as likely to gain as to lose, by the odds that speak most against it.
    const parts = ODDS.map(({ gains, cost }) => {
      const all = LOGIT_ERROR_EDGES.map(
        (edge, i) => 2 * gains[i]! * Math.max(0, Math.min(reach, LOGIT_ERROR_EDGES[i + 1] ?? 1) - edge),
      )
      return cost / all.reduce((sum, gain) => sum + gain, 0)
    })
    return 2 * reach * Math.min(1, ...parts)
  })
  const tokens = RECORDED.honest['sampled tokens']!['0.5']!
  const most = Math.max(...perUnit)
  // docs/explain/verification.md: 15 in 1,000 units of evidence, 0.6 in 1,000 tokens; all that one group may have are five times as many.
  assert.ok(most < 0.018 && (1000 * most * EXPECTED_MISMATCH) / tokens < 0.75, `${most}`)
  assert.ok(most < (2 * Math.sqrt(BUDGET / EXPECTED_MISMATCH)) / 4)
})

test('choices that an audit hardly sees, but all of them where they pay, are caught by their direction', () => {
  const { caught } = fateOf(() => group([2 * mean * (EXPECTED_MISMATCH + PRIOR)], 1), 1000)
  assert.ok(caught < 60, `${caught}`)
})

test('more logit error, or more of it in better rollouts, never makes a key less suspect', () => {
  const random = seededRandom(3)
  for (let i = 0; i < 200; i++) {
    const [less, more] = [random.int(0, 1000), random.int(0, 1000)].sort((a, b) => a - b).map((n) => n / 1000)
    const amounts = UNSTEERED.amounts.map(() => random.int(0, 10))
    const before = { amounts, direction: random.int(0, 10), claims: 0, isHeldBack: random.chance(0.5) }
    const [weak, strong] = [less!, more!].map((part) => afterLogitErrors(before, group([part * 0.3], 0.5)).amounts)
    assert.ok(strong!.every((nats, way) => nats >= weak![way]!))
    const blind = afterLogitErrors(before, group([0.01], less!))
    assert.ok(afterLogitErrors(before, group([0.01], more!)).direction >= blind.direction)
  }
})

test('honest work is not caught in a year of a group a minute, all of them audited', () => {
  const random = seededRandom(17)
  let steering = UNSTEERED
  let most = 0
  for (let i = 0; i < 525_600; i++) {
    steering = afterLogitErrors(steering, honestGroup(random))
    most = Math.max(most, ...steering.amounts, steering.direction)
    assert.not(isSteered(steering))
  }
  assert.ok(most < 16, `the worst moment was at ${most} nats, of 17.5 and more`)
})

test('with each factor honest odds grow by nothing on average', () => {
  const random = seededRandom(23)
  const groups = 200_000
  // From far above nothing is cut off at the bottom.
  const high = { amounts: UNSTEERED.amounts.map(() => 100), direction: 100, claims: 0, isHeldBack: true }
  const sums = [0, 0, 0, 0, 0]
  for (let i = 0; i < groups; i++) {
    const after = afterLogitErrors(high, honestGroup(random))
    for (const [part, nats] of [...after.amounts, after.direction].entries())
      sums[part]! += Math.exp(nats - 100) / groups
  }
  assert.ok(
    sums.every((sum) => sum <= 1),
    JSON.stringify(sums),
  )
})

test('after a quarantine the sums start from zero', () => {
  const reputation = new Reputation()
  const steered = (): number => {
    for (let i = 1; ; i++) if (reputation.addsUp(group([0.02], 1), 0)) return i
  }
  assert.is(steered(), steered())
})

test('what an earlier version has noted without odds counts by its direction alone', () => {
  const { odds: _, ...earlier } = group([0.5], 1)
  const { amounts, direction } = afterLogitErrors(UNSTEERED, earlier)
  assert.equal(amounts, UNSTEERED.amounts)
  assert.ok(direction > 0)
})

test.run()
