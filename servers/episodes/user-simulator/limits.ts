/** Limits of a user simulator. */
export interface UserSimulatorLimits {
  /** Requests for one message before the embedded rules decide. */
  readonly attempts: number
  /** Time limit of one request in milliseconds. The trainer waits for it, and most HTTP clients give up after one or two minutes. */
  readonly timeoutMs: number
  /** Pause before a retry, in milliseconds. */
  readonly pauseMs: number
  /** Longest pause before a retry, also if the server asks for more (`Retry-After`). */
  readonly longestPauseMs: number
  /** Consecutive failed requests, over all messages, after which there are no more requests. */
  readonly failuresInARow: number
  /** Tokens of one reply. A decision needs ten; the rest is for reasoning models. */
  readonly replyTokens: number
  /** Concurrent requests to a server, which batches them. A model file answers one request at a time. */
  readonly requestsAtATime: number
}

export const USER_SIMULATOR_LIMITS: UserSimulatorLimits = {
  attempts: 2,
  timeoutMs: 30_000,
  pauseMs: 1_000,
  longestPauseMs: 5_000,
  failuresInARow: 20,
  replyTokens: 1_024,
  requestsAtATime: 8,
}

/** Context size of a model file in tokens: instructions, 8,000 characters of a message, 4,000 characters of the user, and a reply. */
export const USER_CONTEXT = 8192
