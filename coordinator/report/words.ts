import prettyMs from 'pretty-ms'
import { type Estimate, meanInterval, shareInterval } from '../../rollout/episode/index.js'
import type { HeldOutScore } from './version-report.js'

// Numbers and times as the operator's commands and pages write them.

/** Formats local time to the second. The Swedish format is that of ISO 8601, with a space. */
export const timeOf = (ms: number): string => new Date(ms).toLocaleString('sv')

/** Formats a duration with two units. */
export const durationOf = (ms: number): string => prettyMs(Math.max(0, ms), { unitCount: 2, secondsDecimalDigits: 0 })

export function numberOf(value: number | null | undefined, digits = 3): string {
  if (value === null || value === undefined) return '-'
  const text = value.toFixed(digits)
  // Avoids "-0".
  return Number(text) === 0 ? (0).toFixed(digits) : text
}

/** Formats a mean over tasks with its 95 % interval, by Student's t. */
export function meanWords(estimate: Estimate, tasks: number): string {
  const interval = meanInterval(estimate, tasks)
  const mean = estimate.mean.toFixed(3)
  return interval ? `${mean} ± ${(interval.high - estimate.mean).toFixed(3)}` : `${mean} (equal for all ${tasks})`
}

/** Formats a share of tasks with its 95 % interval, by Wilson's score. */
export function shareWords({ mean }: Pick<Estimate, 'mean'>, tasks: number): string {
  const { low, high } = shareInterval(mean, tasks)
  return `${(100 * mean).toFixed(1)} % (${(100 * low).toFixed(1)} to ${(100 * high).toFixed(1)})`
}

/** Formats a score on held-out tasks. */
export const scoreWords = ({ tasks, reward, solved, calls, callsDue }: HeldOutScore): string =>
  [
    `reward ${meanWords(reward, tasks)}`,
    `solved ${shareWords(solved, tasks)}`,
    `${calls.toFixed(1)} calls of ${callsDue.toFixed(1)} needed`,
  ].join(', ')

/** Shorten ids, which differ at the ends of keys and the beginnings of leases. */
export const shortKey = (key: string): string => key.slice(-8)
export const shortLease = (leaseId: string): string => leaseId.slice(0, 8)

export const countsOf = (counts: ReadonlyMap<string, number>): string =>
  [...counts]
    .sort(([, a], [, b]) => b - a)
    .map(([name, count]) => `${count} ${name}`)
    .join(', ')
