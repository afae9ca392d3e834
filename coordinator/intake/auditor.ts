import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Logger } from 'pino'
import type { EpisodeLimits } from '../../rollout/episode/index.js'
import {
  type AuditedGroup,
  type AuditFinding,
  type Calibration,
  type CheckWatch,
  expectedLogitError,
  type LogitErrorSums,
  measureGroup,
  type SampledToken,
  sumLogitErrors,
  UNWATCHED,
  verifyStatistics,
} from '../../rollout/verification/index.js'
import type { BlobStore, Clock } from '../../swarm/index.js'
import { offerAdapter, pruneAdapters } from '../jobs/audit-folder.js'
import { createAuditProcess } from '../jobs/audit-process.js'
import { readBatchTokenScores } from '../jobs/batch-folder.js'
import { TrainerError } from '../jobs/errors.js'
import { createAuditQueue, JOB_GROUPS } from './audit-queue.js'
import { type AuditService, auditGroups } from './audit-run.js'

// An audit passes through audit-queue.ts, which forms jobs, and audit-run.ts, which runs one job.

/** A replayed group to audit, with the engine that its lease names. */
export interface AuditRequest extends AuditedGroup {
  /** Rewards of its rollouts. */
  readonly rewards: readonly number[]
  readonly adapterSha256: string
  /** Limits of the lease's run configuration, which determine the number of draws. */
  readonly limits: EpisodeLimits
  /** Calibration of its backend in the run configuration of its lease. */
  readonly calibrationSha256: string
  /** Whether its node is proven: its groups precede others. */
  readonly reliable: boolean
}

/** Result of an audit. */
export type AuditReport =
  | Extract<AuditFinding, { accepted: false }>
  | { readonly accepted: true; readonly logitErrors: LogitErrorSums }

/** The verification checks that need the policy's forward pass. */
export interface Auditor {
  /** Whether too many groups wait for audits. */
  readonly isBehind: boolean
  /**
   * Audits a group.
   * @returns  the finding, or null when the group cannot be computed
   * @throws TrainerError when the audit process has failed for good; the signal's reason
   */
  audit(request: AuditRequest): Promise<AuditReport | null>
  /**
   * Audits groups of a batch on the token scores of the trainer's first forward pass.
   * @param requests  all groups that were written with their draws, in the order of the batch
   * @throws TokenScoreError when the token scores are damaged
   */
  auditBatch(batchId: string, requests: readonly AuditRequest[]): Promise<(AuditReport | null)[]>
}

export interface AuditorParts {
  readonly service: Omit<AuditService, 'limits'>
  /** Calibrations of all run configurations of the run, by hash. */
  readonly calibrations: ReadonlyMap<string, Calibration>
  /** Published adapters. */
  readonly blobs: Pick<BlobStore, 'read' | 'path'>
  readonly clock: Pick<Clock, 'sleep' | 'timeout'>
  /** Returns how many adapters stay in the job directory: groups of that many versions are under audit. Others are stored again. */
  readonly adaptersKept: () => number
  readonly watch?: CheckWatch
  readonly signal: AbortSignal
}

/** Time that groups of a version wait for a lost adapter. */
const ADAPTER_PATIENCE_MS = 60_000
const RETRY_MS = 1000
/** Groups that may wait for audits before optional audits are skipped: four jobs, some 25 seconds of a slow process. */
export const LONGEST_QUEUE = 4 * JOB_GROUPS

export async function createAuditor(parts: AuditorParts): Promise<Auditor> {
  const { service, calibrations, adaptersKept, watch = UNWATCHED, signal } = parts
  // Groups without a verdict are offered again, so old jobs and answers are not needed.
  // Adapters are verified and stored again when needed.
  for (const name of ['audits', 'token-scores', 'adapters'])
    await rm(join(service.jobs, name), { recursive: true, force: true })
  let offered: readonly string[] = []
  const queue = createAuditQueue(async ({ adapterSha256, limits }, groups, ending) => {
    if (!offered.includes(adapterSha256)) {
      const adapter = await adapterOf(adapterSha256, parts)
      await offerAdapter(service.jobs, adapter)
      offered = [adapterSha256, ...offered].slice(0, adaptersKept())
      await pruneAdapters(service.jobs, offered)
    }
    return auditGroups({ ...service, limits }, adapterSha256, groups, ending)
  }, signal)
  // Computed at the start: an unusable calibration must not refuse groups.
  const expected = new Map([...calibrations].map(([sha256, calibration]) => [sha256, expectedLogitError(calibration)]))
  const judge = (
    { calibrationSha256, rollouts, rewards }: AuditRequest,
    tokenScores: readonly SampledToken[],
    sinceMs: number,
  ): AuditReport | null => {
    const calibration = calibrations.get(calibrationSha256)
    const honest = expected.get(calibrationSha256)
    if (!calibration || !honest) return null
    const finding = verifyStatistics(measureGroup(tokenScores), calibration.thresholds, { watch, sinceMs })
    if (!finding.accepted) return finding
    const earned = rollouts.map(({ logprobs }, i) => ({ sampled: logprobs.length, reward: rewards[i]! }))
    return { accepted: true, logitErrors: sumLogitErrors(tokenScores, earned, honest) }
  }
  return {
    get isBehind() {
      return queue.waiting >= LONGEST_QUEUE
    },
    async audit(request) {
      const { adapterSha256, limits, calibrationSha256, leaseId, leaseSeed, rollouts, reliable } = request
      if (!calibrations.has(calibrationSha256)) return null
      const sinceMs = watch.now()
      const tokenScores = await queue.tokenScores({ adapterSha256, limits }, { leaseId, leaseSeed, rollouts }, reliable)
      return tokenScores && judge(request, tokenScores, sinceMs)
    },
    async auditBatch(batchId, requests) {
      const tokenScores = await readBatchTokenScores(service.jobs, batchId, requests, service.reader)
      return requests.map((request, i) => judge(request, tokenScores[i]!, watch.now()))
    },
  }
}

/** Reads an adapter. `PublishedFiles` searches for a lost one, which a peer may have. @throws TrainerError */
async function adapterOf(
  sha256: string,
  { blobs, clock, signal }: Pick<AuditorParts, 'blobs' | 'clock' | 'signal'>,
): Promise<Uint8Array> {
  const deadline = clock.timeout(ADAPTER_PATIENCE_MS)
  for (;;) {
    const bytes = await blobs.read(sha256)
    if (bytes) return bytes
    if (deadline.aborted) throw new TrainerError('audit_refused', `the adapter ${blobs.path(sha256)} is lost`)
    await clock.sleep(RETRY_MS, AbortSignal.any([signal, deadline])).catch(() => undefined)
    signal.throwIfAborted()
  }
}

export interface RunAuditorParts extends Omit<AuditorParts, 'service'> {
  /** Python with the trainer's packages, and the folder of the `prove_trainer` package. */
  readonly python: string
  readonly packageFolder: string
  /** Path of the base model. */
  readonly base: string
  /** `trainer.json`, which must exist at the first audit, and when the process is started before it. */
  readonly trainerConfig: string
  /** Ranks of the audit process. */
  readonly processes: number
  readonly service: Omit<AuditService, 'process' | 'limits'>
  readonly logger: Logger
}

/** Time limit for one audit job, including the start of its process. */
const TIMEOUT_MS = 10 * 60_000
const MAX_FAILURES = 3

/** Opens the auditor of a run with its process, see `AuditProcess.start`; null for a run without a calibration, which is logged. */
export async function openRunAuditor(
  parts: RunAuditorParts,
): Promise<{ readonly auditor: Auditor; start(): void; close(): Promise<void> } | null> {
  const { python, packageFolder, base, trainerConfig, processes, logger, ...rest } = parts
  if (rest.calibrations.size === 0) {
    logger.warn('no calibration is configured: this run does not check whether tokens were sampled from the policy')
    return null
  }
  const { jobs } = parts.service
  const files = { python, packageFolder, jobs, base, config: trainerConfig, processes }
  const process = createAuditProcess({ ...files, maxFailures: MAX_FAILURES, timeoutMs: TIMEOUT_MS }, logger)
  const auditor = await createAuditor({ ...rest, service: { ...parts.service, process } })
  return { auditor, start: () => process.start(), close: () => process.close() }
}
