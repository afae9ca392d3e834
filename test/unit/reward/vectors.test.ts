import { readFileSync } from 'node:fs'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type LoggedCall, PAPER, type RewardComponents, type ScoredExample } from '../../../rollout/reward/index.js'
import type { OfferedTool } from '../../../servers/kernel/index.js'
import { fixture } from '../../support/checkout.js'

interface Vector {
  name: string
  note: string
  offered: string
  groundTruth: ScoredExample['groundTruth']
  calls: { name: string; arguments?: object; ok: boolean; malformed?: true; raw: string }[]
  expected: { components: RewardComponents | null; total: number; alignment: (number | null)[]; covered: boolean[] }
}

const TOLERANCE = 0.00006
const data = JSON.parse(readFileSync(fixture('reward-vectors.json'), 'utf8')) as {
  toolsets: Record<string, Omit<OfferedTool, 'description'>[]>
  vectors: Vector[]
}

const exampleOf = (vector: Vector): ScoredExample => ({
  offered: data.toolsets[vector.offered]!.map((tool) => ({ ...tool, description: '' })),
  groundTruth: vector.groundTruth,
})
const logOf = (vector: Vector): LoggedCall[] =>
  vector.calls.map((call) => (call.malformed ? call : { ...call, arguments: call.arguments ?? {} })) as LoggedCall[]
const near = (actual: number, expected: number, what: string): void =>
  assert.ok(Math.abs(actual - expected) <= TOLERANCE, `${what}: ${actual} instead of ${expected}`)

for (const vector of data.vectors) {
  test(`the reward vector "${vector.name}" scores as specified: ${vector.note}`, () => {
    const actual = PAPER.score(exampleOf(vector), logOf(vector))
    near(actual.total, vector.expected.total, 'total')
    assert.is(actual.components === null, vector.expected.components === null)
    for (const [name, value] of Object.entries(vector.expected.components ?? {})) {
      near(actual.components![name as keyof RewardComponents], value, name)
    }
    assert.equal(actual.alignment, vector.expected.alignment)
    assert.equal(actual.covered, vector.expected.covered)
  })
}

test('every row of the vector file was read', () => {
  assert.is(data.vectors.length, 48)
})

test.run()
