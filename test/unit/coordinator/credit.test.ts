import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { accepted, acceptedUnseen } from '../../../coordinator/intake/outcome.js'
import { CREDIT, creditFor } from '../../../coordinator/ledger/credit.js'
import type { Rollout } from '../../../rollout/episode/index.js'
import { AMPLE, groundTruthScript, lendingTask, play, runtimeOf } from '../../support/scripted.js'

const credit = (rewards: readonly number[], late = 0, reward = 'paper'): number => creditFor({ rewards, reward, late })
const reward = fc.double({ min: -1, max: 1.3, noNaN: true })
const group = fc.array(reward, { minLength: 2, maxLength: 64 })

test('noise that writes on to its limit earns little, a short group that the trainer learns from nearly all there is', async () => {
  const runtime = runtimeOf()
  const task = lendingTask()
  const truth = groundTruthScript(task)
  const limits = { ...AMPLE, maxTurnTokens: 500 }
  const playAll = (scripts: readonly string[][]): Promise<Rollout[]> =>
    Promise.all(scripts.map((script) => play(task, script, runtime, limits)))
  const noise = await playAll(Array.from({ length: 8 }, (_, i) => [String.fromCharCode(97 + i).repeat(5000)]))
  const useful = await playAll(
    Array.from({ length: 8 }, (_, i) => (i % 2 === 0 ? truth : ['I cannot do that.', 'Nor that.'])),
  )
  const earned = (rollouts: readonly Rollout[]) => {
    const sampled = rollouts.reduce((sum, { logprobs }) => sum + logprobs.length, 0)
    const seen = { lease: null as never, rollouts, sampled, completions: [], logprobs: [], sketches: [] }
    return accepted(seen, null, credit)
  }
  const [ofNoise, ofUse] = [earned(noise), earned(useful)]
  assert.ok(ofNoise.sampledTokens > 4 * ofUse.sampledTokens, `${ofNoise.sampledTokens}, ${ofUse.sampledTokens}`)
  assert.is(ofNoise.credit, 8 * CREDIT.perRollout.value * CREDIT.zeroVarianceShare.value)
  assert.ok(ofUse.credit > 0.9 * 8 * CREDIT.perRollout.value, String(ofUse.credit))
})

test('an unverified group earns nothing', () => {
  assert.is(acceptedUnseen([1, 1]).credit, 0)
})

test('credit is a whole number, bounded by the group’s size, and never less than that of a zero-variance group', () => {
  fc.assert(
    fc.property(group, (rewards) => {
      const own = credit(rewards)
      assert.ok(Number.isInteger(own) && own <= rewards.length * CREDIT.perRollout.value)
      assert.ok(own >= credit(rewards.map(() => 0)))
    }),
  )
})

test('only how far rewards lie apart counts: not their order, and not how high they are', () => {
  fc.assert(
    fc.property(group, fc.integer({ min: -8, max: 8 }), (rewards, eighths) => {
      // Rounded to eighths, so that moving them is exact.
      const exact = rewards.map((value) => Math.round(8 * value) / 8)
      assert.is(credit(exact.toReversed()), credit(exact))
      assert.is(credit(exact.map((value) => value + eighths / 8)), credit(exact))
    }),
  )
})

test('rewards that lie further apart earn no less, and each version of delay costs a tenth', () => {
  fc.assert(
    fc.property(group, fc.double({ min: 0, max: 1, noNaN: true }), fc.nat({ max: 8 }), (rewards, nearer, late) => {
      const near = rewards.map((value) => nearer * value)
      assert.ok(credit(near) <= credit(rewards))
      assert.ok(Math.abs(credit(rewards, late) - credit(rewards) * CREDIT.freshness.value ** late) <= 1)
    }),
  )
  assert.equal(
    [-1, 0, 1, 2].map((late) => credit([0, 1.3], late)),
    [20, 20, 18, 16],
  )
})

test('half of the preset’s rewards at either end is all there is, whatever the preset', () => {
  assert.is(credit([0, 1.3, 0, 1.3]), 40)
  assert.is(credit([0, 1, 0, 1], 0, 'outcome'), 40)
  assert.ok(credit([0, 1, 0, 1]) < 40)
})

test('the documented numbers of credit are those of the code', () => {
  const text = readFileSync('docs/reference/protocol.md', 'utf8')
  for (const [name, { value, reason }] of Object.entries(CREDIT))
    assert.ok(text.includes(`| \`${name}\` | ${value} | ${reason} |`), name)
})

test.run()
