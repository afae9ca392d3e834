import type { Logger } from 'pino'
import type { BlobStore } from '../../swarm/index.js'
import type { RunConfig } from '../settings/config.js'
import { createAuditProcess } from '../spool/audit-process.js'
import type { AuditDesk } from './audit-groups.js'
import { type Auditor, createAuditor } from './auditor.js'
import { readCalibrations } from './calibrations.js'

export interface RunAuditorParts {
  readonly config: RunConfig
  /** Python with the trainer's packages, and the folder of the `prove_trainer` package. */
  readonly python: string
  readonly packageFolder: string
  /** `trainer.json`; it has to be there when the first group comes. */
  readonly trainerConfig: string
  readonly desk: Omit<AuditDesk, 'process'>
  readonly blobs: BlobStore
  readonly logger: Logger
  readonly signal: AbortSignal
}

/** For one audit job, the start of its process included. */
const TIMEOUT_MS = 10 * 60_000
const MAX_FAILURES = 3

/**
 * The auditor of a run, by the calibrations that its configuration names; null without any, which the log says.
 * @throws ConfigError for a calibration that is not of this run
 */
export async function openRunAuditor(
  parts: RunAuditorParts,
): Promise<{ readonly auditor: Auditor; close(): Promise<void> } | null> {
  const { config, python, packageFolder, trainerConfig, blobs, logger, signal } = parts
  const { spool, baseSha256 } = parts.desk
  const calibrations = await readCalibrations(config, baseSha256)
  if (calibrations.size === 0) {
    logger.warn('no calibration is configured: whether tokens were sampled from the policy is not checked in this run')
    return null
  }
  const process = createAuditProcess(
    {
      ...{ python, packageFolder, spool },
      base: config.base.path,
      config: trainerConfig,
      maxFailures: MAX_FAILURES,
      timeoutMs: TIMEOUT_MS,
    },
    logger,
  )
  const desk = { ...parts.desk, process }
  const auditor = await createAuditor({ desk, calibrations, blobs, adaptersKept: config.maxStaleness + 1, signal })
  return { auditor, close: () => process.close() }
}
