import type { Estimate } from './evaluation.js'

/** It holds the true value in 19 of 20 cases. */
export interface Interval {
  readonly low: number
  readonly high: number
}

/** Quantile 0.975 of the standard normal distribution. */
const Z = 1.959964
/** The same of Student's t with 1 and 2 degrees of freedom, where the expansion below is too far off. */
const FEW_DEGREES = [12.7062, 4.30265] as const

/** Sums of equal numbers differ in their last bits; rewards that differ do so by more than this. */
const SAME = 1e-9

/** Whether all values behind an estimate were the same. */
export const areAlike = ({ stderr }: Pick<Estimate, 'stderr'>): boolean => stderr < SAME

/**
 * Of the mean over `n` tasks, by Student's t.
 * @returns  null where all values were the same: they say nothing of how far others lie from them
 */
export function meanInterval({ mean, stderr }: Estimate, n: number): Interval | null {
  if (areAlike({ stderr })) return null
  const margin = studentQuantile(n - 1) * stderr
  return { low: mean - margin, high: mean + margin }
}

/**
 * Of a share of `n` tasks, each of which is solved or not, by Wilson's score (JASA 22, 1927). It holds where all are alike too: of ten
 * tasks none may be solved by a policy that solves one in four.
 * @param share  0 to 1
 */
export function shareInterval(share: number, n: number): Interval {
  const weight = Z ** 2 / n
  const middle = (share + weight / 2) / (1 + weight)
  const margin = (Z / (1 + weight)) * Math.sqrt((share * (1 - share)) / n + weight / (4 * n))
  return { low: Math.max(0, middle - margin), high: Math.min(1, middle + margin) }
}

/** Abramowitz and Stegun, 26.7.5, to its third term; within 1 % from three degrees of freedom on. */
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
