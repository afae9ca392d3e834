import type { GroundTruthCall, LoggedCall } from './types.js'
import { equalValues } from './values.js'

/**
 * Whether a rollout solved its task exactly: every ground-truth call was made and succeeded, with equal arguments (no
 * key more or less), in the ground truth's order. Other calls in between do not count against it. For an empty ground
 * truth: no call was made. Stricter than the reward, which hardly looks at values.
 */
export function solvedExactly(truths: readonly GroundTruthCall[], log: readonly LoggedCall[]): boolean {
  if (truths.length === 0) return log.length === 0
  let next = 0
  for (const call of log) {
    const truth = truths[next]
    if (!truth) break
    if (!call.malformed && call.ok && call.name === truth.name && equalValues(call.arguments, truth.arguments)) next++
  }
  return next === truths.length
}
