import { createHash } from 'node:crypto'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { EpisodeLimits } from '../../rollout/episode/limits.js'
import type { SampledToken } from '../../rollout/verification/sampled-token.js'
import { type AuditedGroup, drawsOf, type TokenReader } from '../../rollout/verification/sampled-turns.js'
import { drawTensors, layOut } from './flat-rollouts.js'
import { publishFile, publishFolder } from './job-directory.js'
import { adapterName, adaptersFolder, auditFolder, FILES, SCHEMA, tokenScoreFolder } from './layout.js'
import { encodeSafetensors } from './safetensors.js'
import { readTokenScoreFolder } from './token-score-folder.js'

/** Groups of one policy, to be audited together. */
export interface AuditJob {
  readonly auditId: string
  readonly baseSha256: string
  /** SHA-256 of a file that `offerAdapter` has stored; null: the bare base model. */
  readonly adapterSha256: string | null
  readonly groups: readonly AuditedGroup[]
}

/** Stores an adapter for audits. @returns its SHA-256 (hex) */
export async function offerAdapter(jobs: string, bytes: Uint8Array): Promise<string> {
  const sha256 = sha256Of(bytes)
  await publishFile(join(adaptersFolder(jobs), adapterName(sha256)), bytes)
  return sha256
}

/** Removes all other adapters, because a run publishes one per version. */
export async function pruneAdapters(jobs: string, kept: readonly string[]): Promise<void> {
  const folder = adaptersFolder(jobs)
  const names = new Set(kept.map(adapterName))
  for (const name of await readdir(folder)) if (!names.has(name)) await rm(join(folder, name), { force: true })
}

/**
 * Writes `audits/<auditId>/` (docs/explain/verification.md): tokens, and the draws of the lease's seed. Values that the node reports are
 * not included, so they cannot affect the computation. Does nothing when the job exists already.
 */
export async function writeAudit(jobs: string, job: AuditJob, limits: EpisodeLimits): Promise<void> {
  await publishFolder(auditFolder(jobs, job.auditId), jobFiles(job, limits))
}

function jobFiles(job: AuditJob, limits: EpisodeLimits): { [FILES.tokens]: Uint8Array; [FILES.manifest]: Buffer } {
  const rollouts = job.groups.flatMap(({ leaseId, leaseSeed, rollouts: own }) =>
    own.map((rollout, i) => ({ leaseId, ...rollout, draws: drawsOf(rollout, leaseSeed, i, limits) })),
  )
  const tokens = encodeSafetensors({ ...layOut(rollouts), ...drawTensors(rollouts, ({ draws }) => draws) })
  const { auditId, baseSha256, adapterSha256 } = job
  const manifest = {
    schema: SCHEMA,
    auditId,
    baseSha256,
    ...(adapterSha256 === null ? {} : { adapterSha256 }),
    tokensSha256: sha256Of(tokens),
    rollouts: rollouts.map(({ leaseId, tokens: own }) => ({ group: leaseId, length: own.length })),
  }
  return { [FILES.tokens]: tokens, [FILES.manifest]: Buffer.from(JSON.stringify(manifest)) }
}

/**
 * Reads the token scores of a job's groups, joined with the log-probabilities that the node reports.
 * @returns per group of the job, in order, its sampled tokens
 * @throws TokenScoreError when the answer is damaged or belongs to another job
 */
export function readTokenScores(
  jobs: string,
  job: AuditJob,
  limits: EpisodeLimits,
  reader: TokenReader,
): Promise<SampledToken[][]> {
  const { auditId, groups } = job
  const manifest = async (): Promise<Uint8Array> => jobFiles(job, limits)[FILES.manifest]
  return readTokenScoreFolder(tokenScoreFolder(jobs, auditId), { name: auditId, manifest, groups }, reader)
}

/** Removes a job and its token scores; the job first, so that it is not answered again. */
export async function removeAudit(jobs: string, auditId: string): Promise<void> {
  await rm(auditFolder(jobs, auditId), { recursive: true, force: true })
  await rm(tokenScoreFolder(jobs, auditId), { recursive: true, force: true })
}

const sha256Of = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')
