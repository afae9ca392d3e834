import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { readConfig } from '../../../coordinator/settings/config.js'
import { configFields, withFieldTable } from '../../../coordinator/settings/describe-fields.js'
import { FIELD_MEANINGS } from '../../../coordinator/settings/field-meanings.js'
import { checkout } from '../../support/checkout.js'

const text = readFileSync(join(checkout, 'docs', 'reference', 'configuration.md'), 'utf8')

test('the table of fields is what npm run docs writes, and says all of them', () => {
  assert.is(withFieldTable(text), text)
  const rows = [...text.matchAll(/^\| `([\w.]+)` \| /gm)].map(([, field]) => field)
  const fields = configFields().map(({ path }) => path)
  assert.ok(fields.length >= 20)
  assert.equal(rows.slice(0, fields.length), fields)
  assert.equal(Object.keys(FIELD_MEANINGS), fields, 'field-meanings.ts has the order of the schema')
})

test('the smallest documented configuration is read, and nothing can be left out of it', () => {
  const yaml = text.match(/```yaml\n([\s\S]*?)```/)![1]!
  const folder = mkdtempSync(join(tmpdir(), 'prove-config-'))
  const file = join(folder, 'run.yaml')
  try {
    writeFileSync(file, yaml)
    const config = readConfig(file)
    assert.is(config.base.path, join(folder, 'models', 'base.gguf'))
    assert.is(config.groupSize, 8)
    for (const [line] of yaml.matchAll(/^ *(path|name|servers|dataDir):.*$/gm)) {
      writeFileSync(file, yaml.replace(line, ''))
      assert.throws(() => readConfig(file), /run\.yaml/, line)
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test.run()
