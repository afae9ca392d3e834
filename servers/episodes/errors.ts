import { CodedError } from '../../common/errors/index.js'

export type EpisodeServerErrorCode =
  /** There is no task of that name, or at that place of a split. */
  | 'unknown_task'
  /** No such episode is open here: it never was, it was closed, or it gave way after resting for long. */
  | 'unknown_episode'
  /** All places are taken, and none rests. */
  | 'too_many_episodes'
  /** Nothing more can be done in the episode; its reward stands. */
  | 'episode_over'
  /** What was asked does not have the form that is needed. */
  | 'bad_request'
  /** The server ends, and what was asked of a language model with it. */
  | 'closed'

/** What a trainer asked for and cannot have. */
export class EpisodeServerError extends CodedError<EpisodeServerErrorCode> {}
