import { CodedError } from '../../common/errors/index.js'
export type TrainerErrorCode =
  /** Nothing that its packages could be installed on: no Python that is new enough. */
  | 'no_python'
  /** It cannot be started at all: no such Python. */
  | 'trainer_unusable'
  /** It ends again and again, or says that it cannot work with its settings, its base or its spool. */
  | 'trainer_failed'
  /** An audit of these very groups cannot be answered. */
  | 'audit_refused'
  | 'closed'

/** What the Python side cannot do for us: train, audit, or leave its files in order. */
export class TrainerError extends CodedError<TrainerErrorCode> {}
