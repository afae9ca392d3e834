import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Standing } from '../../../coordinator/ledger/standing.js'
import { afterRepairs, isSteered, UNSTEERED } from '../../../coordinator/ledger/steering.js'
import { expectedRepair, type RepairSums } from '../../../judging/repair-sums.js'
import { PRIOR, parseCalibration } from '../../../judging/thresholds.js'
import { seededRandom } from '../../../servers/kernel/index.js'
import { checkout } from '../../support/checkout.js'

const DEMO = parseCalibration(readFileSync(join(checkout, 'models', 'demo', 'calibration-f16.json'), 'utf8'))
const { mean, square, largest } = expectedRepair(DEMO)
/** Of a group whose rollouts are as long as the demo model's; half of them earn more than the mean. */
const EVIDENCE = DEMO.honest.evidence!['0.5']!
const UNITS = EVIDENCE + PRIOR

const group = (repair: number, betterRepair: number): RepairSums => ({
  tokens: 590,
  repair,
  expected: mean * UNITS,
  largest: largest * UNITS,
  variance: (square - mean ** 2) * UNITS ** 2,
  betterRepair,
  betterEvidence: 0.5,
})

/** The repairs of an honest group, as the calibration has them, somewhere between two of its quantiles; in one cluster. */
function honestGroup(random: ReturnType<typeof seededRandom>): RepairSums {
  const quantiles = DEMO.honest['mean repair, nats']!
  const steps = ['0.5', '0.9', '0.99', '0.995', 'max'].map((name) => [
    name === 'max' ? 1 : Number(name),
    quantiles[name]!,
  ])
  const share = random.int(0, 999_999) / 1e6
  const at = steps.findIndex(([upTo]) => share < upTo!)
  const [from, to] = [steps[at - 1]?.[1] ?? 0, steps[at]![1]!]
  return group(UNITS * (from + ((to - from) * random.int(0, 1000)) / 1000), random.chance(0.5) ? 1 : 0)
}

/** Audited groups until the key is quarantined. */
function groupsUntilCaught(next: (i: number) => RepairSums, most: number): number {
  const standing = new Standing()
  for (let i = 1; i <= most; i++) {
    standing.accepted(true)
    if (standing.addsUp(next(i), 0)) {
      assert.ok(standing.isQuarantined(0))
      assert.is(standing.streak, 0)
      return i
    }
  }
  return Number.POSITIVE_INFINITY
}

test('half of what one group may be off, group after group, is caught within 20 audits', () => {
  const budget = DEMO.thresholds.all.repair * UNITS
  const caught = [1, 0.7, 0.5].map((part) => groupsUntilCaught(() => group(part * budget, 0.5), 100))
  assert.equal(caught, [10, 14, 20])
})

test('choices that an audit hardly sees, but all of them where they pay, are caught by their direction', () => {
  const caught = groupsUntilCaught(() => group(2 * mean * UNITS, 1), 1000)
  assert.ok(caught < 60, `${caught}`)
})

test('more repair, or more of it in better rollouts, never makes a key less suspect', () => {
  const random = seededRandom(3)
  for (let i = 0; i < 200; i++) {
    const [less, more] = [random.int(0, 1000), random.int(0, 1000)].sort((a, b) => a - b).map((n) => n / 1000)
    const before = { amount: random.int(0, 10), direction: random.int(0, 10) }
    const weak = afterRepairs(before, group(less! * 0.01, 0.5))
    assert.ok(afterRepairs(before, group(more! * 0.01, 0.5)).amount >= weak.amount)
    const blind = afterRepairs(before, group(0.01, less!))
    assert.ok(afterRepairs(before, group(0.01, more!)).direction >= blind.direction)
  }
})

test('honest work is not caught in a year of a group a minute, all of them audited', () => {
  const random = seededRandom(17)
  let steering = UNSTEERED
  let most = 0
  for (let i = 0; i < 525_600; i++) {
    steering = afterRepairs(steering, honestGroup(random))
    most = Math.max(most, steering.amount, steering.direction)
    assert.not(isSteered(steering))
  }
  assert.ok(most < 15, `the worst moment was at ${most} nats, of 18.4 and more`)
})

test('with each factor honest odds grow by nothing on average', () => {
  const random = seededRandom(23)
  const sums = { amount: 0, direction: 0 }
  const groups = 200_000
  // From far above nothing is cut off at the bottom.
  const high = { amount: 100, direction: 100 }
  for (let i = 0; i < groups; i++) {
    const after = afterRepairs(high, honestGroup(random))
    for (const part of ['amount', 'direction'] as const) sums[part] += Math.exp(after[part] - high[part]) / groups
  }
  assert.ok(sums.amount <= 1 && sums.direction <= 1, JSON.stringify(sums))
})

test('after a quarantine the sums begin anew', () => {
  const standing = new Standing()
  const steered = (): number => {
    for (let i = 1; ; i++) if (standing.addsUp(group(0.02, 1), 0)) return i
  }
  assert.is(steered(), steered())
})

test.run()
