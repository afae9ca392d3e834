/** Version of the prompt and the checks. Cached rephrasings of other versions are not used. */
export const PROMPT_VERSION = 1

/** Limits of a paraphraser. */
export interface ParaphraserLimits {
  /** Replies per example before its embedded wording is kept. */
  readonly replies: number
  /** Failed requests (connection, time-out, HTTP 429 and 5xx) per example before its embedded wording is kept. */
  readonly failures: number
  /** Consecutive failed requests, over all examples, after which the paraphraser counts as down. */
  readonly failuresInARow: number
  /** Milliseconds for one request, from sending it to the last byte of the reply. Node's HTTP client ends it after 300,000. */
  readonly timeoutMs: number
  /** Milliseconds before a failed request is sent again; doubles each time. */
  readonly backoffMs: number
  /** Longest pause between requests, also if the server asks for more (`Retry-After`). */
  readonly longestPauseMs: number
  /** Tokens of one reply, including the reasoning of a model. */
  readonly replyTokens: number
}

export const PARAPHRASER_LIMITS: ParaphraserLimits = {
  replies: 3,
  failures: 5,
  failuresInARow: 20,
  timeoutMs: 120_000,
  backoffMs: 1_000,
  longestPauseMs: 60_000,
  replyTokens: 4_096,
}
