import { CodedError } from '../../common/errors/index.js'

export type BfclErrorCode =
  /** The options name no model, an unknown category, or a file that is not usable. */
  | 'bad_options'
  /** `prove-node serve` did not start, or ended. */
  | 'server_failed'
  /** BFCL ended with an error, or made no progress. */
  | 'bfcl_failed'
  /** A file of BFCL does not have its form. */
  | 'bad_file'
  /** Some cases got no answer of the server. */
  | 'unanswered'

/** BFCL cannot run. The message says what to change. */
export class BfclError extends CodedError<BfclErrorCode> {}
