import { parquetReadObjects } from 'hyparquet'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { NodeReport } from '../../../coordinator/report/node-report.js'
import { csvOf, nodeTable, parquetOf, versionTable } from '../../../coordinator/report/run-tables.js'
import type { VersionReport } from '../../../coordinator/report/version-report.js'

const SCORE = {
  ...{ tasks: 50, tooLong: 0, reward: { mean: 0.75, stderr: 0.05 }, solved: { mean: 0.5, stderr: 0.07 } },
  ...{ calls: 2.5, callsDue: 2 },
}
const first: VersionReport = {
  ...{ version: 0, publishedAtMs: 0, adapterSha256: 'ab', skipped: false, skippedFor: null, withdrawn: false },
  ...{
    step: null,
    staleness: null,
    stats: {},
    accepted: 2,
    zeroVariance: 1,
    refused: 0,
    left: {},
    reward: 0.5,
    parts: { done: 0.4 },
  },
  ...{ solved: 0.25, calls: 3, tokens: 900, heldOut: null, rederived: null },
}
const second: VersionReport = {
  ...first,
  version: 1,
  step: 1,
  stats: { loss: -0.5 },
  parts: {},
  reward: null,
  heldOut: SCORE,
}

const bufferOf = (bytes: Uint8Array) => ({
  byteLength: bytes.length,
  slice: (from: number, to = bytes.length) => bytes.slice(from, to).buffer,
})

test('a table is the same as CSV and as Parquet, with a column for all that any row has', async () => {
  const table = versionTable([first, second])
  const rows = (await parquetReadObjects({ file: bufferOf(parquetOf(table)) })) as Record<string, unknown>[]
  assert.equal(
    rows.map((row) => [
      row.version,
      row.publishedAt,
      row.skipped,
      row.reward,
      row['reward.done'],
      row['step.loss'],
      row['heldOut.reward'],
      row['heldOut.rewardStderr'],
    ]),
    [
      [0, '1970-01-01T00:00:00.000Z', false, 0.5, 0.4, null, null, null],
      [1, '1970-01-01T00:00:00.000Z', false, null, null, -0.5, 0.75, 0.05],
    ],
  )
  const [header, ...lines] = csvOf(table).trim().split('\n')
  assert.equal(header!.split(','), Object.keys(table[0]!))
  assert.equal(
    lines.map((line) => line.split(',').length),
    [Object.keys(table[0]!).length, Object.keys(table[0]!).length],
  )
})

test('what volunteers call themselves is no formula in a spreadsheet', () => {
  const node: NodeReport = {
    ...{
      node: 'key',
      registeredAtMs: 0,
      lastSeenAtMs: 0,
      backend: null,
      agent: '@prove',
      team: '=HYPERLINK("x")',
      left: null,
    },
    ...{ openLeases: 0, accepted: 0, zeroVariance: 0, refused: new Map(), abandoned: 0, credit: -1, tokens: 0 },
    ...{
      tokensPerSecond: null,
      deliveredTokensPerSecond: null,
      audits: { all: 0, failed: 0 },
      reputation: { kind: 'new' },
    },
  }
  const [, line] = csvOf(nodeTable([node])).split('\n')
  assert.match(line!, /"'=HYPERLINK/)
  assert.match(line!, /'@prove/)
  assert.match(line!, /,-1,/)
})

test('a run without versions and keys is an empty table', async () => {
  assert.is(csvOf([]), '')
  assert.equal(await parquetReadObjects({ file: bufferOf(parquetOf([])) }), [])
})

test.run()
