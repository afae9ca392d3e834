import { CodedError } from '../../common/errors/index.js'
import type { Metrics, SwarmLogger } from '../../swarm/index.js'
import { meterLosses } from './metrics.js'

/** What of a data folder a disk may lose and the run can do without, or get again. */
export type DiskPart = 'body' | 'manifest' | 'published file' | 'batch' | 'step'

/** `recovered`: the same bytes are there again; `replaced`: others, which serve as well; `lost`: the run goes on without. */
export type LossOutcome = 'recovered' | 'replaced' | 'lost'

/** Tells the operator what was found missing or changed in the data folder, and what became of it. */
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
  /** There is a log, and no key that could go on with it. */
  | 'key_missing'
  /** The key is not that of the run. */
  | 'wrong_key'
  /** What groups of earlier terms are judged by is missing or damaged. */
  | 'calibration_lost'
  /** What the trainer has to go on from is missing or damaged. */
  | 'step_lost'

/** The disk has lost what the run cannot go on without; the message says what, and what helps. */
export class DataFolderError extends CodedError<DataFolderErrorCode> {
  constructor(code: DataFolderErrorCode, detail: string, options?: ErrorOptions) {
    const glue = detail.endsWith(' or') ? ' ' : '; '
    super(code, `${detail}${glue}restore a backup into another folder (prove-coordinator restore)`, options)
  }
}
