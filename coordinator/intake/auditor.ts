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

// An audit goes from here through audit-queue.ts, which makes jobs of groups, to audit-run.ts, which has one job done.

/** A group to audit: what was replayed of it, and what its lease says of the engine it was made with. */
export interface AuditRequest extends AuditedGroup {
  /** What its rollouts earned. */
  readonly rewards: readonly number[]
  readonly adapterSha256: string
  /** Of the lease's terms: they fix how many draws there are. */
  readonly limits: EpisodeLimits
  /** Of its terms: what honest work of its backend looks like. */
  readonly calibrationSha256: string
  /** Its node is known to deliver: it goes before those of which that is not known. */
  readonly reliable: boolean
}

export type AuditReport =
  | Extract<AuditFinding, { accepted: false }>
  | { readonly accepted: true; readonly logitErrors: LogitErrorSums }

/** The stages of judging that need the policy's forward pass, for a run. */
export interface Auditor {
  /** More groups wait than are soon looked at. */
  readonly isBehind: boolean
  /**
   * @returns  what was found, or null when the group cannot be computed at all
   * @throws TrainerError when the audit process is of no use any more; the signal's reason
   */
  audit(request: AuditRequest): Promise<AuditReport | null>
  /**
   * The same for groups of a batch, on the evidence that the trainer's first forward pass has left beside it.
   * @param requests  all that were written with their draws, in the order of the batch
   * @throws EvidenceError when that is damaged
   */
  auditBatch(batchId: string, requests: readonly AuditRequest[]): Promise<(AuditReport | null)[]>
}

export interface AuditorParts {
  readonly service: Omit<AuditService, 'limits'>
  /** Of the run's terms, old ones too, by hash. */
  readonly calibrations: ReadonlyMap<string, Calibration>
  /** Where the published adapters are. */
  readonly blobs: Pick<BlobStore, 'read' | 'path'>
  readonly clock: Pick<Clock, 'sleep' | 'timeout'>
  /** Adapters that stay in the spool: of so many versions groups are under audit at a time. Another one is put there again. */
  readonly adaptersKept: () => number
  readonly watch?: CheckWatch
  readonly signal: AbortSignal
}

/** How long groups of a version wait for an adapter that the disk has lost. */
const ADAPTER_PATIENCE_MS = 60_000
const RETRY_MS = 1000
/** Groups that may wait for their audits before those that need none lose theirs: four jobs, some 25 seconds of a slow process. */
export const LONGEST_LINE = 4 * JOB_GROUPS

export async function createAuditor(parts: AuditorParts): Promise<Auditor> {
  const { service, calibrations, adaptersKept, watch = UNWATCHED, signal } = parts
  // Groups without a verdict are offered again; answers that nobody asks for any more would only pile up.
  // Adapters are put there again as they are needed, from where they are checked.
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
  // Before anything is judged: a calibration that cannot say what is honest is no reason to refuse a group.
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
      return queue.waiting >= LONGEST_LINE
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

/** One that the disk has lost is looked for by whoever serves it; there may be a peer that has it. @throws TrainerError */
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
  /** The base model's file. */
  readonly base: string
  /** `trainer.json`; it has to be there when the first group comes. */
  readonly trainerConfig: string
  /** Ranks of the audit process. */
  readonly processes: number
  readonly service: Omit<AuditService, 'process' | 'limits'>
  readonly logger: Logger
}

/** For one audit job, the start of its process included. */
const TIMEOUT_MS = 10 * 60_000
const MAX_FAILURES = 3

/** The auditor of a run with its process; null for a run without a calibration, which the log says. */
export async function openRunAuditor(
  parts: RunAuditorParts,
): Promise<{ readonly auditor: Auditor; close(): Promise<void> } | null> {
  const { python, packageFolder, base, trainerConfig, processes, logger, ...rest } = parts
  if (rest.calibrations.size === 0) {
    logger.warn('no calibration is configured: whether tokens were sampled from the policy is not checked in this run')
    return null
  }
  const { jobs } = parts.service
  const files = { python, packageFolder, jobs, base, config: trainerConfig, processes }
  const process = createAuditProcess({ ...files, maxFailures: MAX_FAILURES, timeoutMs: TIMEOUT_MS }, logger)
  const auditor = await createAuditor({ ...rest, service: { ...parts.service, process } })
  return { auditor, close: () => process.close() }
}
