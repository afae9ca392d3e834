import { CodedError } from '../../../common/errors/index.js'

export type ImportErrorCode = 'unreadable_document' | 'invalid_document' | 'too_large' | 'no_tools' | 'server_failed'

/** Error for a document or server that cannot be imported as a draft. The message says why and, if possible, what to do. */
export class ImportError extends CodedError<ImportErrorCode> {}
