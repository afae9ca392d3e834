import { type MeasuredGroup, short } from './measured-group.js'
import type { GroupStatistics } from './sampled-token.js'

/**
 * Stage 7: no turn was ended by a token that the policy hardly ever samples there. That an end of probability p or less is
 * sampled anywhere in n tokens has at most the chance n p, whatever the policy: a bound that needs no calibration.
 */
export function terminationFault({
  statistics: { all, leastEnd },
  thresholds: { level },
}: MeasuredGroup): string | null {
  const chance = Math.min(1, all.tokens * leastEnd)
  if (chance >= level) return null
  return `a turn ended by a token of probability ${short(leastEnd)}, in ${all.tokens} tokens a chance of ${short(chance)}`
}

/** What stage 7 has measured of a group, in one sentence. */
export const terminationNumbers = ({ leastEnd }: GroupStatistics): string =>
  `the least likely end of a turn had the probability ${short(leastEnd, 3)}`
