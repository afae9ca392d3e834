import { type MeasuredGroup, short } from './measured-group.js'
import type { GroupStatistics } from './sampled-token.js'

/**
 * Check 7: no turn ended with a token that the policy hardly ever samples there. For any policy, an end of probability p or less occurs
 * anywhere in n tokens with probability n p at most. So the bound needs no calibration.
 */
export function terminationFault({
  statistics: { all, leastEnd },
  thresholds: { level },
}: MeasuredGroup): string | null {
  const chance = Math.min(1, all.tokens * leastEnd)
  if (chance >= level) return null
  return `a turn ended with a token of probability ${short(leastEnd)}; in ${all.tokens} tokens this has probability ${short(chance)}`
}

/** Describes the measurements of check 7 in one sentence. */
export const terminationNumbers = ({ leastEnd }: GroupStatistics): string =>
  `the least likely end of a turn had the probability ${short(leastEnd, 3)}`
