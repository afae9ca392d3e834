import { stringify } from 'csv-stringify/sync'
import { type ColumnSource, parquetWriteBuffer } from 'hyparquet-writer'
import { shareInterval } from '../../rollout/episode/index.js'
import type { NodeReport } from './node-report.js'
import type { HeldOutScore, VersionReport } from './version-report.js'

type Cell = string | number | boolean | null

/** Rows with the same columns, for programs that analyse data. */
export type Table = readonly Readonly<Record<string, Cell>>[]

/** Returns one row per version, with a column for each reward component and each number of a step. */
export function versionTable(versions: readonly VersionReport[]): Table {
  const namesOf = (key: 'parts' | 'stats'): string[] =>
    [...new Set(versions.flatMap((one) => Object.keys(one[key])))].sort()
  const [parts, stats] = [namesOf('parts'), namesOf('stats')]
  return versions.map(({ publishedAtMs, parts: own, stats: numbers, heldOut, rederived, left, ...version }) => ({
    publishedAt: new Date(publishedAtMs).toISOString(),
    ...version,
    left: Object.values(left).reduce((sum, count) => sum + count, 0),
    ...heldOutCells(heldOut),
    // Whether the last re-derivation followed from its evidence.
    follows: rederived && rederived.fault === null,
    ...Object.fromEntries(parts.map((name) => [`reward.${name}`, own[name] ?? null])),
    ...Object.fromEntries(stats.map((name) => [`step.${name}`, numbers[name] ?? null])),
  }))
}

/** Returns Wilson's interval: with equal results for all tasks, a standard error of 0 would claim too much. */
function solvedInterval(score: HeldOutScore | null) {
  const interval = score && shareInterval(score.solved.mean, score.tasks)
  return { 'heldOut.solvedLow': interval?.low ?? null, 'heldOut.solvedHigh': interval?.high ?? null }
}

const heldOutCells = (score: HeldOutScore | null) => ({
  'heldOut.tasks': score?.tasks ?? null,
  'heldOut.reward': score?.reward.mean ?? null,
  'heldOut.rewardStderr': score?.reward.stderr ?? null,
  'heldOut.solved': score?.solved.mean ?? null,
  'heldOut.solvedStderr': score?.solved.stderr ?? null,
  ...solvedInterval(score),
  'heldOut.calls': score?.calls ?? null,
})

/** Returns one row per key. */
export function nodeTable(nodes: readonly NodeReport[]): Table {
  return nodes.map(({ registeredAtMs, lastSeenAtMs, refused, audits, reputation, left, ...node }) => ({
    ...node,
    registeredAt: new Date(registeredAtMs).toISOString(),
    lastSeenAt: new Date(lastSeenAtMs).toISOString(),
    refused: [...refused.values()].reduce((sum, count) => sum + count, 0),
    audits: audits.all,
    failedAudits: audits.failed,
    reputation: reputation.kind,
    left: left?.reason ?? null,
  }))
}

/** Writes CSV. Volunteers choose names of teams and programs, so formulas are escaped. */
export const csvOf = (table: Table): string =>
  stringify([...table], { header: true, escape_formulas: true, cast: { boolean: String } })

/** Writes Parquet. Numbers are doubles, and every column is nullable. */
export function parquetOf(table: Table): Uint8Array {
  const columnData = Object.keys(table[0] ?? {}).map((name): ColumnSource => {
    const data = table.map((row) => row[name] ?? null)
    const kinds = new Set(data.filter((cell) => cell !== null).map((cell) => typeof cell))
    const type = kinds.has('string') ? 'STRING' : kinds.has('boolean') ? 'BOOLEAN' : 'DOUBLE'
    return { name, data, type, nullable: true }
  })
  return new Uint8Array(parquetWriteBuffer({ columnData }))
}
