/** Bounds of what the dashboard does for its visitors. */
export const DASHBOARD_LIMITS = {
  /** Bytes of a request's body: a token in a form, or an order; the longest announces sentences and addresses, with a reason. */
  requestBytes: 16 * 1024,
  /** Time to send one request in full, so that slow senders hold no connections. */
  requestTimeoutMs: 30_000,
  /** Pages that are kept up to date at a time; each is a connection with a file descriptor. */
  livePages: 64,
  /** A page is told of news once in this time at most, whatever happens: it is rendered anew each time. */
  newsMs: 2_000,
  /** A sign of life on a connection without news, before proxies take it for dead: the usual ones wait a minute. */
  heartbeatMs: 20_000,
  /** Browsers that are logged in at a time, and for how long. */
  sessions: 256,
  sessionMs: 12 * 3_600_000,
  /** A shorter token could be guessed. */
  tokenChars: 16,
  /** Wrong tokens of one address in this time; whatever token comes from there until it is over is not looked at. People mistype; programs guess. */
  wrongTokens: 10,
  wrongTokensMs: 60_000,
  /** Addresses whose wrong tokens are counted: the one that guessed longest ago is forgotten for one more. */
  guessers: 4096,
  /** Rows of a table that may grow with the run. */
  rows: 100,
  /** Files for download of which it is remembered that they are whole. */
  checkedFiles: 256,
  /** Drawn charts that are kept: each chart has four forms. */
  charts: 64,
  /** Characters of one answer of a world that the rollout viewer shows. */
  resultChars: 4000,
} as const
