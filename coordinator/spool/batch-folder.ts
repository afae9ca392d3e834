import { createHash } from 'node:crypto'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { TrainerError } from './errors.js'
import { batchFolder, FILES, SCHEMA } from './layout.js'
import { readRefusal } from './refusal-file.js'
import { encodeSafetensors } from './safetensors.js'
import { exists, publishFolder, unlessMissing } from './spool-folder.js'

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
}

export interface BatchContent {
  readonly batchId: string
  readonly roundId: string
  readonly baseSha256: string
  /** The trainer step that this batch goes on from. */
  readonly parentStep: number
  readonly groups: readonly BatchGroup[]
}

/** Whether a batch was written already, and the trainer may have taken it. */
export const hasBatch = (spool: string, batchId: string): Promise<boolean> => exists(batchFolder(spool, batchId))

/**
 * Whether what lies in the spool under a batch's name is what `writeBatch` would write for this content, and no refusal that
 * cannot be read lies beside it.
 */
export async function isBatchWhole(spool: string, batch: BatchContent): Promise<boolean> {
  const folder = batchFolder(spool, batch.batchId)
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
export const removeBatch = (spool: string, batchId: string): Promise<void> =>
  rm(batchFolder(spool, batchId), { recursive: true, force: true })

/**
 * Writes `batches/<batchId>/` for the trainer (docs/trainer.md). Does nothing when the batch is already there: its content
 * follows from the log.
 */
export async function writeBatch(spool: string, batch: BatchContent): Promise<void> {
  await publishFolder(batchFolder(spool, batch.batchId), batchFiles(batch))
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
    rollouts: groups.flatMap(({ leaseId, supplier, policyVersion, sampler, rollouts }) =>
      rollouts.map((rollout) => ({
        group: leaseId,
        reward: rollout.reward,
        policyVersion,
        sampler,
        supplier: suppliers.indexOf(supplier),
        length: rollout.tokens.length,
      })),
    ),
  }
}

function encodeTokens(groups: readonly BatchGroup[]): Uint8Array {
  const rollouts = groups.flatMap((group) => group.rollouts)
  const total = rollouts.reduce((sum, { tokens }) => sum + tokens.length, 0)
  const ids = new Int32Array(total)
  const mask = new Uint8Array(total)
  const logprobs = new Float32Array(total)
  const starts = new Int32Array(rollouts.length + 1)
  let at = 0
  for (const [i, rollout] of rollouts.entries()) {
    ids.set(rollout.tokens, at)
    mask.set(rollout.mask, at)
    let sampled = 0
    for (const [offset, bit] of rollout.mask.entries())
      if (bit === 1) logprobs[at + offset] = rollout.logprobs[sampled++]!
    at += rollout.tokens.length
    starts[i + 1] = at
  }
  return encodeSafetensors({ ids, loss_mask: mask, sampler_logp: logprobs, cu_seqlens: starts })
}
