import type { LoggedCall, RewardBreakdown, RolloutFacts, ScoredExample } from './types.js'

/**
 * A way of turning a rollout into a number, with everything that depends on the choice. A policy names its preset, so
 * what a name means never changes: other weights or another rule are a new preset.
 */
export interface RewardPreset {
  readonly name: string
  /** What it looks at, in one sentence. */
  readonly description: string
  /** The most that a rollout can earn; the ground truth earns exactly this double. */
  readonly maximum: {
    /** Of a task that needs calls. */
    readonly calls: number
    /** Of a task whose right answer is no call. */
    readonly noCall: number
  }
  /** Of the breakdown, in its order. */
  readonly components: readonly string[]
  /** Whether `score` looks at more than the calls: whoever scores must then bring the facts. */
  readonly needsFacts: boolean
  /**
   * The reward of one rollout. Pure; the same inputs give the same doubles on every machine, so verifiers compare with `===`.
   * @param facts  where the preset needs them
   * @throws ExampleError when the example itself is wrong; TypeError when facts are needed and missing
   */
  score(example: ScoredExample, log: readonly LoggedCall[], facts?: RolloutFacts): RewardBreakdown
}
