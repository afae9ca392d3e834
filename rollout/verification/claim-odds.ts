import { DRIFT, type Spread } from './thresholds.js'

/** Law of the sum of |claimed - recomputed| over the tokens of honest groups. */
export interface ClaimLaw extends Spread {
  /** Largest contribution of one token, in nats. */
  readonly largest: number
}

/**
 * Exponent of the test, in units of the largest contribution. Bernstein's bound holds below 3. A higher exponent finds large deviations
 * sooner, and small ones later.
 */
const EXPONENT = 1.5

/**
 * Returns the natural logarithm of the odds that the claims of a group are those of other weights or caches than the announced ones. They are
 * exp(x (sum - mean)) divided by Bernstein's bound of its mean. For honest claims this factor is at most 1 on average, for groups of any
 * length, so the odds of several groups can be added. The allowance for single tokens, which dominates the limit of one group, is paid once per key.
 * @param deviation  sum of |claimed - recomputed| in nats
 * @param sensitivity  of the group, see `TokenStatistics`
 */
export function claimOdds(deviation: number, sensitivity: number, law: ClaimLaw): number {
  const exponent = EXPONENT / law.largest
  const mean = DRIFT * law.usual * sensitivity
  const variance = DRIFT ** 2 * (law.within * sensitivity + law.between * sensitivity ** 2)
  return exponent * (deviation - mean) - (exponent ** 2 * variance) / (2 * (1 - EXPONENT / 3))
}
