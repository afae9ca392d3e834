import { CodedError } from '../../../common/errors/index.js'

export type ImportErrorCode =
  | 'unreadable_document'
  | 'invalid_document'
  | 'bad_reference'
  | 'too_large'
  | 'no_tools'
  | 'server_failed'

/** Somebody else's document or server cannot be made a draft of; the message says why and, where there is one, what to do. */
export class ImportError extends CodedError<ImportErrorCode> {}
