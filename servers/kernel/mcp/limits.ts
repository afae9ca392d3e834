/** Bounds of what a host of environments does for its clients. */
export const HOST_LIMITS = {
  /** Tools in one page of `tools/list`: every environment fits on one, all twenty together take four. */
  toolsPerPage: 100,
  /** Open sessions of an HTTP host. One costs some 100 kB with its connection, so this bounds it at about 25 MB. */
  maxSessions: 256,
  /** Open sessions of one client address, so that nobody takes all: half of them. */
  maxSessionsPerClient: 128,
  /** Where there is no room, a session without a request for this long gives way: longer than an agent thinks between two calls. */
  restMs: 60_000,
  /** What clients that find no room are told to wait: sessions end all the time, and one that rests gives way after a minute. */
  retryAfterSeconds: 5,
  /** An HTTP session without a request for this long is closed: clients that vanish rarely say so. */
  idleMs: 30 * 60_000,
  /** Bytes of one HTTP request. The largest arguments of our tools are a few kB of text. */
  maxRequestBytes: 256 * 1024,
  /** Bytes of one line on stdin. Clients there run on the same machine for the same person. */
  maxLineBytes: 4 * 1024 * 1024,
  /** Time to send one HTTP request in full, so that slow senders do not hold connections. */
  requestTimeoutMs: 30_000,
} as const
