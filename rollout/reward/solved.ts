import type { GroundTruthCall, LoggedCall } from './types.js'
import { equalValues } from './values.js'

/**
 * Whether a rollout solved its task exactly: every ground-truth call succeeded, with equal arguments (no key more or
 * less), in the ground truth's order. Other calls in between are allowed. With an empty ground truth, no call may be
 * made. The test is stricter than the paper's reward, in which values hardly count.
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
