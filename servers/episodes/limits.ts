/** Bounds of what a server of episodes does for its clients. */
export const EPISODE_SERVER_LIMITS = {
  /** Open episodes: one is a call log and the rows it has changed, some 20 kB, so this bounds them at some 160 MB. */
  episodes: 8192,
  /** Of those, of one address: a trainer is often alone, so it may have nearly all. */
  episodesPerClient: 8000,
  /** Where there is no room, an episode without a request for this long gives way: models think for minutes between two calls. */
  restMs: 5 * 60_000,
  /** An episode without a request for this long is closed. */
  idleMs: 60 * 60_000,
  /** Bytes of one request: a call's arguments, or the call log that an episode is resumed with. */
  requestBytes: 1024 * 1024,
  /** Time to send one request in full. */
  requestTimeoutMs: 30_000,
  /** Seconds after which a client that found no room had better ask again. */
  retryAfterSeconds: 5,
  /** Tasks in one answer. */
  tasksPerPage: 1000,
  /** Tasks that a page of the playground can choose from: a list of more is none that people look through. */
  playgroundTasks: 1000,
  /** Characters of what an assistant says to its user; it is counted, not read. */
  sayingChars: 64 * 1024,
  /** Requests of one WebSocket that wait for their answers: its clients wait for each, so this is for those who do not. */
  waitingMessages: 16,
  /** Bytes of answers that the client of a WebSocket has not taken: a prompt with its tools is some 20 kB. */
  unreadBytes: 1024 * 1024,
} as const
