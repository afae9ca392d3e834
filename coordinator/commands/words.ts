import Table from 'cli-table3'
import prettyMs from 'pretty-ms'

/** How the operator's commands write numbers, times and tables. */

/** Local time, to the second. The Swedish way of writing it is ISO's, with a blank. */
export const timeOf = (ms: number): string => new Date(ms).toLocaleString('sv')

export const durationOf = (ms: number): string => prettyMs(Math.max(0, ms), { unitCount: 2, secondsDecimalDigits: 0 })

export const numberOf = (value: number | null | undefined, digits = 3): string =>
  value === null || value === undefined ? '-' : value.toFixed(digits)

/** Names of keys and leases are long and differ at their ends and beginnings. */
export const shortKey = (key: string): string => key.slice(-8)
export const shortLease = (leaseId: string): string => leaseId.slice(0, 8)

export const countsOf = (counts: ReadonlyMap<string, number>): string =>
  [...counts]
    .sort(([, a], [, b]) => b - a)
    .map(([name, count]) => `${count} ${name}`)
    .join(', ')

/** Columns without lines; the first is to the left and the others to the right, but for those that are named. */
export function tableOf(
  columns: readonly { readonly name: string; readonly left?: boolean }[],
  rows: readonly (readonly (string | number)[])[],
): string {
  const none = { 'top-mid': '', 'mid-mid': '', 'bottom-mid': '', 'left-mid': '', 'right-mid': '', middle: '  ' }
  const edges = { top: '', 'top-left': '', 'top-right': '', bottom: '', 'bottom-left': '', 'bottom-right': '' }
  const table = new Table({
    head: columns.map(({ name }) => name),
    colAligns: columns.map(({ left }, i) => (left || i === 0 ? 'left' : 'right')),
    chars: { ...none, ...edges, left: '', right: '', mid: '' },
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
  })
  table.push(...rows.map((row) => [...row]))
  return table.toString().replaceAll(/ +$/gm, '')
}
