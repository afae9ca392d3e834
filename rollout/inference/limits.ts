/** Bounds of what a served policy does for its clients. */
export const SERVE_LIMITS = {
  /** Bytes of one request: the longest context in use is some 200 kB of text, and forty tools with their schemas 60 kB. */
  requestBytes: 2 * 1024 * 1024,
  /** Requests that are answered or wait at the same time. The engine takes one after the other, so more would wait for minutes. */
  requests: 16,
  /** One answer, from its turn on. The longest turn of a slow machine takes minutes. */
  answerMs: 10 * 60_000,
  /** Time to send a request in full, so that slow senders do not hold connections. */
  requestMs: 30_000,
  messages: 1024,
  tools: 256,
  /** Answers to one request: lanes of one batch. */
  choices: 8,
} as const
