import prettyMs from 'pretty-ms'

/** How the operator's commands and pages write numbers and times. */

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
