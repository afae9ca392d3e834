import { createHash } from 'node:crypto'
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import writeFileAtomic from 'write-file-atomic'
import { calibratedName, DRAW } from '../../rollout/engine/index.js'
import { type Calibration, CalibrationError, parseCalibration } from '../../rollout/verification/index.js'
import { DataFolderError } from '../ledger/disk-losses.js'
import { ConfigError } from '../settings/config.js'

/** The calibrations of a run. */
export interface Calibrations {
  /** Calibrations that `run.yaml` names: hash of the file by inference backend and build of the engine. */
  readonly current: Readonly<Record<string, string>>
  /** These and those of earlier run configurations, by hash: groups of older leases are audited with them. */
  readonly bySha256: ReadonlyMap<string, Calibration>
}

export interface CalibrationSources {
  /** Folder with a copy of every calibration that a run configuration has named. */
  readonly folder: string
  /** `audit.calibrations` of `run.yaml`. */
  readonly files: readonly string[]
  /** Hashes that earlier run configurations name. */
  readonly earlier: readonly string[]
  /** The base model that calibrations have to belong to. */
  readonly base: { readonly sha256: string; readonly quantisation: string }
}

/**
 * Reads the calibrations that `run.yaml` names and keeps a copy of each, before a run configuration names them.
 * @throws ConfigError when a file is unreadable, has another base model or quantisation, or is the second of its backend
 * @throws DataFolderError `calibration_lost` when the copy of an earlier one is missing or damaged
 */
export async function openCalibrations({ folder, files, earlier, base }: CalibrationSources): Promise<Calibrations> {
  await mkdir(folder, { recursive: true })
  const fileOf = (sha256: string): string => join(folder, `${sha256}.json`)
  const current: Record<string, string> = {}
  const bySha256 = new Map<string, Calibration>()
  for (const file of files) {
    const { calibration, text, sha256 } = await readOne(file)
    const { quantisation, ...subject } = calibration.subject
    const backend = calibratedName(subject)
    const fail = (why: string): never => {
      throw new ConfigError(`audit.calibrations: ${file}: ${why}`)
    }
    if (subject.baseSha256 !== base.sha256)
      fail('it belongs to another base model: run prove-lab calibrate with this one')
    if (subject.draw !== DRAW) fail(`it is for the sampling rule ${subject.draw}, but the run uses ${DRAW}`)
    if (quantisation !== base.quantisation) fail(`it is for ${quantisation}, but the run uses ${base.quantisation}`)
    if (current[backend] !== undefined) fail(`another file has the same backend ${backend}: remove one of them`)
    await writeFileAtomic(fileOf(sha256), text)
    current[backend] = sha256
    bySha256.set(sha256, calibration)
  }
  for (const sha256 of earlier) {
    if (bySha256.has(sha256)) continue
    const lost = (why: string, cause?: unknown): DataFolderError =>
      new DataFolderError(
        'calibration_lost',
        `${fileOf(sha256)}, with which groups of earlier run configurations are audited: ${why}; restore the file with that hash, or`,
        { cause },
      )
    const kept = await readOne(fileOf(sha256)).catch((cause: Error) => {
      throw lost(cause.message, cause)
    })
    if (kept.sha256 !== sha256) throw lost('it is damaged')
    bySha256.set(sha256, kept.calibration)
  }
  return { current, bySha256 }
}

async function readOne(file: string): Promise<{ calibration: Calibration; text: string; sha256: string }> {
  try {
    const text = await readFile(file, 'utf8')
    const sha256 = createHash('sha256').update(text).digest('hex')
    return { calibration: parseCalibration(text), text, sha256 }
  } catch (cause) {
    if (!(cause instanceof CalibrationError) && !(cause instanceof Error && 'syscall' in cause)) throw cause
    throw new ConfigError(`audit.calibrations: ${file}: ${(cause as Error).message}`, { cause })
  }
}
