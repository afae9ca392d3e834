import { CodedError } from '../../common/errors/index.js'

/** Stable codes of `EnvironmentFolderError`. */
export type EnvironmentFolderErrorCode = 'no_environment' | 'bad_environment' | 'foreign_import' | 'name_taken'

/** A folder cannot be used as an environment. The message names the file and says what to do. */
export class EnvironmentFolderError extends CodedError<EnvironmentFolderErrorCode> {}
