/** Limits of one rollout. They are part of the policy manifest, so a node and the coordinator apply the same ones. */
export interface EpisodeLimits {
  /** Tokens the policy may sample in one assistant turn. */
  readonly maxTurnTokens: number
  /** Total tokens of a rollout: prompt, sampled and environment tokens. */
  readonly maxRolloutTokens: number
  /** Assistant turns (paper, section 4.1: 10). */
  readonly maxAssistantTurns: number
  /** Call blocks that are parsed. The efficiency component has no lower bound, so the runtime must bound the calls (reward specification, 4.3). */
  readonly maxCalls: number
}

export const DEFAULT_LIMITS: EpisodeLimits = {
  maxTurnTokens: 96,
  maxRolloutTokens: 1024,
  maxAssistantTurns: 10,
  maxCalls: 24,
}

/** Limits of a valid call: its name must fit a group's body (`proto/limits.ts`), and readers of its arguments may recurse. */
export const CALL_LIMITS = {
  /** UTF-8 bytes of the tool's name. */
  nameBytes: 128,
  /** Nesting levels of the arguments; tools need three at most. */
  depth: 64,
  /** Characters of the JSON values that a call takes from earlier results. A result may repeat its call's arguments, so copies could double with each call. */
  boundChars: 16_384,
} as const
