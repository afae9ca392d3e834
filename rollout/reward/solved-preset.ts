import { OUTCOME } from './outcome.js'
import type { RewardPreset } from './preset.js'
import { solvedExactly } from './solved.js'
import type { LoggedCall, RewardBreakdown, RolloutFacts, ScoredExample } from './types.js'

/**
 * Reward preset `solved`: half `outcome`, half whether the task is solved exactly. The second half falls with the calls that the task does
 * not need: it is the share of the reference calls in all calls. So most of the reward is for whole solutions without detours, and a group
 * of rollouts that all fail still has differences to learn from.
 */
export const SOLVED: RewardPreset = {
  name: 'solved',
  description: 'half outcome, half a task that is solved exactly; this half falls with needless calls',
  maximum: { calls: 1, noCall: 1 },
  components: [...OUTCOME.components, 'solved'],
  needsFacts: true,
  score,
}

function score(example: ScoredExample, log: readonly LoggedCall[], facts?: RolloutFacts): RewardBreakdown {
  if (!facts) throw new TypeError('the reward solved needs the facts of the rollout: pass final states and texts')
  const outcome = OUTCOME.score(example, log, facts)
  const solved = solvedExactly(example.groundTruth, log)
    ? Math.max(1, example.groundTruth.length) / Math.max(1, log.length)
    : 0
  return {
    ...outcome,
    total: (outcome.total + solved) / 2,
    components: outcome.components && { ...outcome.components, solved },
  }
}
