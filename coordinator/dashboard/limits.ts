/** Limits of the dashboard. */
export const DASHBOARD_LIMITS = {
  /** Bytes of a request's body: a form with a token, or an order. The longest order announces a text and addresses, with a reason. */
  requestBytes: 16 * 1024,
  /** Time to send one request in full, so that slow senders hold no connections. */
  requestTimeoutMs: 30_000,
  /** Open connections. A further one replaces one of the address with the most. */
  connections: 512,
  /** Pages that are kept up to date at a time; each is a connection with a file descriptor. */
  livePages: 64,
  /** Shortest time between two updates of a page, which renders the page each time. */
  updateMs: 2_000,
  /** Time without an update after which a connection gets a comment, before proxies close it: usual ones wait a minute. */
  heartbeatMs: 20_000,
  /** Sessions at a time, and their duration. */
  sessions: 256,
  sessionMs: 12 * 3_600_000,
  /** A shorter token could be guessed. */
  tokenChars: 16,
  /** Wrong tokens of one address in this time. Until it is over, further tokens from there are not compared. */
  wrongTokens: 10,
  wrongTokensMs: 60_000,
  /** Addresses whose wrong tokens are counted. The least recent address is forgotten first. */
  guessers: 4096,
  /** Rows of a table that may grow with the run. */
  rows: 100,
  /** Files whose verified hash is remembered. */
  checkedFiles: 256,
  /** Cached drawings: each chart has four forms. */
  charts: 64,
  /** Characters of one tool result that the rollout viewer shows. */
  resultChars: 4000,
} as const
