import { CodedError } from '../../common/errors/index.js'

export type WorldFolderErrorCode = 'no_world' | 'bad_world' | 'foreign_import' | 'name_taken'

/** A folder cannot be used as a world; the message names the file and says what to do. */
export class WorldFolderError extends CodedError<WorldFolderErrorCode> {}
