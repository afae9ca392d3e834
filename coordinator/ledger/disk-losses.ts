import { CodedError } from '../../common/errors/index.js'
import type { Metrics, SwarmLogger } from '../../swarm/index.js'
import { meterLosses } from './metrics.js'

/** Files of a data folder that the run can replace or continue without. */
export type DiskPart = 'body' | 'manifest' | 'published file' | 'batch' | 'step'

/** `recovered`: the same bytes were fetched; `replaced`: equivalent bytes were made; `lost`: the run continues without them. */
export type LossOutcome = 'recovered' | 'replaced' | 'lost'

/** Reports missing or damaged files of the data folder, and the outcome. */
export interface DiskLosses {
  note(part: DiskPart, name: string, outcome: LossOutcome, detail: string): void
}

export function createDiskLosses(registers: Metrics, logger: Pick<SwarmLogger, 'warn'>): DiskLosses {
  const count = meterLosses(registers)
  return {
    note(part, name, outcome, detail) {
      count(part, outcome)
      logger.warn(
        { part: 'disk', kind: part, name, outcome, detail },
        'a file of the data folder was missing or damaged',
      )
    },
  }
}

export type DataFolderErrorCode =
  /** A log exists, but not the key that signs for its run. */
  | 'key_missing'
  /** The key belongs to another run. */
  | 'wrong_key'
  /** A calibration that earlier groups are verified with is missing or damaged. */
  | 'calibration_lost'
  /** A step that the trainer continues from is missing or damaged. */
  | 'step_lost'

/** The run cannot continue without a file that is missing or damaged. The message says which, and how to proceed. */
export class DataFolderError extends CodedError<DataFolderErrorCode> {
  constructor(code: DataFolderErrorCode, detail: string, options?: ErrorOptions) {
    const glue = detail.endsWith(' or') ? ' ' : '; '
    super(code, `${detail}${glue}restore a backup into another folder (prove-coordinator restore)`, options)
  }
}
