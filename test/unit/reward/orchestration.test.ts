import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import {
  type GroundTruthCall,
  type LoggedCall,
  rewardPreset,
  type ScoredExample,
} from '../../../rollout/reward/index.js'
import { checkout } from '../../support/checkout.js'

const { score } = rewardPreset('orchestration')

const tool = (name: string, ...fields: string[]) => ({
  name,
  description: '',
  readOnly: true,
  inputSchema: { type: 'object', properties: Object.fromEntries(fields.map((field) => [field, {}])) },
})
const offered = [tool('find_bill', 'payee', 'limit'), tool('pay', 'amount', 'to'), tool('list_bills'), tool('cancel')]
const find = { name: 'find_bill', arguments: { payee: 'water' }, ok: true }
const pay = { name: 'pay', arguments: { amount: 40, to: 'water' }, ok: true }
const list = { name: 'list_bills', arguments: {}, ok: true }
const task: ScoredExample = {
  offered,
  groundTruth: [
    { name: find.name, arguments: find.arguments, after: [] },
    { name: pay.name, arguments: pay.arguments, after: [0] },
  ],
}

/** By hand: half the mean worth of the calls, half the share of reference calls in order. */
const CASES: readonly [what: string, log: LoggedCall[], atomic: number, orchestration: number][] = [
  ['the task as it was asked', [find, pay], 1, 1],
  ['nothing', [], 0, 0],
  ['the first call alone', [find], 1, 0.5],
  ['the payment alone, without the look-up before it', [pay], 1, 0],
  ['the calls in the wrong order', [pay, find], 1, 0.5],
  ['a wrong amount', [find, { ...pay, arguments: { amount: 4, to: 'water' } }], (1 + (0.66 + 1) / 2) / 2, 1],
  ['an amount as text', [find, { ...pay, arguments: { amount: '40', to: 'water' } }], (1 + (0.495 + 1) / 2) / 2, 1],
  ['a missing argument', [find, { ...pay, arguments: { to: 'water' } }], (1 + (0.495 + 1) / 2) / 2, 1],
  ['one argument too many', [{ ...find, arguments: { payee: 'water', limit: 1 } }, pay], (1 + (0.66 + 1) / 2) / 2, 1],
  ['no arguments', [{ ...find, arguments: {} }, pay], (1 + (0.33 + 1) / 2) / 2, 1],
  ['a failed call', [find, { ...pay, ok: false }], 0.75, 1],
  ['the payment twice, which costs nothing', [find, pay, pay], 1, 1],
  ['another tool', [find, pay, list], 2 / 3, 1],
  ['an unknown tool', [find, pay, { name: 'constructor', arguments: {}, ok: false }], 2 / 3, 1],
  ['a malformed block', [{ malformed: true, raw: '{' }, find, pay], 2 / 3, 1],
  ['a call before its tool is offered', [{ ...find, ok: false, early: true }, pay], 0.5, 0],
]
for (const [what, log, atomic, orchestration] of CASES) {
  test(`orchestration pays for the form and the order of calls: ${what}`, () => {
    const { total, components } = score(task, log)
    assert.ok(Math.abs(components!.atomic! - atomic) < 1e-12, `atomic ${components!.atomic} instead of ${atomic}`)
    assert.is(components!.orchestration, orchestration)
    assert.is(total, 0.5 * components!.atomic! + 0.5 * components!.orchestration!)
  })
}

test('a call is compared with the reference call of its tool that it resembles most', () => {
  const groundTruth: GroundTruthCall[] = [find, { ...find, arguments: { payee: 'gas' } }].map(
    ({ name, arguments: args }) => ({ name, arguments: args, after: [] }),
  )
  const both = groundTruth.map(({ name, arguments: args }) => ({ name, arguments: args, ok: true }))
  assert.is(score({ offered, groundTruth }, both).total, 1)
  // As in the authors' code, one call stands for all reference calls of its tool that need not follow it.
  assert.is(score({ offered, groundTruth }, both.slice(0, 1)).total, 1)
  const chained = groundTruth.map((call, i) => ({ ...call, after: i === 0 ? [] : [0] }))
  assert.is(score({ offered, groundTruth: chained }, both.slice(0, 1)).total, 0.75)
})

test('a reference call without arguments has the right form only without arguments', () => {
  const groundTruth: GroundTruthCall[] = [{ name: 'list_bills', arguments: {}, after: [] }]
  assert.is(score({ offered, groundTruth }, [list]).total, 1)
  const { components } = score({ offered, groundTruth }, [{ ...list, arguments: { page: 1 } }])
  assert.ok(Math.abs(components!.atomic! - (0.33 + 1) / 2) < 1e-12)
})

interface Vector {
  readonly truth: GroundTruthCall[]
  readonly log: { name: string; arguments: GroundTruthCall['arguments']; ok: boolean }[]
  readonly atomic: number
  readonly orchestration: number
  readonly total: number
}

test('where both define a reward, it is the one that the authors’ code computes', () => {
  const file = join(checkout, 'test', 'fixtures', 'reward', 'tool-orchestration-reward.json')
  const { vectors } = JSON.parse(readFileSync(file, 'utf8')) as { vectors: Vector[] }
  assert.ok(vectors.length >= 40)
  for (const { truth, log, atomic, orchestration, total } of vectors) {
    const names = new Set([...truth, ...log].map(({ name }) => name))
    const given = { offered: [...names].map((name) => tool(name)), groundTruth: truth }
    const found = score(given, log)
    for (const [name, is, expected] of [
      ['atomic', found.components!.atomic!, atomic],
      ['orchestration', found.components!.orchestration!, orchestration],
      ['total', found.total, total],
    ] as const)
      assert.ok(
        Math.abs(is - expected) < 1e-12,
        `${name} ${is} instead of ${expected}: ${JSON.stringify({ truth, log })}`,
      )
  }
})

test.run()
