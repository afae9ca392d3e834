import { CodedError } from '../../common/errors/index.js'
export type EpisodeErrorCode =
  /** The task does not parse, or names a server, tool or argument that does not exist. */
  | 'bad_task'
  /** Text that would reach the prompt holds a control token or a reserved tag of the vocabulary. */
  | 'reserved_tag'
  /** The prompt leaves no room for an answer within the rollout's token limit. */
  | 'prompt_too_long'
  /** The chat template cannot be read or rendered, or costs more than an honest one does. */
  | 'bad_template'
  /** A policy names a tool dialect that this version does not speak. */
  | 'unknown_tool_call_format'

export class EpisodeError extends CodedError<EpisodeErrorCode> {}

export type RecordingMismatchCode =
  /** The prompt differs from the one rebuilt from the task. */
  | 'prompt_mismatch'
  /** Tokens that the environment must have written differ from what it writes now. */
  | 'environment_mismatch'
  /** A turn neither ends with an end-of-generation token nor fills its limit, or goes on after one. */
  | 'turn_boundary'
  /** Tokens are left over, or missing, when the replayed episode is over. */
  | 'length_mismatch'

/** A recorded rollout that the episode driver could not have produced. */
export class RecordingMismatch extends CodedError<RecordingMismatchCode> {}
