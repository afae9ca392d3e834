import { CodedError } from '../../common/errors/index.js'

export type DatasetErrorCode =
  /** A line is not a valid record: not JSON, a missing or wrong field, or a content that does not match its id. */
  | 'damaged_record'
  /** A line is longer than the limit of records. */
  | 'line_too_long'
  /** The last line has no end: the file is truncated. */
  | 'truncated_file'
  /** The file or folder was written in another version of the format. */
  | 'other_schema'
  /** The manifest cannot be read, or contradicts the files. */
  | 'bad_manifest'
  /** The hash of a file differs from the manifest. */
  | 'wrong_hash'
  | 'missing_file'
  | 'no_such_example'
  /** The file of the dropped candidates has none with this id. */
  | 'no_such_candidate'
  /** The data set was made with tools that this program lacks or describes differently. */
  | 'other_tools'
  /** An example to write is inconsistent. */
  | 'bad_example'
  /** An annotation form is incomplete, or belongs to another data set. */
  | 'bad_form'
  /** The folder to write already exists. */
  | 'already_there'

/** A data set cannot be read or written. The message names the place, the problem and the remedy. */
export class DatasetError extends CodedError<DatasetErrorCode> {}

export type MismatchCode =
  /** The task names an unknown environment or tool, or its ground truth does not match the offered tools. */
  | 'bad_task'
  /** The reference answers omit a required fact, or state a value without a source. */
  | 'other_words'
  /** The environment gives another response, or another outcome of the call. */
  | 'other_response'
  /** The reference calls are not the ground truth and failed attempts at it. */
  | 'other_ground_truth'
  /** The conversation does not follow the task's scripted turns. */
  | 'other_turns'
  /** A reference answer does not ask for a value that the task requires to ask for. */
  | 'not_asked'
  /** The reference solution breaks the domain rules, or the task lacks those of its environments. */
  | 'other_domain_rules'
  /** The ground truth does not get the maximum reward. */
  | 'other_reward'
  /** The record differs from what its example is written as. */
  | 'other_record'

/** An example is valid but does not reproduce in a replay. */
export class ExampleMismatch extends CodedError<MismatchCode> {
  constructor(
    code: MismatchCode,
    /** The task's id. */
    readonly task: string,
    readonly problem: string,
    /** File and line, where the example was read from one. */
    readonly where?: string,
  ) {
    super(code, `${where === undefined ? '' : `${where}: `}task ${task}: ${problem}`)
  }
}
