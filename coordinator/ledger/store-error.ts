import { CodedError } from '../../common/errors/index.js'
export type StoreErrorCode =
  /** Another process holds the log. */
  | 'in_use'
  /** The log is damaged, or is no event log. */
  | 'unreadable'
  /** Nothing can be appended any more. */
  | 'unwritable'
  /** The log holds fewer events than its head vouches for. */
  | 'truncated'
  /** An event is another one than was written there. */
  | 'tampered'
  /** The log holds events, and its head is gone. */
  | 'headless'
  /** The log was written by a version of this program that knew no chain. */
  | 'older_version'
  /** The log was written by a later version of this program, and this one cannot read it. */
  | 'newer_version'

export class StoreError extends CodedError<StoreErrorCode> {}
