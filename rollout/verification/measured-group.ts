import type { GroupStatistics, TokenStatistics } from './sampled-token.js'
import type { Thresholds, TokenLimits } from './thresholds.js'

/** The statistics of a group from the policy's forward pass, and the thresholds for them. */
export interface MeasuredGroup {
  readonly statistics: GroupStatistics
  readonly thresholds: Thresholds
}

/** Returns a fault of some of a group's tokens, or null. @param where  names these tokens in the sentence */
type TokenTest = (tokens: TokenStatistics, limits: TokenLimits, level: number, where: string) => string | null

/** Returns the first fault that a test finds: of the whole group, then of its argument tokens. */
export function firstFault({ statistics, thresholds }: MeasuredGroup, test: TokenTest): string | null {
  const { level } = thresholds
  return (
    test(statistics.all, thresholds.all, level, '') ??
    test(statistics.arguments, thresholds.arguments, level, ' of tool-call arguments')
  )
}

/** Returns how many of these numbers, largest first, exceed a limit. */
export function beyond(descending: readonly number[], limit: number): number {
  const end = descending.findIndex((value) => value <= limit)
  return end < 0 ? descending.length : end
}

/** Formats a number for a sentence. @param digits  significant digits */
export const short = (value: number, digits = 2): string => String(Number(value.toPrecision(digits)))
export const nats = (value: number, digits?: number): string => `${short(value, digits)} nats`
