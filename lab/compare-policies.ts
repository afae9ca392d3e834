import { type Estimate, estimate, type TaskResult } from '../rollout/episode/index.js'
import { REWARD_PRESETS } from '../rollout/reward/index.js'

/** Comparison of two policies on the same tasks. Differences are paired by task. */
export interface Comparison {
  readonly n: number
  readonly before: Estimate
  readonly after: Estimate
  readonly diff: Estimate
  /** The three estimates by reward preset. */
  readonly rewards: Readonly<Record<string, Readonly<Record<'before' | 'after' | 'diff', Estimate>>>>
  readonly solvedBefore: Estimate
  readonly solvedAfter: Estimate
  readonly solvedDiff: Estimate
  readonly callsBefore: number
  readonly callsAfter: number
}

/** Compares two evaluations. @throws RangeError if the evaluations have different tasks */
export function comparePolicies(before: readonly TaskResult[], after: readonly TaskResult[]): Comparison {
  if (before.length !== after.length) throw new RangeError('the two evaluations are not of the same tasks')
  const pairs = before.map((result, i) => {
    const other = after[i]
    if (other?.taskId !== result.taskId) throw new RangeError('the two evaluations are not of the same tasks')
    return [result, other] as const
  })
  return {
    n: pairs.length,
    before: estimate(before.map(({ reward }) => reward)),
    after: estimate(after.map(({ reward }) => reward)),
    diff: estimate(pairs.map(([a, b]) => b.reward - a.reward)),
    rewards: Object.fromEntries(
      [...REWARD_PRESETS.keys()].map((name) => [
        name,
        {
          before: estimate(before.map(({ rewards }) => rewards[name]!)),
          after: estimate(after.map(({ rewards }) => rewards[name]!)),
          diff: estimate(pairs.map(([a, b]) => b.rewards[name]! - a.rewards[name]!)),
        },
      ]),
    ),
    solvedBefore: estimate(before.map(({ solved }) => solved)),
    solvedAfter: estimate(after.map(({ solved }) => solved)),
    solvedDiff: estimate(pairs.map(([a, b]) => b.solved - a.solved)),
    callsBefore: estimate(before.map(({ calls }) => calls)).mean,
    callsAfter: estimate(after.map(({ calls }) => calls)).mean,
  }
}
