import { CodedError } from '../../common/errors/index.js'
export type EpisodeErrorCode =
  /** The task does not parse, or names an unknown environment, tool or argument. */
  | 'bad_task'
  /** The episode accepts no further message. Its reward is final. */
  | 'episode_over'
  /** A message has a recorded interpretation, but it had to ask for nothing. */
  | 'not_asking'
  /** A text for the prompt contains a control token or a reserved tag of the vocabulary. */
  | 'reserved_tag'
  /** The prompt leaves no tokens for an answer within the rollout's limit. */
  | 'prompt_too_long'
  /** The chat template cannot be parsed or rendered, or costs more than honest templates do. */
  | 'bad_template'
  /** A policy names a tool-call format that this version does not have. */
  | 'unknown_tool_call_format'

export class EpisodeError extends CodedError<EpisodeErrorCode> {}

export type RecordingMismatchCode =
  /** The prompt differs from the one rebuilt from the task. */
  | 'prompt_mismatch'
  /** Recorded environment tokens differ from the replayed ones. */
  | 'environment_mismatch'
  /** A turn neither ends with an end-of-generation token nor reaches its limit, or continues after such a token. */
  | 'turn_boundary'
  /** The replayed episode ends with recorded tokens left over or missing. */
  | 'length_mismatch'

/** A recorded rollout that the episode driver could not have produced. */
export class RecordingMismatch extends CodedError<RecordingMismatchCode> {}
