import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Logger } from 'pino'
import type { EpisodeLimits } from '../../episode/index.js'
import {
  type AuditedGroup,
  type AuditFinding,
  type Calibration,
  judgeStatistics,
  measureGroup,
  type StageWatch,
  UNWATCHED,
} from '../../judging/index.js'
import type { BlobStore } from '../../swarm/index.js'
import { offerAdapter, pruneAdapters } from '../spool/audit-folder.js'
import { createAuditProcess } from '../spool/audit-process.js'
import { createAuditQueue } from './audit-queue.js'
import { type AuditDesk, auditGroups } from './audit-run.js'

// An audit goes from here through audit-queue.ts, which makes jobs of groups, to audit-run.ts, which has one job done.

/** A group to audit: what was replayed of it, and what its lease says of the engine it was made with. */
export interface AuditRequest extends AuditedGroup {
  readonly adapterSha256: string
  /** Of the lease's terms: they fix how many draws there are. */
  readonly limits: EpisodeLimits
  /** Of its terms: what honest work of its backend looks like. */
  readonly calibrationSha256: string
}

/** The stages of judging that need the policy's forward pass, for a run. */
export interface Auditor {
  /**
   * @returns  what was found, or null when the group cannot be computed at all
   * @throws TrainerError when the audit process is of no use any more; the signal's reason
   */
  audit(request: AuditRequest): Promise<AuditFinding | null>
}

export interface AuditorParts {
  readonly desk: Omit<AuditDesk, 'limits'>
  /** Of the run's terms, old ones too, by hash. */
  readonly calibrations: ReadonlyMap<string, Calibration>
  /** Where the published adapters are. */
  readonly blobs: BlobStore
  /** Adapters that stay in the spool: of so many versions groups are under audit at a time. Another one is put there again. */
  readonly adaptersKept: number
  readonly watch?: StageWatch
  readonly signal: AbortSignal
}

export async function createAuditor(parts: AuditorParts): Promise<Auditor> {
  const { desk, calibrations, blobs, adaptersKept, watch = UNWATCHED, signal } = parts
  // Groups without a verdict are offered again; answers that nobody asks for any more would only pile up.
  for (const name of ['audits', 'evidence']) await rm(join(desk.spool, name), { recursive: true, force: true })
  let offered: readonly string[] = []
  const queue = createAuditQueue(async ({ adapterSha256, limits }, groups, ending) => {
    if (!offered.includes(adapterSha256)) {
      await offerAdapter(desk.spool, await readFile(blobs.path(adapterSha256)))
      offered = [adapterSha256, ...offered].slice(0, adaptersKept)
      await pruneAdapters(desk.spool, offered)
    }
    return auditGroups({ ...desk, limits }, adapterSha256, groups, ending)
  }, signal)
  return {
    async audit({ adapterSha256, limits, calibrationSha256, ...group }) {
      const calibration = calibrations.get(calibrationSha256)
      if (!calibration) return null
      const sinceMs = watch.now()
      const evidence = await queue.evidence({ adapterSha256, limits }, group)
      if (!evidence) return null
      return judgeStatistics(measureGroup(evidence), calibration.thresholds, { watch, sinceMs })
    },
  }
}

export interface RunAuditorParts extends Omit<AuditorParts, 'desk'> {
  /** Python with the trainer's packages, and the folder of the `prove_trainer` package. */
  readonly python: string
  readonly packageFolder: string
  /** The base model's file. */
  readonly base: string
  /** `trainer.json`; it has to be there when the first group comes. */
  readonly trainerConfig: string
  readonly desk: Omit<AuditDesk, 'process' | 'limits'>
  readonly logger: Logger
}

/** For one audit job, the start of its process included. */
const TIMEOUT_MS = 10 * 60_000
const MAX_FAILURES = 3

/** The auditor of a run with its process; null for a run without a calibration, which the log says. */
export async function openRunAuditor(
  parts: RunAuditorParts,
): Promise<{ readonly auditor: Auditor; close(): Promise<void> } | null> {
  const { python, packageFolder, base, trainerConfig, logger, ...rest } = parts
  if (rest.calibrations.size === 0) {
    logger.warn('no calibration is configured: whether tokens were sampled from the policy is not checked in this run')
    return null
  }
  const { spool } = parts.desk
  const files = { python, packageFolder, spool, base, config: trainerConfig }
  const process = createAuditProcess({ ...files, maxFailures: MAX_FAILURES, timeoutMs: TIMEOUT_MS }, logger)
  const auditor = await createAuditor({ ...rest, desk: { ...parts.desk, process } })
  return { auditor, close: () => process.close() }
}
