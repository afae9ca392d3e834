import * as fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { fitLogitErrorTail } from '../../../rollout/verification/logit-error-tail.js'
import type { GroupStatistics } from '../../../rollout/verification/sampled-token.js'
import {
  type Calibration,
  CalibrationError,
  describeHonest,
  fitThresholds,
  parseCalibration,
} from '../../../rollout/verification/thresholds.js'
import { measureFalseRefusals, verifyStatistics } from '../../../rollout/verification/verify-statistics.js'
import { seededRandom } from '../../../servers/kernel/index.js'
import { type Cheat, syntheticGroup } from '../../support/audit-groups.js'

const GOAL = 0.005
const HONEST = Array.from({ length: 300 }, (_, i) => syntheticGroup(i))
const THRESHOLDS = fitThresholds(HONEST, GOAL)
const verify = (group: GroupStatistics) => verifyStatistics(group, THRESHOLDS)
const codeOf = (group: GroupStatistics): string => {
  const verdict = verify(group)
  return verdict.accepted ? 'accepted' : verdict.code
}
const fresh = fc.integer({ min: 1000, max: 1_000_000 })

test('honest groups of any length are accepted', () => {
  const property = fc.property(fresh, fc.integer({ min: 1, max: 1200 }), (seed, length) => {
    assert.equal(codeOf(syntheticGroup(seed, length)), 'accepted')
  })
  fc.assert(property, { numRuns: 300, seed: 1 })
})

const CHEATS: readonly (readonly [string, Cheat, string, RegExp])[] = [
  ['claims that are a twentieth of a nat too high', { lift: 0.05 }, 'logprob_mismatch', /off on average/],
  ['claims that are a hundredth of a nat too low', { lift: -0.01 }, 'logprob_mismatch', /off on average/],
  ['draws of its own', { otherDraws: 1 }, 'sampler_mismatch', /seeds? do(es)? not draw/],
  ['one argument token that was replaced', { edits: 1 }, 'sampler_mismatch', /the seeds do not draw \d+ of 600 tokens/],
]
for (const [what, cheat, code, sentence] of CHEATS) {
  test(`a group with ${what} is refused as ${code}`, () => {
    for (let seed = 5000; seed < 5100; seed++) {
      const verdict = verify(syntheticGroup(seed, 600, cheat))
      assert.equal(verdict.accepted, false)
      if (!verdict.accepted) {
        assert.equal(verdict.code, code)
        assert.match(verdict.detail, sentence)
        assert.ok(Buffer.byteLength(verdict.detail) <= 256)
      }
    }
  })
}

test('an end is implausible when its probability, over all tokens of the group, is below the level', () => {
  const honest = syntheticGroup(6000)
  const level = THRESHOLDS.level / honest.all.tokens
  assert.equal(codeOf({ ...honest, leastEnd: level * 1.01 }), 'accepted')
  const verdict = verify({ ...honest, leastEnd: level * 0.99 })
  assert.ok(!verdict.accepted && verdict.code === 'implausible_end')
  assert.match(verdict.detail, /ended with a token of probability 9\.\de-7; in 600 tokens/)
})

/**
 * Sums over the claims of an honest group: open choices, the errors of each drawn by itself and with what the group has in common, and
 * here and there one that is far off.
 */
function claimsOf(seed: number, open: number): GroupStatistics {
  const random = seededRandom(seed)
  const unit = (): number => random.int(0, 999_999) / 1e6
  const common = 0.6 + 0.8 * unit()
  const claims = Array.from({ length: open }, () =>
    random.chance(0.001) ? 0.03 + 0.03 * unit() : 0.002 * common * 2 * unit(),
  )
  const deviation = claims.reduce((sum, claim) => sum + claim, 0)
  const bias = claims.reduce((sum, claim) => sum + (random.chance(0.5) ? claim : -claim), 0)
  const { all } = syntheticGroup(1)
  const tokens = { ...all, tokens: 25 * open, sensitivity: open, deviation, bias, claims: claims.sort((a, b) => b - a) }
  const own = { ...tokens, expectedMismatch: open, misses: 0, logitError: 0, logitErrors: [] }
  return { all: own, arguments: { ...own, claims: own.claims.slice(0, 48) }, leastEnd: 1 }
}

test('of honest groups of any length no more are refused for their claims than is allowed, where one of them is far off too', () => {
  const lengths = [1, 2, 3, 5, 8, 13, 25, 50, 100]
  const calibrated = Array.from({ length: 736 }, (_, i) => claimsOf(i, 10 + (i % 40)))
  const fitted = fitThresholds(calibrated, GOAL)
  let refused = 0
  for (const open of lengths)
    for (let seed = 0; seed < 1000; seed++)
      refused += Number(!verifyStatistics(claimsOf(10_000 + 100 * seed + open, open), fitted).accepted)
  // 45 of 9,000 would be the share that is allowed.
  assert.ok(refused <= 45, `${refused}`)
  // One bound for the mean of any number of tokens, as fitted to the calibration's groups, refuses what is honest and short.
  const mean = ({ all }: GroupStatistics): number => (all.deviation + 5 * 0.002) / (all.sensitivity + 5)
  const single = 3 * Math.max(...calibrated.slice(0, 200).map(mean))
  const short = claimsOf(2, 3)
  const worst = { ...short, all: { ...short.all, deviation: 0.0785, claims: [0.055, 0.02, 0.0035] } }
  assert.ok(mean(worst) > Math.min(single, 0.0097))
  assert.ok(verifyStatistics({ ...worst, arguments: worst.all }, fitted).accepted)
})

test('what other policies and forged claims are off by is refused, however few tokens show it', () => {
  const fitted = fitThresholds(
    Array.from({ length: 736 }, (_, i) => claimsOf(i, 10 + (i % 40))),
    GOAL,
  )
  for (const open of [5, 10, 25, 100]) {
    const honest = claimsOf(77, open)
    // A mean of 0.1 nats: what an adapter of one version earlier is off by (docs/explain/attackers.md).
    const other = { ...honest.all, deviation: 0.1 * open, claims: honest.all.claims.map(() => 0.1) }
    const verdict = verifyStatistics({ ...honest, all: other }, fitted)
    assert.ok(!verdict.accepted && verdict.code === 'logprob_mismatch', `${open} open choices`)
  }
})

test('a few misses at near ties are no lie, and as many that needed more are', () => {
  const honest = syntheticGroup(6001)
  const withLogitErrors = (each: number) => ({
    ...honest,
    all: { ...honest.all, misses: 6, logitError: 6 * each, logitErrors: Array.from({ length: 6 }, () => each) },
  })
  assert.equal(codeOf(withLogitErrors(0.0005)), 'accepted')
  assert.equal(codeOf(withLogitErrors(0.05)), 'sampler_mismatch')
})

test('more deviation, bias, misses or logit errors never turn a refusal into an acceptance', () => {
  const property = fc.property(
    fresh,
    fc.record({
      lift: fc.double({ min: -0.02, max: 0.02, noNaN: true }),
      otherDraws: fc.double({ min: 0, max: 0.3, noNaN: true }),
    }),
    fc.double({ min: 1, max: 3, noNaN: true }),
    (seed, cheat, factor) => {
      const group = syntheticGroup(seed, 600, cheat)
      const { all } = group
      const worse = {
        ...group,
        all: {
          ...all,
          deviation: all.deviation * factor,
          claims: all.claims.map((value) => value * factor),
          misses: Math.ceil(all.misses * factor),
          logitError: all.logitError * factor,
          logitErrors: all.logitErrors.map((value) => value * factor),
        },
      }
      if (!verify(group).accepted) assert.equal(verify(worse).accepted, false)
    },
  )
  fc.assert(property, { numRuns: 200, seed: 2 })
})

test('the false refusals are measured on groups that the thresholds have not seen', () => {
  const { measured, byCode } = measureFalseRefusals(HONEST, GOAL, 0.95)
  assert.equal(measured.of, HONEST.length)
  assert.equal(
    Object.values(byCode).reduce((sum, count) => sum + count, 0),
    measured.count,
  )
  assert.ok(measured.share <= GOAL, `${measured.count} of ${measured.of}`)
  // Half of them lie: thresholds fitted with the liars among them would let all pass.
  const split = HONEST.slice(0, 100).map((group, i) => (i % 2 ? syntheticGroup(i, 600, { lift: 0.05 }) : group))
  assert.is(measureFalseRefusals(split, GOAL, 0.95).byCode.logprob_mismatch, 50)
})

function calibration(): Calibration {
  return {
    schema: 5,
    subject: {
      baseSha256: 'a'.repeat(64),
      adapters: ['b'.repeat(64)],
      quantisation: 'f16',
      backend: 'cpu',
      draw: 'gumbel-murmur3',
      nodeLlamaCpp: '3.22.1',
    },
    groups: HONEST.length,
    sampledTokens: 600 * HONEST.length,
    thresholds: THRESHOLDS,
    logitErrorTail: fitLogitErrorTail(HONEST.map(({ all }) => all)),
    canary: null,
    honest: describeHonest(HONEST),
    falseRefusals: { goal: GOAL, confidence: 0.95, ...measureFalseRefusals(HONEST, GOAL, 0.95) },
  }
}

test('a calibration is the same after it was written and read', () => {
  assert.equal(parseCalibration(JSON.stringify(calibration())), calibration())
})

test('a calibration with a field missing, added or out of its range is refused', () => {
  const wrong: readonly ((value: Record<string, unknown>) => void)[] = [
    (value) => delete value.thresholds,
    (value) => {
      value.extra = 1
    },
    (value) => {
      value.thresholds = { ...THRESHOLDS, level: 2 }
    },
    (value) => {
      value.thresholds = {
        ...THRESHOLDS,
        all: { ...THRESHOLDS.all, deviation: { ...THRESHOLDS.all.deviation, usual: -1 } },
      }
    },
    (value) => {
      value.subject = { ...calibration().subject, baseSha256: '../base' }
    },
  ]
  for (const spoil of wrong) {
    const value: Record<string, unknown> = { ...calibration() }
    spoil(value)
    assert.throws(
      () => parseCalibration(JSON.stringify(value)),
      (error: unknown) => error instanceof CalibrationError,
    )
  }
  assert.throws(() => parseCalibration('{'), /bad_calibration/)
})

test('thresholds cannot be fitted to one group', () => {
  assert.throws(() => fitThresholds(HONEST.slice(0, 1), GOAL), /too_few_groups/)
})

test.run()
