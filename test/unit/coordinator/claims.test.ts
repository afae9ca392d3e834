import { readFileSync } from 'node:fs'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { afterLogitErrors, isSteered, type Steering, UNSTEERED } from '../../../coordinator/ledger/steering.js'
import { claimOdds } from '../../../rollout/verification/claim-odds.js'
import { expectedLogitError, parseCalibration } from '../../../rollout/verification/index.js'
import { sumLimit } from '../../../rollout/verification/thresholds.js'
import { DEMO_CALIBRATION, RECORDED_CALIBRATION } from '../../attackers/calibration.js'
import { NO_LOGIT_ERRORS } from '../../support/audit-groups.js'

/**
 * Claims of a key, summed over its groups, by the shipped calibration and by a recorded one. A median group of the shipped one has fewer
 * uncertain tokens, so its means scatter more: `far` is the quantile that an honest key may have in every group.
 */
const CALIBRATIONS = [
  { name: 'shipped', file: DEMO_CALIBRATION, far: '0.9' },
  { name: 'recorded', file: RECORDED_CALIBRATION, far: '0.99' },
] as const

const repeated = (mean: number, groups = 30): number[] => Array.from({ length: groups }, () => mean)

for (const { name, file, far } of CALIBRATIONS) {
  const calibration = parseCalibration(readFileSync(file, 'utf8'))
  const { claims } = expectedLogitError(calibration)
  const { level, all } = calibration.thresholds
  /** Sensitivity of a median group. */
  const median = calibration.honest.sensitivity!['0.5']!
  const mostOfGroup = sumLimit(all.deviation, median, all.farClaim, level) / median

  /** @param means  mean deviation of each group, in nats per unit of sensitivity */
  const keyOf = (means: readonly number[]) => {
    let steering: Steering = UNSTEERED
    let [heldAt, quarantinedAt]: (number | null)[] = [null, null]
    for (const [i, mean] of means.entries()) {
      const odds = claimOdds(mean * median, median, claims)
      steering = afterLogitErrors(steering, { ...NO_LOGIT_ERRORS, claimOdds: odds })
      if (steering.isHeldBack) heldAt ??= i + 1
      if (isSteered(steering)) quarantinedAt ??= i + 1
    }
    return { heldAt, quarantinedAt }
  }

  test(`${name}: a key whose claims are just within the limit of every group is held back within three groups`, () => {
    const { heldAt, quarantinedAt } = keyOf(repeated(mostOfGroup * 0.999))
    assert.ok(heldAt! <= 2, `held back at group ${heldAt}`)
    assert.ok(quarantinedAt! <= 5, `in quarantine at group ${quarantinedAt}`)
  })

  test(`${name}: no honest key is held back, not even one whose every group is far off, or one in a hundred the farthest`, () => {
    const means = calibration.honest['mean deviation, nats']!
    assert.equal(keyOf(repeated(means[far]!, 10_000)), { heldAt: null, quarantinedAt: null })
    const someFarthest = Array.from({ length: 10_000 }, (_, i) => (i % 100 === 0 ? means.max! : claims.usual))
    assert.equal(keyOf(someFarthest), { heldAt: null, quarantinedAt: null })
  })

  test(`${name}: a machine that rounds twice as much as the calibrating one is not held back`, () => {
    assert.equal(keyOf(repeated(2 * claims.usual, 10_000)), { heldAt: null, quarantinedAt: null })
  })

  test(`${name}: honest groups outweigh a doubt`, () => {
    let steering: Steering = UNSTEERED
    for (const mean of [mostOfGroup, mostOfGroup, ...repeated(claims.usual, 200)])
      steering = afterLogitErrors(steering, {
        ...NO_LOGIT_ERRORS,
        claimOdds: Math.min(8, claimOdds(mean * median, median, claims)),
      })
    assert.is(steering.isHeldBack, false)
  })
}

test.run()
