import type { Estimate } from './estimate.js'

/** A 95 % confidence interval. */
export interface Interval {
  readonly low: number
  readonly high: number
}

/** Quantile 0.975 of the standard normal distribution. */
const Z = 1.959964
/** Quantile 0.975 of Student's t with 1 and 2 degrees of freedom, where the expansion below is inaccurate. */
const FEW_DEGREES = [12.7062, 4.30265] as const

/** Tolerance for equality: sums of equal numbers differ in their last bits, different rewards by more than this. */
const SAME = 1e-9

/** Whether all values behind an estimate are equal. */
export const areAlike = ({ stderr }: Pick<Estimate, 'stderr'>): boolean => stderr < SAME

/**
 * Returns the interval of a mean over `n` tasks, by Student's t.
 * @returns  null if all values are equal: they show no spread
 */
export function meanInterval({ mean, stderr }: Estimate, n: number): Interval | null {
  if (areAlike({ stderr })) return null
  const margin = studentQuantile(n - 1) * stderr
  return { low: mean - margin, high: mean + margin }
}

/**
 * Returns the interval of a share of `n` tasks, each solved or not, by Wilson's score (JASA 22, 1927). It is valid for shares of 0 and 1
 * too: a policy that solves one task in four may solve none of ten.
 * @param share  0 to 1
 */
export function shareInterval(share: number, n: number): Interval {
  const weight = Z ** 2 / n
  const middle = (share + weight / 2) / (1 + weight)
  const margin = (Z / (1 + weight)) * Math.sqrt((share * (1 - share)) / n + weight / (4 * n))
  return { low: Math.max(0, middle - margin), high: Math.min(1, middle + margin) }
}

/** Returns the quantile of Student's t (Abramowitz and Stegun, 26.7.5, three terms), within 1 % from three degrees of freedom on. */
function studentQuantile(degrees: number): number {
  const few = FEW_DEGREES[degrees - 1]
  if (few !== undefined) return few
  const terms = [
    (Z ** 3 + Z) / 4,
    (5 * Z ** 5 + 16 * Z ** 3 + 3 * Z) / 96,
    (3 * Z ** 7 + 19 * Z ** 5 + 17 * Z ** 3 - 15 * Z) / 384,
  ]
  return terms.reduce((sum, term, i) => sum + term / degrees ** (i + 1), Z)
}
