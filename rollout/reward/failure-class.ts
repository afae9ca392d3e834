import type { GroundTruthCall, LoggedCall } from './types.js'
import { equalValues } from './values.js'

/**
 * Classes of failed rollouts. Each rollout that did not solve its task exactly (`solvedExactly`) has exactly one.
 *
 * The *needed call* is the first call of the ground truth that was not made in its place. The log contains all calls before it,
 * successful, with equal arguments and in order. The *rest* are the logged calls after the last one of these.
 */
export const FAILURE_CLASSES = [
  /** The task needs calls, and the rollout made none. */
  'no_call',
  /** No call of the rest names the needed tool, and at least one could not be read. */
  'unreadable',
  /** No call of the rest names the needed tool, all were readable, and at least one is not a repetition. */
  'wrong_tool',
  /** A call of the rest names the needed tool, with other arguments. */
  'wrong_arguments',
  /** Every ground-truth call was made successfully with equal arguments, but in another order. */
  'wrong_order',
  /** The rest is empty: all calls up to the needed one were right, and the rollout ended, by itself or by a limit. */
  'stopped_early',
  /**
   * The task needs no call, and the rollout made one. Or the rest only repeats earlier calls of the ground truth. Or the needed call was made with
   * equal arguments and failed, because other calls had changed the environment.
   */
  'extra_calls',
] as const

export type FailureClass = (typeof FAILURE_CLASSES)[number]

/** Returns the class of a failed rollout; `null` if the rollout solved its task exactly. */
export function failureOf(truths: readonly GroundTruthCall[], log: readonly LoggedCall[]): FailureClass | null {
  if (truths.length === 0) return log.length === 0 ? null : 'extra_calls'
  if (log.length === 0) return 'no_call'
  const { made, rest } = progressOf(truths, log)
  const needed = truths[made]
  if (!needed) return null
  if (areAllMade(truths, log)) return 'wrong_order'
  if (rest.length === 0) return 'stopped_early'
  const attempts = rest.filter((call) => !call.malformed && !call.early && call.name === needed.name)
  if (attempts.some((call) => !isSame(needed, call))) return 'wrong_arguments'
  if (attempts.length > 0) return 'extra_calls'
  if (rest.some(({ malformed }) => malformed)) return 'unreadable'
  const earlier = truths.slice(0, made)
  return rest.every((call) => earlier.some((truth) => isSame(truth, call))) ? 'extra_calls' : 'wrong_tool'
}

/** Returns the number of ground-truth calls that were made in their place, and the logged calls after the last of them. */
function progressOf(truths: readonly GroundTruthCall[], log: readonly LoggedCall[]) {
  let [made, after] = [0, 0]
  for (const [at, call] of log.entries()) {
    const truth = truths[made]
    if (!truth || !hasSucceeded(truth, call)) continue
    made++
    after = at + 1
  }
  return { made, rest: log.slice(after) }
}

/** Whether the log contains each ground-truth call, successful and with equal arguments, in any order. */
function areAllMade(truths: readonly GroundTruthCall[], log: readonly LoggedCall[]): boolean {
  const left = [...log]
  return truths.every((truth) => {
    const at = left.findIndex((call) => hasSucceeded(truth, call))
    if (at !== -1) left.splice(at, 1)
    return at !== -1
  })
}

const hasSucceeded = (truth: GroundTruthCall, call: LoggedCall): boolean =>
  !call.malformed && call.ok && isSame(truth, call)

const isSame = (truth: GroundTruthCall, call: LoggedCall): boolean =>
  !call.malformed && call.name === truth.name && equalValues(call.arguments, truth.arguments)
