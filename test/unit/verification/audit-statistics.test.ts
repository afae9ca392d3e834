import * as fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { binomialCdf, poissonTail, poissonUpper, quantile, shareOf } from '../../../rollout/verification/chances.js'
import { KEPT, measureGroup, type SampledToken } from '../../../rollout/verification/sampled-token.js'
import { near } from '../../support/audit-groups.js'

const RUNS = { numRuns: 200, seed: 20260606 }

test('Poisson tails are those of the tables', () => {
  near(poissonTail(1, 0.5), 1 - Math.exp(-0.5), 1e-12)
  near(poissonTail(3, 1), 0.08030139707139, 1e-12)
  near(poissonTail(20, 3), 1.0 / 1e10, 1e-9)
  assert.equal(poissonTail(0, 0), 1)
  assert.equal(poissonTail(1, 0), 0)
  near(poissonTail(300, 100), 0, 1e-50)
})

test('a Poisson tail falls with the count and rises with the expectation', () => {
  const property = fc.property(
    fc.integer({ min: 0, max: 400 }),
    fc.double({ min: 1e-6, max: 300, noNaN: true }),
    (count, expected) => {
      const here = poissonTail(count, expected)
      assert.ok(here >= 0 && here <= 1)
      assert.ok(poissonTail(count + 1, expected) <= here + 1e-12)
      assert.ok(poissonTail(count, expected * 1.1) >= here - 1e-12)
    },
  )
  fc.assert(property, RUNS)
})

test('the upper bound of a rate is the one whose lower tail is what the confidence leaves', () => {
  near(poissonUpper(0, 0.95), -Math.log(0.05), 1e-9)
  near(poissonUpper(3, 0.95), 7.753656528757, 1e-8)
  near(poissonTail(18, poissonUpper(17, 0.9)), 0.9, 1e-9)
})

test('intervals of shares are those of Clopper and Pearson', () => {
  const { low, high, share } = shareOf(3, 50)
  near(share, 0.06, 1e-12)
  // R: binom.test(3, 50)
  near(low, 0.01254859, 1e-8)
  near(high, 0.16548195, 1e-8)
  near(shareOf(0, 800).high, 1 - 0.025 ** (1 / 800), 1e-9)
  near(shareOf(100, 100).low, 0.025 ** (1 / 100), 1e-9)
  assert.equal([shareOf(0, 9).low, shareOf(9, 9).high], [0, 1])
})

test('an interval holds the share it was measured from, and narrows with more trials', () => {
  const property = fc.property(fc.integer({ min: 1, max: 150 }), fc.nat(), (of, draw) => {
    const count = draw % (of + 1)
    const { low, high, share } = shareOf(count, of)
    assert.ok(low <= share && share <= high)
    assert.ok(shareOf(4 * count, 4 * of).high - shareOf(4 * count, 4 * of).low < high - low + 1e-9)
    if (count > 0) near(1 - binomialCdf(count - 1, of, low), 0.025, 1e-6)
    if (count < of) near(binomialCdf(count, of, high), 0.025, 1e-6)
  })
  fc.assert(property, { ...RUNS, numRuns: 60 })
})

test('a quantile is the smallest value that the share does not exceed', () => {
  assert.equal(quantile([4, 1, 3, 2], 0.5), 2)
  assert.equal(quantile([4, 1, 3, 2], 0.51), 3)
  assert.equal(quantile([4, 1, 3, 2], 1), 4)
  assert.ok(Number.isNaN(quantile([], 0.5)))
})

const unit = fc.double({ min: 0, max: 1, noNaN: true })
const token: fc.Arbitrary<SampledToken> = fc.record({
  claimed: fc.double({ min: -20, max: 0, noNaN: true }),
  logp: fc.double({ min: -20, max: 0, noNaN: true }),
  expectedMismatch: unit,
  logitError: fc.oneof(fc.constant(0), unit),
  argument: fc.boolean(),
  end: fc.boolean(),
})

test('statistics do not depend on the order of the tokens, and sums add up over groups', () => {
  const property = fc.property(fc.array(token, { maxLength: 60 }), fc.array(token, { maxLength: 60 }), (one, two) => {
    const both = measureGroup([...one, ...two])
    const parts = [measureGroup(one), measureGroup(two)] as const
    const turned = measureGroup([...two, ...one].reverse())
    for (const key of ['all', 'arguments'] as const) {
      for (const sum of [
        'tokens',
        'sensitivity',
        'deviation',
        'bias',
        'expectedMismatch',
        'misses',
        'logitError',
      ] as const) {
        near(both[key][sum], parts[0][key][sum] + parts[1][key][sum], 1e-9)
        near(both[key][sum], turned[key][sum], 1e-9)
      }
      assert.equal(both[key].logitErrors, turned[key].logitErrors)
      assert.ok(both[key].claims.length <= KEPT && both[key].logitErrors.length <= KEPT)
      assert.ok(both[key].logitErrors.every((value, i, all) => i === 0 || value <= all[i - 1]!))
    }
    assert.equal(both.leastEnd, Math.min(parts[0].leastEnd, parts[1].leastEnd))
  })
  fc.assert(property, RUNS)
})

test('only argument tokens count among the arguments', () => {
  const property = fc.property(fc.array(token, { maxLength: 60 }), (tokens) => {
    const alone = measureGroup(tokens.filter(({ argument }) => argument))
    assert.equal(measureGroup(tokens).arguments, alone.all)
  })
  fc.assert(property, RUNS)
})

test('the same wrong claim weighs more where the policy was sure', () => {
  const base = { expectedMismatch: 0.1, logitError: 0, argument: false, end: false }
  const claimOf = (logp: number): number => {
    const { all } = measureGroup([{ ...base, logp, claimed: logp - 0.05 }])
    return all.claims[0]!
  }
  assert.ok(claimOf(-1e-6) > 40)
  assert.ok(claimOf(-3) < 0.06)
})

test.run()
