import * as fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type GroundTruthCall, type LoggedCall, PAPER } from '../../../rollout/reward/index.js'
import { equalValues } from '../../../rollout/reward/values.js'
import { perfectLog, scored } from '../../support/reward-generators.js'

/** The alignment of the reward specification, section 5, written out step by step as it stands there. */
function specified(truths: readonly GroundTruthCall[], log: readonly LoggedCall[]): (number | null)[] {
  const hasKeys = (truth: GroundTruthCall, call: LoggedCall): boolean =>
    !call.malformed &&
    call.name === truth.name &&
    Object.keys(truth.arguments).every((key) => Object.keys(call.arguments).includes(key))
  const equalCount = (truth: GroundTruthCall, call: LoggedCall): number => {
    if (call.malformed) return 0
    const given = new Map(Object.entries(call.arguments))
    return Object.entries(truth.arguments).filter(([key, value]) => equalValues(value, given.get(key))).length
  }
  const extraCount = (truth: GroundTruthCall, call: LoggedCall): number =>
    call.malformed ? 0 : Object.keys(call.arguments).filter((key) => !Object.keys(truth.arguments).includes(key)).length
  const pass = (early: boolean): (number | null)[] => {
    const bound: (number | null)[] = []
    for (const truth of truths) {
      const open = [...log.keys()].filter((k) => !bound.includes(k) && hasKeys(truth, log[k]!))
      let latest = -1
      for (const j of truth.after) latest = Math.max(latest, bound[j] ?? -1)
      const later = open.filter((k) => k > latest)
      const choice = later.length > 0 ? later : open
      let best: number | null = null
      for (const k of choice) {
        if (best === null) best = k
        else if (!early) {
          const more = equalCount(truth, log[k]!) - equalCount(truth, log[best]!)
          if (more > 0 || (more === 0 && extraCount(truth, log[k]!) < extraCount(truth, log[best]!))) best = k
        }
      }
      bound.push(best)
    }
    return bound
  }
  const coverage = (bound: readonly (number | null)[]): number =>
    truths.filter(({ after }, i) => {
      const at = bound[i]
      if (at === null || at === undefined) return false
      return after.every((j) => bound[j] !== null && bound[j]! < at)
    }).length
  const [byValue, early] = [pass(false), pass(true)]
  return coverage(early) > coverage(byValue) ? early : byValue
}

test('the alignment is the specified one on random logs', () => {
  fc.assert(
    fc.property(scored, ([given, log]) => {
      assert.equal(PAPER.score(given, log).alignment, specified(given.groundTruth, log))
    }),
    { numRuns: 1000, seed: 20260302 },
  )
})

test('the alignment is the specified one on shuffled and repeated ground truths', () => {
  fc.assert(
    fc.property(scored, fc.array(fc.nat({ max: 1000 }), { maxLength: 12 }), ([given], draws) => {
      const perfect = perfectLog(given.groundTruth)
      const log = draws.map((draw) => perfect[draw % perfect.length]!)
      assert.equal(PAPER.score(given, log).alignment, specified(given.groundTruth, log))
    }),
    { numRuns: 1000, seed: 20260302 },
  )
})

const schema = { type: 'object' }
const offered = ['look_up', 'pay'].map((name) => ({ name, description: '', inputSchema: schema, readOnly: false }))
const lookUp = { name: 'look_up', arguments: { who: 'Ada' } }
const pay = { name: 'pay', arguments: { amount: 5 } }
const truth: GroundTruthCall[] = [
  { ...lookUp, after: [] },
  { ...pay, after: [0] },
]
const done = (call: typeof lookUp | typeof pay): LoggedCall => ({ ...call, ok: true })
const other = (amount: number): LoggedCall => ({ name: 'pay', arguments: { amount }, ok: true })

test('a call made too early and again in time is bound to the one in time', () => {
  const { alignment, covered } = PAPER.score({ offered, groundTruth: truth }, [done(pay), done(lookUp), done(pay)])
  assert.equal(alignment, [1, 2])
  assert.equal(covered, [true, true])
})

test('a call in time with a wrong value is preferred to an exact one made too early', () => {
  const { alignment, covered, components } = PAPER.score({ offered, groundTruth: truth }, [
    done(pay),
    done(lookUp),
    other(6),
  ])
  assert.equal(alignment, [1, 2])
  assert.equal(covered, [true, true])
  assert.is(components!.arg, 0.5)
})

test('a call made only too early is kept for its arguments but not covered', () => {
  const { alignment, covered, components } = PAPER.score({ offered, groundTruth: truth }, [done(pay), done(lookUp)])
  assert.equal(alignment, [1, 0])
  assert.equal(covered, [true, false])
  assert.is(components!.arg, 1)
})

test.run()
