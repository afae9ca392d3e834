/** Limits of an episode server. */
export const EPISODE_SERVER_LIMITS = {
  /** Open episodes. One needs about 20 kB for its call log and changed rows, so all need at most about 160 MB. */
  episodes: 8192,
  /** Open episodes of one address. Nearly all, because a trainer is often the only client. */
  episodesPerClient: 8000,
  /** Idle time after which a full server may evict an episode. Models can think for minutes between two calls. */
  restMs: 5 * 60_000,
  /** Idle time after which the server closes an episode. */
  idleMs: 60 * 60_000,
  /** Bytes of one request: the arguments of a call, or the actions of a resumed episode. */
  requestBytes: 1024 * 1024,
  /** Bytes of a request that verifies a rollout of NeMo Gym. It has the whole rollout, in training also with its tokens. */
  verifyBytes: 32 * 1024 * 1024,
  /** Time to send a complete request. */
  requestTimeoutMs: 30_000,
  /** Seconds until a client should retry when the server is full. */
  retryAfterSeconds: 5,
  /** Tasks in one response. */
  tasksPerPage: 1000,
  /** Tasks in the list of the playground: people do not read longer lists. */
  playgroundTasks: 1000,
} as const
