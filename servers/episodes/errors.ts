import { CodedError } from '../../common/errors/index.js'

export type EpisodeServerErrorCode =
  /** The data set has no task with this id, or no task at this index of the split. */
  | 'unknown_task'
  /** No open episode has this id: it never existed, was closed, or was evicted while idle. */
  | 'unknown_episode'
  /** The server is full, and no episode is idle. */
  | 'too_many_episodes'
  /** The request does not have the required form. */
  | 'bad_request'
  /** The server is closing, so the user simulator gives no decision. */
  | 'closed'

/** A request of a client that the episode server cannot fulfil. */
export class EpisodeServerError extends CodedError<EpisodeServerErrorCode> {}
