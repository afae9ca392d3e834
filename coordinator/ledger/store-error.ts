import { CodedError } from '../../common/errors/index.js'

export type StoreErrorCode =
  /** Another process has opened the log. */
  | 'in_use'
  /** The log is damaged, or is no event log. */
  | 'unreadable'
  /** Nothing can be appended any more. */
  | 'unwritable'
  /** The log has fewer events than its head names. */
  | 'truncated'
  /** An event was changed. */
  | 'tampered'
  /** The log has events but no head. */
  | 'headless'
  /** The log was written by a version of this program without hash chains. */
  | 'older_version'
  /** The log was written by a later version of this program, which this one cannot read. */
  | 'newer_version'
  | 'newer_version'

/** The event log cannot be used. */
export class StoreError extends CodedError<StoreErrorCode> {}
