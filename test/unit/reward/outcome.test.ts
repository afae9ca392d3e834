import * as fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { bestMatching } from '../../../rollout/reward/best-matching.js'
import {
  type GroundTruthCall,
  type LoggedCall,
  rewardPreset,
  type ScoredExample,
  type StateDigests,
} from '../../../rollout/reward/index.js'
import { example, hasTwins, perfectLog, plainFacts, scored } from '../../support/reward-generators.js'

const RUNS = { numRuns: 400, seed: 20261122 }
const { score, maximum } = rewardPreset('outcome')

const tool = (name: string, readOnly: boolean, ...fields: string[]) => ({
  name,
  description: '',
  readOnly,
  inputSchema: { type: 'object', properties: Object.fromEntries(fields.map((field) => [field, {}])) },
})
const offered = [tool('find_bill', true, 'payee', 'limit'), tool('pay', false, 'amount', 'to'), tool('cancel', false)]
const find = { name: 'find_bill', arguments: { payee: 'water' }, ok: true }
const pay = { name: 'pay', arguments: { amount: 40, to: 'water' }, ok: true }
const groundTruth: GroundTruthCall[] = [
  { name: find.name, arguments: find.arguments, after: [], turn: 0 },
  { name: pay.name, arguments: pay.arguments, after: [0], turn: 1 },
]
const task: ScoredExample = { offered, groundTruth }
const right: StateDigests[] = [{ initial: 'a', expected: 'b', actual: 'b' }]
const untouched: StateDigests[] = [{ initial: 'a', expected: 'b', actual: 'a' }]
const wrong: StateDigests[] = [{ initial: 'a', expected: 'b', actual: 'c' }]

/** By hand, from docs/explain/reward.md; the task has two calls, so the budget is three. */
const CASES: readonly [what: string, log: LoggedCall[], states: StateDigests[], total: number, turns?: number[]][] = [
  ['the task as it was asked', [find, pay], right, 1, [0, 1]],
  ['nothing', [], untouched, 0],
  ['the look-up alone', [find], untouched, 0.25],
  [
    'every call failed',
    [
      { ...find, ok: false },
      { ...pay, ok: false },
    ],
    untouched,
    -(0.2 * 2) / 3,
  ],
  ['a failure, then the task', [{ ...find, ok: false }, find, pay], right, 1 - 0.2 / 3],
  ['the payment twice', [find, pay, pay], wrong, 0.5 - 0.25 / 2 - 0.2 / 3],
  ['the look-up twice', [find, find, pay], right, 1 - 0.2 / 3],
  ['a wrong amount', [find, { ...pay, arguments: { amount: 4, to: 'water' } }], wrong, 0.25 - 0.25 / 2 - 0.2 / 3],
  [
    'a look-up with a limit that the user did not name',
    [{ ...find, arguments: { payee: 'water', limit: 1 } }, pay],
    right,
    4 / 3 / 2,
  ],
  [
    'a cancellation that the user did not ask for',
    [find, pay, { name: 'cancel', arguments: {}, ok: true }],
    wrong,
    0.5 - 0.25 / 2 - 0.2 / 3,
  ],
  ['the payment before what it builds on', [pay, find], right, 0.5 - 0.25 / 2 - 0.2 / 3],
  ['the payment before the user asked', [find, pay], right, 0.5 - 0.25 / 2 - 0.2 / 3, [0, 0]],
  ['the look-up later than asked', [find, pay], right, 0.75, [1, 1]],
  ['a block that cannot be read, then the task', [{ malformed: true, raw: '{' }, find, pay], right, 1 - 0.2 / 3],
]
/** The bill is asked for in the first turn, everything else in the second. */
const whenAsked = (log: readonly LoggedCall[]): number[] =>
  log.map((call) => (call.malformed || call.name === find.name ? 0 : 1))

for (const [what, log, states, expected, turns] of CASES) {
  test(`outcome pays for what was done: ${what}`, () => {
    const { total } = score(task, log, { ...plainFacts(log, states), turns: turns ?? whenAsked(log) })
    assert.ok(Math.abs(total - expected) < 1e-12, `${total} instead of ${expected}`)
  })
}

test('where the right answer is no call, a look-up earns nothing and a write costs', () => {
  const silent = { offered, groundTruth: [] }
  assert.is(score(silent, [], plainFacts([])).total, maximum.noCall)
  assert.is(score(silent, [find], plainFacts([find])).total, 0)
  assert.is(score(silent, [{ ...pay, ok: false }], plainFacts([{ ...pay, ok: false }])).total, 0)
  assert.is(score(silent, [find, pay, pay], plainFacts([find, pay, pay])).total, -0.25)
})

const digest = fc.constantFrom('a', 'b')
const anyStates = fc.array(fc.record({ initial: digest, expected: digest, actual: digest }), { maxLength: 3 })

test('nothing but the calls of the task, each once and with success, reaches the maximum', () => {
  fc.assert(
    fc.property(scored, anyStates, ([given, log], states) => {
      const { total, alignment } = score(given, log, plainFacts(log, states))
      assert.ok(total <= maximum.calls)
      if (total < maximum.calls) return
      assert.is(log.length, given.groundTruth.length)
      assert.ok(log.every((call) => !call.malformed && call.ok))
      assert.is(new Set(alignment).size, log.length)
      assert.ok(
        states.every(
          ({ initial, expected, actual }) => actual === expected || (actual === initial && expected === initial),
        ),
      )
    }),
    RUNS,
  )
})

test('whoever does strictly less of the task earns less', () => {
  fc.assert(
    fc.property(
      example.filter(({ groundTruth }) => !hasTwins(groundTruth)),
      fc.nat({ max: 1000 }),
      fc.infiniteStream(fc.boolean()),
      anyStates,
      (given, draw, kept, states) => {
        const log = perfectLog(given.groundTruth).filter(() => kept.next().value)
        fc.pre(log.length > 0)
        const less = log.toSpliced(draw % log.length, 1)
        const [more, fewer] = [score(given, log, plainFacts(log, states)), score(given, less, plainFacts(less, states))]
        assert.ok(fewer.components!.done! <= more.components!.done!)
        if (fewer.components!.done! < more.components!.done!) assert.ok(fewer.total < more.total)
      },
    ),
    RUNS,
  )
})

test('a call that failed, or could not be read, never pays', () => {
  fc.assert(
    fc.property(scored, anyStates, fc.nat({ max: 1000 }), ([given, log], states, draw) => {
      const at = draw % (log.length + 1)
      const truth = given.groundTruth[draw % given.groundTruth.length]!
      const before = score(given, log, plainFacts(log, states)).total
      const failures: LoggedCall[] = [
        { name: truth.name, arguments: truth.arguments, ok: false },
        { malformed: true, raw: '{' },
      ]
      for (const failure of failures) {
        const longer = log.toSpliced(at, 0, failure)
        assert.ok(score(given, longer, plainFacts(longer, states)).total <= before + 1e-12)
      }
    }),
    RUNS,
  )
})

test('a write with other values than asked for is no better than none', () => {
  const amounts = fc.array(
    fc.record({ amount: fc.integer({ min: 38, max: 42 }), to: fc.constantFrom('water', 'gas') }),
    {
      minLength: 1,
      maxLength: 2,
    },
  )
  fc.assert(
    fc.property(amounts, (payments) => {
      const inexact = payments.filter(({ amount, to }) => amount !== 40 || to !== 'water')
      const log = [find, ...inexact.map((args) => ({ ...pay, arguments: args }))]
      assert.ok(
        score(task, log, { ...plainFacts(log, wrong), turns: whenAsked(log) }).total <=
          score(task, [find], plainFacts([find], untouched)).total,
      )
    }),
    RUNS,
  )
})

const weights = fc.tuple(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 0, max: 4 })).chain(([rows, columns]) =>
  fc.array(fc.array(fc.option(fc.integer({ min: 1, max: 8 })), { minLength: columns, maxLength: columns }), {
    minLength: rows,
    maxLength: rows,
  }),
)
/** Tries every matching. */
const best = (table: (number | null)[][], taken: readonly number[] = []): number => {
  const [row, ...rest] = table
  if (!row) return 0
  const options = row.map((weight, at) =>
    weight === null || taken.includes(at) ? 0 : weight + best(rest, [...taken, at]),
  )
  return Math.max(best(rest, taken), ...options)
}

test('the matching is one to one, keeps to what may be matched, and no other has a greater sum', () => {
  fc.assert(
    fc.property(weights, (table) => {
      const columns = bestMatching(table)
      const bound = columns.filter((column) => column !== null)
      assert.is(new Set(bound).size, bound.length)
      const values = columns.map((column, row) => (column === null ? 0 : table[row]![column]))
      assert.not(values.includes(null))
      assert.is(
        values.reduce<number>((sum, value) => sum + value!, 0),
        best(table),
      )
    }),
    RUNS,
  )
})

test.run()
