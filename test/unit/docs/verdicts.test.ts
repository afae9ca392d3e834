import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { REFUSALS } from '../../../proto/index.js'
import { describeRefusals } from '../../../rollout/verification/describe-refusals.js'
import { checkout } from '../../support/checkout.js'

const test = suite('the description of refusals')

test('docs/reference/verdicts.md is current', () => {
  const written = readFileSync(join(checkout, 'docs', 'reference', 'verdicts.md'), 'utf8')
  assert.ok(written === describeRefusals(), 'docs/reference/verdicts.md is out of date: run npm run docs')
})

test('every code stands in exactly one table, with its meaning and what it costs', () => {
  const text = describeRefusals()
  for (const [code, { meaning, consequence }] of Object.entries(REFUSALS)) {
    const rows = text.split('\n').filter((line) => line.startsWith(`| \`${code}\` |`))
    assert.is(rows.length, 1, code)
    assert.ok(rows[0]!.includes(meaning), code)
    for (const named of ['quarantine', 'exclusion'])
      assert.is(rows[0]!.endsWith(`| ${named} |`), consequence === named, code)
  }
})

test.run()
