import { createHash } from 'node:crypto'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
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

/** One rollout of an accepted group, as it is trained on. */
export interface BatchRollout {
  readonly tokens: readonly number[]
  /** 1 where the policy sampled the token, as long as `tokens`. */
  readonly mask: Uint8Array
  /** Nats, one per sampled token. */
  readonly logprobs: readonly number[]
  /** As the judge computed it. */
  readonly reward: number
}

/** One accepted group on its way into a batch. */
export interface BatchGroup {
  readonly leaseId: string
  /** The node that made it: none decides alone whether samplers and trainer are apart. */
  readonly supplier: string
  readonly policyVersion: number
  /** Inference backend: the trainer meters by it how far samplers and trainer are apart. */
  readonly sampler: string
  readonly rollouts: readonly BatchRollout[]
  /**
   * What decided each rollout's sampled tokens, where the group is still to be audited: the trainer then writes evidence on
   * it and waits for findings before it takes its step. null: it trains on the group as it is.
   */
  readonly draws: readonly (readonly Draw[])[] | null
}

export interface BatchContent {
  readonly batchId: string
  readonly roundId: string
  readonly baseSha256: string
  /** The trainer step that this batch goes on from. */
  readonly parentStep: number
  /** The step has the policy of this earlier one, and learns nothing; there are no groups. */
  readonly backTo?: number
  readonly groups: readonly BatchGroup[]
}

/** Whether a batch was written already, and the trainer may have taken it. */
export const hasBatch = (jobs: string, batchId: string): Promise<boolean> => exists(batchFolder(jobs, batchId))

/**
 * Whether what lies in the spool under a batch's name is what `writeBatch` would write for this content, and no refusal that
 * cannot be read lies beside it.
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

/** Takes a batch out of the spool. */
export const removeBatch = (jobs: string, batchId: string): Promise<void> =>
  rm(batchFolder(jobs, batchId), { recursive: true, force: true })

/**
 * Writes `batches/<batchId>/` for the trainer (docs/trainer.md). Does nothing when the batch is already there: its content
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

/** Groups of a batch whose evidence is judged, in the order of its manifest. */
export type ExaminedGroups = readonly { readonly rollouts: readonly AuditedRollout[] }[]

/**
 * The evidence that the trainer has left beside a batch, see `readEvidenceFolder`.
 * @param groups  those of the batch that were written with their draws
 * @throws EvidenceError
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

/** Lets the trainer go on with a batch. Does nothing when it was let go on before: findings follow from log and evidence. */
export async function writeFindings(jobs: string, batchId: string, leftOut: readonly string[]): Promise<void> {
  const content = { schema: SCHEMA, batchId, leftOut: leftOut.map((group) => ({ group })) }
  await publishFile(findingsFile(jobs, batchId), Buffer.from(JSON.stringify(content)))
}

/** Whether the trainer waits for findings on a batch. */
export const awaitsFindings = async (jobs: string, batchId: string): Promise<boolean> =>
  (await exists(batchTokenScoreFolder(jobs, batchId))) && !(await exists(findingsFile(jobs, batchId)))
