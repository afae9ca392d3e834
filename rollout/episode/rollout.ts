import type { Token } from '../engine/types.js'
import type { LoggedCall, RewardBreakdown } from '../reward/index.js'

/** The reason why an episode ended. */
export type EpisodeEnd =
  /** The assistant ended a turn without a call, and the user has no more turns. */
  | 'finished'
  /** A turn reached its token limit without an end token. */
  | 'turn_length'
  | 'rollout_length'
  | 'turn_limit'
  | 'call_limit'

/** One attempt at a task. */
export interface Rollout {
  /** Prompt, sampled and environment tokens, in order. */
  readonly tokens: readonly Token[]
  readonly promptLength: number
  /** Per token: 1 where the policy sampled it, 0 elsewhere. */
  readonly mask: Uint8Array
  /** The sampler's log-probabilities (nats) of the sampled tokens, in order, one for each 1 of the mask. */
  readonly logprobs: readonly number[]
  readonly calls: readonly LoggedCall[]
  /** The environment's answers to the calls: JSON, as long as `calls`. */
  readonly responses: readonly string[]
  /** SHA-256 (hex) over the state hashes of the task's sessions at the end of the episode. */
  readonly stateHash: string
  readonly end: EpisodeEnd
  readonly reward: RewardBreakdown
  /** Whether every ground-truth call was made with equal arguments, in order. */
  readonly solved: boolean
}
