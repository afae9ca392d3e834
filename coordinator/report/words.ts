import prettyMs from 'pretty-ms'
import type { HeldOutScore } from './version-report.js'

/** How the operator's commands and pages write numbers and times. */

/** Local time, to the second. The Swedish way of writing it is ISO's, with a blank. */
export const timeOf = (ms: number): string => new Date(ms).toLocaleString('sv')

export const durationOf = (ms: number): string => prettyMs(Math.max(0, ms), { unitCount: 2, secondsDecimalDigits: 0 })

export const numberOf = (value: number | null | undefined, digits = 3): string =>
  value === null || value === undefined ? '-' : value.toFixed(digits)

/** Of a mean over many: it lies within this of the true one in 19 of 20 cases. */
export const marginOf = ({ stderr }: { readonly stderr: number }): number => 1.96 * stderr

/** A score on held-out tasks. */
export const scoreWords = ({ reward, solved, calls, callsDue }: HeldOutScore): string =>
  [
    `reward ${reward.mean.toFixed(3)} ± ${marginOf(reward).toFixed(3)}`,
    `solved ${(100 * solved.mean).toFixed(1)} ± ${(100 * marginOf(solved)).toFixed(1)} %`,
    `${calls.toFixed(1)} calls of ${callsDue.toFixed(1)} needed`,
  ].join(', ')

/** Names of keys and leases are long and differ at their ends and beginnings. */
export const shortKey = (key: string): string => key.slice(-8)
export const shortLease = (leaseId: string): string => leaseId.slice(0, 8)

export const countsOf = (counts: ReadonlyMap<string, number>): string =>
  [...counts]
    .sort(([, a], [, b]) => b - a)
    .map(([name, count]) => `${count} ${name}`)
    .join(', ')
