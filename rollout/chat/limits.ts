/** Limits of the input from a language model. */
export const READ_LIMITS = {
  /** Bytes of an HTTP response; the largest honest ones contain a reasoning model's thoughts. */
  responseBytes: 1 << 20,
  /** Characters of a reply that is searched for JSON. */
  replyChars: 128 << 10,
  /** Characters of the reply's JSON; the longest paraphrased example needs a tenth. */
  jsonChars: 64 << 10,
  /** Entries of a server's list of models. */
  models: 10_000,
} as const

/** Limits of a reply with tool calls. */
export const TOOL_CHAT_LIMITS = {
  /** Calls of one reply: an episode executes 24 at most. */
  calls: 128,
  idChars: 300,
  nameChars: 1000,
  /** Characters of one call's arguments. */
  argumentChars: 128 << 10,
} as const
