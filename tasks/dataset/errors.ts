import { CodedError } from '../../common/errors/index.js'
export type DatasetErrorCode =
  /** A line is not a record: not JSON, a field that is missing or wrong, or content that its id does not name. */
  | 'damaged_record'
  /** A line is longer than any record may be. */
  | 'line_too_long'
  /** The last line has no end: the file was cut off. */
  | 'truncated_file'
  /** The file or folder was written in another version of the format. */
  | 'other_schema'
  /** The manifest cannot be read, or contradicts the files. */
  | 'bad_manifest'
  /** A file is not the one that the manifest names. */
  | 'wrong_hash'
  | 'missing_file'
  | 'no_such_example'
  /** The data set was made with tools that this program does not have, or describes otherwise. */
  | 'other_tools'
  /** An example that is to be written contradicts itself. */
  | 'bad_example'
  /** A sheet of verdicts is not filled in, or is of examples that the data set does not have. */
  | 'bad_form'
  /** Something stands where the data set is to be written. */
  | 'already_there'

/** A data set that cannot be read or written. The message says where, what, and what to do. */
export class DatasetError extends CodedError<DatasetErrorCode> {}

export type MismatchCode =
  /** The task names a server or tool that does not exist, or its ground truth does not fit the offered tools. */
  | 'bad_task'
  /** The teacher's answers leave out what is to be told, or tell what nobody gave. */
  | 'other_words'
  /** A response, or whether the call succeeded, is not what the world answers. */
  | 'other_response'
  /** The teacher's calls are not the ground truth and failed attempts at it. */
  | 'other_ground_truth'
  /** The conversation does not follow the task's scripted turns. */
  | 'other_turns'
  /** Where the task says that something has to be asked for, the teacher does not ask. */
  | 'not_asked'
  /** The teacher does not keep to the policies of the task, or the task does not hold those of its worlds. */
  | 'other_domain_rules'
  /** The ground truth does not earn the highest reward. */
  | 'other_reward'
  /** The record holds something else than what its example is written as. */
  | 'other_record'

/** An example that can be read but does not come out again when it is played. */
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
