import { CodedError } from '../../common/errors/index.js'

export type TrainerErrorCode =
  /** No Python that is new enough was found. */
  | 'no_python'
  /** The trainer cannot be started, for example because the Python does not exist. */
  | 'trainer_unusable'
  /** The trainer ends repeatedly, or cannot work with its settings, its base or its job directory. */
  | 'trainer_failed'
  /** These very groups cannot be audited. */
  | 'audit_refused'
  /** A file cannot be prepared as the base of a run. */
  | 'base_refused'
  | 'closed'

/** Training or audits failed, or their files are damaged. */
export class TrainerError extends CodedError<TrainerErrorCode> {}
