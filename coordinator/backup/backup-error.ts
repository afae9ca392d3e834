import { CodedError } from '../../common/errors/index.js'

export type BackupErrorCode =
  /** The data folder contains no run. */
  | 'no_run'
  /** The target folder exists already, or is not empty. */
  | 'exists'
  /** A file that the run needs is missing or damaged, so the backup would not be reliable. */
  | 'not_whole'
  /** The folder is no backup, or an unfinished one. */
  | 'no_backup'
  /** A file of the backup was changed. */
  | 'damaged'
  /** The user has not accepted the loss of events. */
  | 'not_accepted'
  /** A later version of this program made the backup, which this one cannot restore. */
  | 'newer_version'

/** A backup cannot be made or restored. */
export class BackupError extends CodedError<BackupErrorCode> {}
