/** A mean over tasks. */
export interface Estimate {
  readonly mean: number
  /** Standard error of the mean over tasks. */
  readonly stderr: number
}

/** Returns mean and standard error. @throws RangeError for fewer than two values */
export function estimate(values: readonly number[]): Estimate {
  if (values.length < 2) throw new RangeError(`a standard error needs at least two values, not ${values.length}`)
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1)
  return { mean, stderr: Math.sqrt(variance / values.length) }
}
