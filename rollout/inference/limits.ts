/** Limits of a served policy. */
export const SERVE_LIMITS = {
  /** Bytes of one request: the longest usual context has some 200 kB of text, and forty tools with their schemas 60 kB. */
  requestBytes: 2 * 1024 * 1024,
  /** Requests in progress or waiting. The engine answers one after the other, so more would wait for minutes. */
  requests: 16,
  /** Milliseconds for one answer. The longest turn on a slow machine takes minutes. */
  answerMs: 10 * 60_000,
  /** Milliseconds to send a whole request, so that slow senders do not occupy connections. */
  requestMs: 30_000,
  /** Tokens of an answer to a request without a limit, so that a policy that does not stop does not fill the context. */
  defaultMaxTokens: 2048,
  messages: 1024,
  tools: 256,
  /** Answers to one request, which are slots of one batch. */
  choices: 8,
} as const
