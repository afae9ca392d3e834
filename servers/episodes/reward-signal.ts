import type { Episode, Scored } from './play.js'

/**
 * When an episode tells its reward, because trainers fold the rewards of an episode's steps differently: some take the last, others
 * add them up. `final`: once, at its end, which is right for both. `total`: after each action what it is worth so far, for those that
 * take the last. `delta`: by how much that has changed, for those that add up.
 */
export const REWARD_SIGNALS = ['final', 'total', 'delta'] as const
export type RewardSignal = (typeof REWARD_SIGNALS)[number]

export interface Delivered {
  /** Null where the signal says nothing now. */
  readonly reward: number | null
  readonly scored: Scored | null
}

/** What is told after each action of an episode. @returns  asked once per action */
export function createTelling(episode: Episode, signal: RewardSignal): () => Delivered {
  let before = episode.actions.length > 0 ? episode.score().total : 0
  return () => {
    if (signal === 'final' && !episode.isOver) return { reward: null, scored: null }
    const scored = episode.score()
    const reward = signal === 'delta' ? scored.total - before : scored.total
    before = scored.total
    return { reward, scored }
  }
}
