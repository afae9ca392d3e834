import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { economics, economicsMarkdown } from '../../attackers/economics.js'
import { checkout } from '../../support/checkout.js'

const rows = economics()

test('the table of what cheating brings in docs/explain/attackers.md is what the simulation prints', () => {
  const text = readFileSync(join(checkout, 'docs', 'explain', 'attackers.md'), 'utf8')
  assert.ok(
    text.includes(economicsMarkdown(rows)),
    'out of date: put in what `npm run attackers -- --economics markdown` prints',
  )
})

test('who goes on cheating is excluded or is audited almost always, and who is honest neither', () => {
  for (const { habit, checkedBeforeTraining, delivered, audited, excluded, trainedBad } of rows) {
    if (habit.startsWith('honest')) assert.is(excluded, 0, habit)
    else if (excluded < 0.5) assert.ok(audited / delivered > 0.85, habit)
    assert.ok(trainedBad / delivered < 0.004, habit)
    if (checkedBeforeTraining) assert.is(trainedBad, 0, habit)
  }
})

test.run()
