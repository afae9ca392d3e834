import { CodedError } from '../../common/errors/index.js'
export type BackupErrorCode =
  /** There is no run in the data folder. */
  | 'no_run'
  /** The folder to write to is there already, or is not empty. */
  | 'exists'
  /** A file that the run needs is missing or damaged, so there would be no backup to rely on. */
  | 'not_whole'
  /** The user has interrupted it; nothing of it is left. */
  | 'interrupted'
  /** The folder is no backup, or one that was not finished. */
  | 'no_backup'
  /** A file of the backup is not what was written. */
  | 'damaged'
  /** It was made by a later version of this program, and this one cannot restore it. */
  | 'newer_version'

export class BackupError extends CodedError<BackupErrorCode> {}
