import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { checkout } from '../../support/checkout.js'

const test = suite('the real programs against which interfaces run')

interface Row {
  readonly name: string
  readonly packages?: readonly string[]
  readonly npm?: readonly string[]
  readonly when: 'commit' | 'nightly'
}
const { DOCUMENTS, readRows, versionsOf, withRows } = (await import(
  join(checkout, 'scripts', 'counterparts', 'rows.mjs')
)) as {
  DOCUMENTS: readonly string[]
  readRows: () => Row[]
  versionsOf: (row: Row) => [string, string | undefined][]
  withRows: (text: string, rows: Row[]) => string
}
const rows = readRows()

test('the tables of the documents are those of the rows', () => {
  for (const path of DOCUMENTS) {
    const text = readFileSync(join(checkout, path), 'utf8')
    assert.is(withRows(text, rows), text, `${path} is out of date: run npm run docs`)
  }
})

test('each row pins its packages and has a test', () => {
  assert.is(new Set(rows.map(({ name }) => name)).size, rows.length)
  for (const row of rows) {
    for (const [name, version] of versionsOf(row)) assert.match(version ?? '', /^\d+(\.\d+)+$/, `${row.name}: ${name}`)
    const file = row.npm ? `${row.name}.test.ts` : `test_${row.name.replaceAll('-', '_')}.py`
    assert.ok(existsSync(join(checkout, 'test', 'counterparts', file)), file)
    assert.ok(['commit', 'nightly'].includes(row.when), row.name)
  }
})

test.run()
