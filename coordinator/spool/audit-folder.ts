import { createHash } from 'node:crypto'
import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import type { EpisodeLimits } from '../../episode/limits.js'
import { CodedError } from '../../errors/index.js'
import type { SampledToken } from '../../judging/evidence.js'
import { type AuditedGroup, drawsOf, rolesOf, type TokenReader } from '../../judging/sampled-turns.js'
import { adapterName, adaptersFolder, auditFolder, evidenceFolder, FILES, SCHEMA } from './layout.js'
import { decodeFloat64s, encodeSafetensors } from './safetensors.js'
import { publishFile, publishFolder } from './spool-folder.js'

/** Groups of one policy, to be audited together. */
export interface AuditJob {
  readonly auditId: string
  readonly baseSha256: string
  /** Of a file that `offerAdapter` has put into the spool; null: the bare base. */
  readonly adapterSha256: string | null
  readonly groups: readonly AuditedGroup[]
}

/** The audit process answered with something else than evidence on this job. */
export class EvidenceError extends CodedError<'bad_evidence'> {}

/** Tensors of `evidence.safetensors`. */
export const TENSORS = ['logp', 'evidence', 'repair'] as const

/** Puts an adapter where audits look for it. @returns its SHA-256 (hex) */
export async function offerAdapter(spool: string, bytes: Uint8Array): Promise<string> {
  const sha256 = sha256Of(bytes)
  await publishFile(join(adaptersFolder(spool), adapterName(sha256)), bytes)
  return sha256
}

/** Takes all other adapters out again: a run publishes one per version. */
export async function pruneAdapters(spool: string, kept: readonly string[]): Promise<void> {
  const folder = adaptersFolder(spool)
  const names = new Set(kept.map(adapterName))
  for (const name of await readdir(folder)) if (!names.has(name)) await rm(join(folder, name), { force: true })
}

/**
 * Writes `audits/<auditId>/` (docs/judging.md): tokens and the draws that the lease's seed says decided them. What the node
 * claims does not go in, so that nothing it says can touch what is computed. Does nothing when the job is there already.
 */
export async function writeAudit(spool: string, job: AuditJob, limits: EpisodeLimits): Promise<void> {
  await publishFolder(auditFolder(spool, job.auditId), jobFiles(job, limits))
}

function jobFiles(job: AuditJob, limits: EpisodeLimits): { [FILES.tokens]: Uint8Array; [FILES.manifest]: Buffer } {
  const rollouts = job.groups.flatMap(({ leaseId, leaseSeed, rollouts }) =>
    rollouts.map((rollout, i) => ({ leaseId, rollout, draws: drawsOf(rollout, leaseSeed, i, limits) })),
  )
  const total = rollouts.reduce((sum, { rollout }) => sum + rollout.tokens.length, 0)
  const ids = new Int32Array(total)
  const mask = new Uint8Array(total)
  const seeds = new Uint32Array(total)
  const positions = new Uint32Array(total)
  const starts = new Int32Array(rollouts.length + 1)
  for (const [i, { rollout, draws: own }] of rollouts.entries()) {
    const at = starts[i]!
    ids.set(rollout.tokens, at)
    mask.set(rollout.mask, at)
    let sampled = 0
    for (const [offset, bit] of rollout.mask.entries()) {
      if (bit === 0) continue
      const { seed, position } = own[sampled++]!
      seeds[at + offset] = seed
      positions[at + offset] = position
    }
    starts[i + 1] = at + rollout.tokens.length
  }
  const tokens = encodeSafetensors({
    ids,
    cu_seqlens: starts,
    draw_position: positions,
    draw_seed: seeds,
    loss_mask: mask,
  })
  const { auditId, baseSha256, adapterSha256 } = job
  const manifest = {
    schema: SCHEMA,
    auditId,
    baseSha256,
    ...(adapterSha256 === null ? {} : { adapterSha256 }),
    tokensSha256: sha256Of(tokens),
    rollouts: rollouts.map(({ leaseId, rollout }) => ({ group: leaseId, length: rollout.tokens.length })),
  }
  return { [FILES.tokens]: tokens, [FILES.manifest]: Buffer.from(JSON.stringify(manifest)) }
}

const answer = z.object({ auditId: z.string(), manifestSha256: z.string(), evidenceSha256: z.string() })

/**
 * The evidence on every sampled token of a job's groups, joined with what the node claims.
 * @returns per group of the job, in order, its sampled tokens
 * @throws EvidenceError when the answer is damaged or belongs to another job
 */
export async function readEvidence(
  spool: string,
  job: AuditJob,
  limits: EpisodeLimits,
  reader: TokenReader,
): Promise<SampledToken[][]> {
  const folder = evidenceFolder(spool, job.auditId)
  let tensors: Record<(typeof TENSORS)[number], Float64Array>
  try {
    const bytes = await readFile(join(folder, FILES.evidence))
    const { auditId, manifestSha256, evidenceSha256 } = answer.parse(
      JSON.parse(await readFile(join(folder, FILES.answer), 'utf8')),
    )
    if (auditId !== job.auditId) throw new Error(`it answers ${auditId}`)
    if (manifestSha256 !== sha256Of(jobFiles(job, limits)[FILES.manifest])) throw new Error('it answers another job')
    if (evidenceSha256 !== sha256Of(bytes)) throw new Error('its hash is another one')
    tensors = decodeFloat64s(bytes, TENSORS)
  } catch (cause) {
    throw new EvidenceError(
      'bad_evidence',
      `the evidence on ${job.auditId}: ${(cause as Error).message.slice(0, 400)}`,
      { cause },
    )
  }
  const sampled = job.groups.flatMap(({ rollouts }) => rollouts.flatMap(({ logprobs }) => logprobs)).length
  if (
    TENSORS.some((name) => tensors[name].length !== sampled || tensors[name].some((value) => !Number.isFinite(value)))
  )
    throw new EvidenceError(
      'bad_evidence',
      `the evidence on ${job.auditId} is not one finite number for each of ${sampled} tokens`,
    )
  let at = 0
  return job.groups.map(({ rollouts }) =>
    rollouts.flatMap((rollout) => {
      const roles = rolesOf(rollout, reader)
      return rollout.logprobs.map((claimed, k): SampledToken => {
        const i = at++
        return {
          claimed,
          logp: tensors.logp[i]!,
          evidence: tensors.evidence[i]!,
          repair: tensors.repair[i]!,
          ...roles[k]!,
        }
      })
    }),
  )
}

/** Takes a job and its evidence out of the spool; the job first, or it would be answered once more. */
export async function removeAudit(spool: string, auditId: string): Promise<void> {
  await rm(auditFolder(spool, auditId), { recursive: true, force: true })
  await rm(evidenceFolder(spool, auditId), { recursive: true, force: true })
}

const sha256Of = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')
