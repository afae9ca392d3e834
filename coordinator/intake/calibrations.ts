import { readFile } from 'node:fs/promises'
import { type Calibration, CalibrationError, parseCalibration } from '../../judging/index.js'
import { ConfigError } from '../settings/config.js'

/** Calibrations by inference backend. */
export type Calibrations = ReadonlyMap<string, Calibration>

/**
 * Reads the files that `audit.calibrations` of `run.yaml` names.
 * @param base  the base model they have to be of
 * @throws ConfigError when a file is unreadable, of another base model or quantisation, or the second of its backend
 */
export async function readCalibrations(
  files: readonly string[],
  base: { readonly sha256: string; readonly quantisation: string },
): Promise<Calibrations> {
  const calibrations = new Map<string, Calibration>()
  for (const file of files) {
    const calibration = await readOne(file)
    const { backend, quantisation, ...subject } = calibration.subject
    const fail = (why: string): never => {
      throw new ConfigError(`audit.calibrations: ${file}: ${why}`)
    }
    if (subject.baseSha256 !== base.sha256) fail('it is of another base model')
    if (quantisation !== base.quantisation) fail(`it is for ${quantisation}, the run uses ${base.quantisation}`)
    if (calibrations.has(backend)) fail(`there is another one for the backend ${backend}`)
    calibrations.set(backend, calibration)
  }
  return calibrations
}

async function readOne(file: string): Promise<Calibration> {
  try {
    return parseCalibration(await readFile(file, 'utf8'))
  } catch (cause) {
    if (!(cause instanceof CalibrationError) && !(cause instanceof Error && 'syscall' in cause)) throw cause
    throw new ConfigError(`audit.calibrations: ${file}: ${(cause as Error).message}`, { cause })
  }
}
