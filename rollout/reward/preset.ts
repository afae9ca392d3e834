import type { LoggedCall, RewardBreakdown, RolloutFacts, ScoredExample } from './types.js'

/**
 * A reward preset: a function from a rollout to a number, and its properties. A policy names its preset, so the meaning of a name never
 * changes: other weights or another rule need a new preset.
 */
export interface RewardPreset {
  readonly name: string
  /** The criteria, in one sentence. */
  readonly description: string
  /** Maximal reward of a rollout, which the ground truth earns exactly. */
  readonly maximum: {
    /** For a task that needs calls. */
    readonly calls: number
    /** For a task whose right answer is no call. */
    readonly noCall: number
  }
  /** Names of the breakdown's components, in order. */
  readonly components: readonly string[]
  /** Whether `score` needs facts besides the calls. */
  readonly needsFacts: boolean
  /**
   * Returns the reward of one rollout. The function is pure: equal inputs give equal doubles on every machine, so verification compares
   * with `===`.
   * @param facts  required if `needsFacts`
   * @throws ExampleError for an invalid example; TypeError if facts are needed and missing
   */
  score(example: ScoredExample, log: readonly LoggedCall[], facts?: RolloutFacts): RewardBreakdown
}
