/** What is read of anything that comes from a language model. */
export const READ_LIMITS = {
  /** Bytes of an HTTP response; the largest honest ones hold a reasoning model's thoughts. */
  responseBytes: 1 << 20,
  /** Characters of a reply in which JSON is looked for. */
  replyChars: 128 << 10,
  /** Characters of the reply's JSON; the longest example that a teacher words needs a tenth. */
  jsonChars: 64 << 10,
  /** Models that a server lists. */
  models: 10_000,
} as const
