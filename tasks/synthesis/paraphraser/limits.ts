/** Changes with every change to the prompt or to what is checked: older rephrasings are then asked for anew. */
export const PROMPT_VERSION = 1

/** What a teacher may take, and for how long. Every row can be set; these are the defaults. */
export interface ParaphraserLimits {
  /** Replies per example before its embedded wording is kept. */
  readonly replies: number
  /** Failed requests (connection, time-out, HTTP 429 and 5xx) per example before its embedded wording is kept. */
  readonly failures: number
  /** Failed requests in a row, over all examples, after which the teacher counts as down. */
  readonly failuresInARow: number
  /** Milliseconds for one request, from sending it to the last byte of the reply. Node's HTTP client ends it after 300,000. */
  readonly timeoutMs: number
  /** Milliseconds before a failed request is sent again; doubles each time. */
  readonly backoffMs: number
  /** The longest pause between requests, also when the server asks for more (`Retry-After`). */
  readonly longestPauseMs: number
  /** Tokens of one reply, thoughts of a reasoning model included. */
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

/** Bytes of a line of the cache. */
export const CACHE_LINE_BYTES = 256 << 10

/** How long words may be, in characters: `draft * factor + extra`. */
export const LENGTH = { factor: 3, userExtra: 160, assistantExtra: 240, most: 4000 } as const
