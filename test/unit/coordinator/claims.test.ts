import { readFileSync } from 'node:fs'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { afterLogitErrors, isSteered, type Steering, UNSTEERED } from '../../../coordinator/ledger/steering.js'
import { claimOdds } from '../../../rollout/verification/claim-odds.js'
import { expectedLogitError, parseCalibration } from '../../../rollout/verification/index.js'
import { sumLimit } from '../../../rollout/verification/thresholds.js'
import { RECORDED_CALIBRATION } from '../../attackers/calibration.js'
import { NO_LOGIT_ERRORS } from '../../support/audit-groups.js'

/** Claims of a key, summed over its groups, by a recorded calibration. */

const calibration = parseCalibration(readFileSync(RECORDED_CALIBRATION, 'utf8'))
const { claims } = expectedLogitError(calibration)
const { level, all } = calibration.thresholds
/** Sensitivity of a median group. */
const MEDIAN = calibration.honest.sensitivity!['0.5']!

/** @param means  mean deviation of each group, in nats per unit of sensitivity */
function keyOf(means: readonly number[], sensitivity = MEDIAN) {
  let steering: Steering = UNSTEERED
  let [heldAt, quarantinedAt]: (number | null)[] = [null, null]
  for (const [i, mean] of means.entries()) {
    const odds = claimOdds(mean * sensitivity, sensitivity, claims)
    steering = afterLogitErrors(steering, { ...NO_LOGIT_ERRORS, claimOdds: odds })
    if (steering.isHeldBack) heldAt ??= i + 1
    if (isSteered(steering)) quarantinedAt ??= i + 1
  }
  return { heldAt, quarantinedAt }
}

const repeated = (mean: number, groups = 30): number[] => Array.from({ length: groups }, () => mean)

test('a key whose claims are just within the limit of every group is held back within three groups', () => {
  const mostOfGroup = sumLimit(all.deviation, MEDIAN, all.farClaim, level) / MEDIAN
  const { heldAt, quarantinedAt } = keyOf(repeated(mostOfGroup * 0.999))
  assert.ok(heldAt! <= 2, `held back at group ${heldAt}`)
  assert.ok(quarantinedAt! <= 5, `in quarantine at group ${quarantinedAt}`)
})

test('no honest key is held back: not even one whose every group is as far off as the worst of the calibration', () => {
  const worst = calibration.honest['mean deviation, nats']!.max!
  const usual = calibration.honest['mean deviation, nats']!['0.99']!
  assert.equal(keyOf(repeated(usual, 10_000)), { heldAt: null, quarantinedAt: null })
  // One group in a hundred is as far off as the worst of 800.
  const means = Array.from({ length: 10_000 }, (_, i) => (i % 100 === 0 ? worst : claims.usual))
  assert.equal(keyOf(means), { heldAt: null, quarantinedAt: null })
})

test('a machine that rounds twice as much as the calibrating one is not held back', () => {
  assert.equal(keyOf(repeated(2 * claims.usual, 10_000)), { heldAt: null, quarantinedAt: null })
})

test('honest groups outweigh a doubt', () => {
  const far = sumLimit(all.deviation, MEDIAN, all.farClaim, level) / MEDIAN
  let steering: Steering = UNSTEERED
  for (const mean of [far, far, ...repeated(claims.usual, 200)])
    steering = afterLogitErrors(steering, {
      ...NO_LOGIT_ERRORS,
      claimOdds: Math.min(8, claimOdds(mean * MEDIAN, MEDIAN, claims)),
    })
  assert.is(steering.isHeldBack, false)
})

test.run()
