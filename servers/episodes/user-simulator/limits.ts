/** What a language model that hears what users are asked may take, and for how long. */
export interface UserSimulatorLimits {
  /** Requests for one message; then the rules decide. */
  readonly attempts: number
  /** Milliseconds for one request: whoever trains waits for it, and clients of HTTP mostly give up after a minute or two. */
  readonly timeoutMs: number
  /** Milliseconds before a request is made again. */
  readonly pauseMs: number
  /** The longest such pause, also when the server asks for more (`Retry-After`). */
  readonly longestPauseMs: number
  /** Failed requests in a row, over all messages, after which the model is asked no more. */
  readonly failuresInARow: number
  /** Tokens of one reply: ten are needed, the others are a reasoning model's thoughts. */
  readonly replyTokens: number
  /** Requests at a time to a server, which batches them; a model file answers one at a time. */
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

/** Tokens of a model file's context: the rules, 8,000 characters of a message, 4,000 of what the user said, and a reply. */
export const USER_CONTEXT = 8192
