import { CodedError } from '../../common/errors/index.js'

export type EvaluationErrorCode =
  /** The options name no policy, or name one in a wrong way. */
  | 'bad_policies'
  /** No task of the data set fits the choice. */
  | 'no_tasks'
  /** The server gives no reply, also after retries. */
  | 'server_failed'
  /** The server does not accept a request. */
  | 'server_refused'

/** An evaluation cannot run. The message says what to change. */
export class EvaluationError extends CodedError<EvaluationErrorCode> {}
