import { readFileSync } from 'node:fs'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { describeLimits } from '../../../proto/describe-limits.js'
import { BLOB_ROLES, ENVELOPE_KINDS, LIMITS, PROTOCOLS, PUBLISHED_FILES, topicsOf } from '../../../proto/index.js'
import { describeChecks } from '../../../rollout/verification/describe-refusals.js'

const text = readFileSync('docs/reference/protocol.md', 'utf8')
/** Rows of the table under a heading, without the head. */
const rowsUnder = (heading: string): string[] => {
  const section = text.split(`## ${heading}\n`)[1]?.split('\n## ')[0] ?? ''
  return section.split('\n').filter((line) => line.startsWith('| `'))
}

test('docs/reference/limits.md is what npm run docs writes, with every limit', () => {
  const written = describeLimits()
  assert.is(readFileSync('docs/reference/limits.md', 'utf8'), written)
  for (const name of Object.keys(LIMITS)) assert.ok(written.includes(`\n| \`${name}\` | `), name)
  assert.ok(written.includes('| `snapshotResponseBytes` | 1,025 KiB |'))
  assert.ok(written.includes('| `requestTimeoutMs` | 15 s |'))
})

test('protocol.md names only limits that there are', () => {
  const named = [...text.matchAll(/`(\w+(?:Bytes|Ms|PerMinute|Sought|Kept|Nodes|Keys|Teams|InFlight|Sources))`/g)]
  assert.equal(
    named.map(([, name]) => name!).filter((name) => !(name in LIMITS)),
    [],
  )
})

test('the documented verification checks are those of the code', () => {
  const section = text.split('\n## Verification\n')[1]!.split('\n## ')[0]!
  assert.equal(
    section.split('\n').filter((line) => /^\| \d /.test(line)),
    describeChecks(),
  )
})

test('the documented names of published files are those of the code', () => {
  const expected = PUBLISHED_FILES.map(
    ({ role, name, inStep }) =>
      `| \`${role}\` | ${inStep === null ? 'written by the coordinator' : `\`${inStep}\``} | \`${name}\` |`,
  )
  assert.equal(rowsUnder('Artifact exchange'), expected)
})

test('every stream, topic, envelope kind and file role is documented', () => {
  const names = [
    ...Object.values(PROTOCOLS),
    ...Object.values(topicsOf('<run>')).map((topic) => topic.replace('/1/0', '/<shards>/<shard>')),
    ...ENVELOPE_KINDS,
    ...BLOB_ROLES,
  ]
  for (const name of names) assert.ok(text.includes(`\`${name}\``), name)
})

test.run()
