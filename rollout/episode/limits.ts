/** Bounds of one rollout. They are part of the policy manifest, so a node and its judge always apply the same ones. */
export interface EpisodeLimits {
  /** Tokens the policy may sample in one assistant turn. */
  readonly maxTurnTokens: number
  /** Tokens of a rollout in all: prompt, sampled and environment tokens. */
  readonly maxRolloutTokens: number
  /** Assistant turns (paper, section 4.1: 10). */
  readonly maxAssistantTurns: number
  /** Call blocks that are read; efficiency has no lower bound, so the runtime must bound the calls (reward specification, 4.3). */
  readonly maxCalls: number
}

export const DEFAULT_LIMITS: EpisodeLimits = {
  maxTurnTokens: 96,
  maxRolloutTokens: 1024,
  maxAssistantTurns: 10,
  maxCalls: 24,
}

/** What a call may be to be one: a group's body must hold its name (`proto/limits.ts`), and whatever reads it may recurse. */
export const CALL_LIMITS = {
  /** Of the tool's name, in UTF-8. */
  nameBytes: 128,
  /** Of the arguments; tools take three levels at most. */
  depth: 64,
} as const
