import type { Episode, Scored } from './play.js'

/**
 * When an episode reports its reward. Some trainers use the reward of the last step, others sum the rewards of all steps.
 * `final`: reports once, at the end, which suits both. `total`: reports the reward so far after each action, for trainers that use the last
 * one. `delta`: reports the change after each action, for trainers that sum.
 */
export const REWARD_SIGNALS = ['final', 'total', 'delta'] as const
export type RewardSignal = (typeof REWARD_SIGNALS)[number]

export interface RewardReport {
  /** Null if the signal reports nothing after this action. */
  readonly reward: number | null
  readonly scored: Scored | null
}

/** Creates the function that reports the reward of an episode. @returns  function to call once after each action */
export function createRewardReporter(episode: Episode, signal: RewardSignal): () => RewardReport {
  let before = episode.actions.length > 0 ? episode.score().total : 0
  return () => {
    if (signal === 'final' && !episode.isOver) return { reward: null, scored: null }
    const scored = episode.score()
    const reward = signal === 'delta' ? scored.total - before : scored.total
    before = scored.total
    return { reward, scored }
  }
}
