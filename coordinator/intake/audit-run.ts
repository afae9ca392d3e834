import { createHash } from 'node:crypto'
import type { EpisodeLimits } from '../../rollout/episode/limits.js'
import type { SampledToken } from '../../rollout/verification/sampled-token.js'
import type { AuditedGroup, TokenReader } from '../../rollout/verification/sampled-turns.js'
import { type AuditJob, readTokenScores, removeAudit, writeAudit } from '../jobs/audit-folder.js'
import type { AuditProcess } from '../jobs/audit-process.js'
import { TrainerError } from '../jobs/errors.js'

export interface AuditService {
  readonly process: AuditProcess
  readonly jobs: string
  readonly baseSha256: string
  readonly reader: TokenReader
  readonly limits: EpisodeLimits
}

/**
 * Has groups of one policy audited, and removes the job from the job directory.
 * @param adapterSha256  of an adapter that `offerAdapter` has stored; null: the bare base model
 * @returns per group, in order, its token scores
 * @throws TrainerError (`audit_refused`: these groups cannot be computed), TokenScoreError, and the signal's reason: the job then
 *   remains, and the next call finds its answer
 */
export async function auditGroups(
  service: AuditService,
  adapterSha256: string | null,
  groups: readonly AuditedGroup[],
  signal: AbortSignal,
): Promise<SampledToken[][]> {
  const { process, jobs, baseSha256, reader, limits } = service
  const job: AuditJob = { auditId: auditId(adapterSha256, groups), baseSha256, adapterSha256, groups }
  await writeAudit(jobs, job, limits)
  const outcome = await process.outcome(job.auditId, signal)
  if (outcome.kind === 'refused') {
    await removeAudit(jobs, job.auditId)
    throw new TrainerError('audit_refused', `${job.auditId}: ${outcome.code} ${outcome.detail}`)
  }
  try {
    return await readTokenScores(jobs, job, limits, reader)
  } finally {
    // Removed even when damaged: otherwise the same job would always get the damaged answer.
    await removeAudit(jobs, job.auditId)
  }
}

/** Derives the id from the content, so that the same groups under the same policy are one job. */
function auditId(adapterSha256: string | null, groups: readonly AuditedGroup[]): string {
  const content = groups.map(({ leaseId, leaseSeed, rollouts }) => [
    leaseId,
    Buffer.from(leaseSeed).toString('hex'),
    rollouts.map(({ tokens, mask }) => [tokens, [...mask]]),
  ])
  const name = createHash('sha256')
    .update(JSON.stringify([adapterSha256, content]))
    .digest('hex')
  return `audit-${name.slice(0, 24)}`
}
