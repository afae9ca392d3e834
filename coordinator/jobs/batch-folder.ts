import { createHash } from 'node:crypto'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import type { Draw } from '../../rollout/engine/types.js'
import type { SampledToken } from '../../rollout/verification/sampled-token.js'
import type { AuditedRollout, TokenReader } from '../../rollout/verification/sampled-turns.js'
import { TrainerError } from './errors.js'
import { drawTensors, layOut, spread } from './flat-rollouts.js'
import { exists, publishFile, publishFolder, unlessMissing } from './job-directory.js'
import { batchFolder, batchTokenScoreFolder, FILES, findingsFile, SCHEMA } from './layout.js'
import { readRefusal } from './refusal-file.js'
import { encodeSafetensors } from './safetensors.js'
import { readTokenScoreFolder } from './token-score-folder.js'

/** One rollout of an accepted group for training. */
export interface BatchRollout {
  readonly tokens: readonly number[]
  /** 1 where the policy sampled the token, as long as `tokens`. */
  readonly mask: Uint8Array
  /** Nats, one per sampled token. */
  readonly logprobs: readonly number[]
  /** Recomputed reward. */
  readonly reward: number
}

/** One accepted group of a batch. */
export interface BatchGroup {
  readonly leaseId: string
  /** The node that made it. The drift between samplers and trainer is measured over several suppliers. */
  readonly supplier: string
  readonly policyVersion: number
  /** Inference backend. The trainer measures the drift between samplers and trainer for each. */
  readonly sampler: string
  readonly rollouts: readonly BatchRollout[]
  /**
   * Draws of each rollout's sampled tokens, if the group still has to be audited. The trainer then writes token scores and waits for
   * findings before its step. null: it trains on the group as it is.
   */
  readonly draws: readonly (readonly Draw[])[] | null
}

export interface BatchContent {
  readonly batchId: string
  readonly roundId: string
  readonly baseSha256: string
  /** Trainer step from which the batch continues. */
  readonly parentStep: number
  /** Step whose policy the batch restores. Such a batch has no groups. */
  readonly backTo?: number
  readonly groups: readonly BatchGroup[]
}

/** Whether a batch was written, so that the trainer may have used it. */
export const hasBatch = (jobs: string, batchId: string): Promise<boolean> => exists(batchFolder(jobs, batchId))

/**
 * Whether the job directory contains exactly what `writeBatch` would write for this content, and no unreadable refusal.
 */
export async function isBatchWhole(jobs: string, batch: BatchContent): Promise<boolean> {
  const folder = batchFolder(jobs, batch.batchId)
  for (const [name, wanted] of Object.entries(batchFiles(batch))) {
    const found = await unlessMissing(readFile(join(folder, name)))
    if (!found?.equals(wanted)) return false
  }
  return readRefusal(folder).then(
    () => true,
    (why: unknown) => {
      if (why instanceof TrainerError) return false
      throw why
    },
  )
}

/** Removes a batch from the job directory. */
export const removeBatch = (jobs: string, batchId: string): Promise<void> =>
  rm(batchFolder(jobs, batchId), { recursive: true, force: true })

/**
 * Writes `batches/<batchId>/` for the trainer (docs/reference/trainer.md). Does nothing when the batch exists already, because its content
 * follows from the log.
 */
export async function writeBatch(jobs: string, batch: BatchContent): Promise<void> {
  await publishFolder(batchFolder(jobs, batch.batchId), batchFiles(batch))
}

function batchFiles(batch: BatchContent): Record<string, Uint8Array> {
  const tokens = encodeTokens(batch.groups)
  return { [FILES.tokens]: tokens, [FILES.manifest]: Buffer.from(JSON.stringify(manifestOf(batch, tokens))) }
}

function manifestOf({ groups, ...batch }: BatchContent, tokens: Uint8Array): object {
  const suppliers = [...new Set(groups.map(({ supplier }) => supplier))]
  return {
    schema: SCHEMA,
    ...batch,
    tokensSha256: createHash('sha256').update(tokens).digest('hex'),
    rollouts: groups.flatMap(({ leaseId, supplier, policyVersion, sampler, rollouts, draws }) =>
      rollouts.map((rollout) => ({
        group: leaseId,
        reward: rollout.reward,
        policyVersion,
        sampler,
        supplier: suppliers.indexOf(supplier),
        length: rollout.tokens.length,
        ...(draws === null ? {} : { audit: true }),
      })),
    ),
  }
}

function encodeTokens(groups: readonly BatchGroup[]): Uint8Array {
  const rollouts = groups.flatMap(({ rollouts: own, draws }) =>
    own.map((rollout, i) => ({ ...rollout, draws: draws && draws[i]! })),
  )
  return encodeSafetensors({
    ...layOut(rollouts),
    sampler_logp: spread(rollouts, Float32Array, ({ logprobs }) => logprobs),
    ...drawTensors(rollouts, ({ draws }) => draws),
  })
}

/** Groups of a batch with token scores, in the order of its manifest. */
export type ExaminedGroups = readonly { readonly rollouts: readonly AuditedRollout[] }[]

/**
 * Reads the token scores that the trainer has written for a batch, see `readTokenScoreFolder`.
 * @param groups  the groups of the batch that were written with their draws
 * @throws TokenScoreError
 */
export function readBatchTokenScores(
  jobs: string,
  batchId: string,
  groups: ExaminedGroups,
  reader: TokenReader,
): Promise<SampledToken[][]> {
  const manifest = (): Promise<Uint8Array> => readFile(join(batchFolder(jobs, batchId), FILES.manifest))
  return readTokenScoreFolder(batchTokenScoreFolder(jobs, batchId), { name: batchId, manifest, groups }, reader)
}

/** Hashes and groups of a batch, as the trainer got it. */
export interface WrittenBatch {
  readonly manifestSha256: string
  readonly tokensSha256: string
  /** Groups that were written with their draws. */
  readonly unaudited: ReadonlySet<string>
  /** Groups that the findings leave out. */
  readonly leftOut: ReadonlySet<string>
}

const writtenManifest = z.object({
  tokensSha256: z.string(),
  rollouts: z.array(z.object({ group: z.string(), audit: z.boolean().optional() })),
})
const writtenFindings = z.object({ leftOut: z.array(z.object({ group: z.string() })) })

/** Reads a batch of a made step back; null: the job directory does not have it any more. @throws TrainerError */
export async function readWrittenBatch(jobs: string, batchId: string): Promise<WrittenBatch | null> {
  const path = join(batchFolder(jobs, batchId), FILES.manifest)
  const bytes = await unlessMissing(readFile(path))
  if (!bytes) return null
  const findings = await unlessMissing(readFile(findingsFile(jobs, batchId), 'utf8'))
  try {
    const { tokensSha256, rollouts } = writtenManifest.parse(JSON.parse(bytes.toString('utf8')))
    const { leftOut } = findings === null ? { leftOut: [] } : writtenFindings.parse(JSON.parse(findings))
    return {
      manifestSha256: createHash('sha256').update(bytes).digest('hex'),
      tokensSha256,
      unaudited: new Set(rollouts.filter(({ audit }) => audit).map(({ group }) => group)),
      leftOut: new Set(leftOut.map(({ group }) => group)),
    }
  } catch (cause) {
    throw new TrainerError('trainer_failed', `${path}: ${(cause as Error).message.slice(0, 400)}`, { cause })
  }
}

/** Returns the hashes of the two files of a batch with this content. */
export function batchHashes(batch: BatchContent): Pick<WrittenBatch, 'manifestSha256' | 'tokensSha256'> {
  const { [FILES.manifest]: manifest, [FILES.tokens]: tokens } = batchFiles(batch)
  const [manifestSha256, tokensSha256] = [manifest!, tokens!].map((bytes) =>
    createHash('sha256').update(bytes).digest('hex'),
  ) as [string, string]
  return { manifestSha256, tokensSha256 }
}

/** Lets the trainer continue with a batch. Does nothing when findings exist, because they follow from log and token scores. */
export async function writeFindings(jobs: string, batchId: string, leftOut: readonly string[]): Promise<void> {
  const content = { schema: SCHEMA, batchId, leftOut: leftOut.map((group) => ({ group })) }
  await publishFile(findingsFile(jobs, batchId), Buffer.from(JSON.stringify(content)))
}

/** Whether the trainer waits for findings on a batch. */
export const awaitsFindings = async (jobs: string, batchId: string): Promise<boolean> =>
  (await exists(batchTokenScoreFolder(jobs, batchId))) && !(await exists(findingsFile(jobs, batchId)))
