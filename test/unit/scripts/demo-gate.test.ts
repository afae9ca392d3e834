import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { checkout } from '../../support/checkout.js'

interface Solved {
  readonly solvedBefore: number
  readonly solvedAfter: number
  readonly solvedDiffStderr: number
  readonly callsAfter: number
  readonly callsReference: number
}
interface Condition {
  readonly met: boolean
  readonly text: string
}

const file = pathToFileURL(join(checkout, 'scripts', 'demo', 'gate.mjs')).href
interface Goal {
  readonly gain: number
  readonly standardErrors: number
  readonly moreCalls: number
  readonly knownLoss: number
}
const { gateOf } = (await import(file)) as { gateOf(goal: Goal, greedy: Solved, greedyKnown: Solved): Condition[] }

const test = suite('the goal of a demo')

const goal: Goal = { gain: 0.1, standardErrors: 6, moreCalls: 0.1, knownLoss: 0.02 }

const good: Solved = {
  solvedBefore: 0.3,
  solvedAfter: 0.6,
  solvedDiffStderr: 0.03,
  callsAfter: 2.7,
  callsReference: 2.6,
}
const known: Solved = { ...good, solvedBefore: 0.95, solvedAfter: 0.94, solvedDiffStderr: 0.01 }
const met = (greedy: Partial<Solved>, other: Partial<Solved> = {}): boolean[] =>
  gateOf(goal, { ...good, ...greedy }, { ...known, ...other }).map((condition) => condition.met)

test('a run that learns and forgets nothing meets every condition', () => {
  assert.equal(met({}), [true, true, true])
})

test('the gain has to be large, and sure', () => {
  assert.equal(met({ solvedAfter: 0.39, solvedDiffStderr: 0.001 }), [false, true, true], 'nine points')
  assert.equal(met({ solvedDiffStderr: 0.06 }), [false, true, true], 'five standard errors')
  assert.equal(met({ solvedAfter: 0.3, solvedDiffStderr: 0 }), [false, true, true], 'no task changed')
})

test('further calls and forgotten environments count', () => {
  assert.equal(met({ callsAfter: 2.9 }), [true, false, true])
  assert.equal(met({}, { solvedAfter: 0.92 }), [true, true, false])
  assert.equal(
    met({}, { solvedBefore: 0.775, solvedAfter: 0.755 }),
    [true, true, true],
    'exactly two points of 200 tasks',
  )
})

test('a condition says the number and what was wanted', () => {
  const [gain, calls, remembered] = gateOf(goal, good, known).map(({ text }) => text)
  assert.is(gain, 'environments to learn +30.0 points at 10.0 standard errors (at least +10.0 at 6)')
  assert.is(calls, "calls per task +3.8 % of the reference solution's (at most +10.0 %)")
  assert.is(remembered, 'known environments -1.0 points (at least -2.0)')
})

test.run()
