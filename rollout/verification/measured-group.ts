import type { GroupStatistics, TokenStatistics } from './sampled-token.js'
import type { Thresholds, TokenLimits } from './thresholds.js'

/** What the forward pass of the policy has shown of a group, and what it is judged by. */
export interface MeasuredGroup {
  readonly statistics: GroupStatistics
  readonly thresholds: Thresholds
}

/** Finds a fault of some of a group's tokens. @param where  which tokens these are, for the sentence */
type TokenTest = (tokens: TokenStatistics, limits: TokenLimits, level: number, where: string) => string | null

/** The first fault that a test finds: of the whole group, then of its argument tokens. */
export function firstFault({ statistics, thresholds }: MeasuredGroup, test: TokenTest): string | null {
  const { level } = thresholds
  return (
    test(statistics.all, thresholds.all, level, '') ??
    test(statistics.arguments, thresholds.arguments, level, ' of tool-call arguments')
  )
}

/** How many of these, largest first, are beyond a limit. */
export function beyond(descending: readonly number[], limit: number): number {
  const end = descending.findIndex((value) => value <= limit)
  return end < 0 ? descending.length : end
}

/** A number for a sentence. @param digits  that count */
export const short = (value: number, digits = 2): string => String(Number(value.toPrecision(digits)))
export const nats = (value: number, digits?: number): string => `${short(value, digits)} nats`
