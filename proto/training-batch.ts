import { createHash } from 'node:crypto'
import canonicalize from 'canonicalize'
import { z } from 'zod'
import { codec } from './codec.js'
import { isSha256 } from './content-id.js'
import { refusal } from './errors.js'
import { prove } from './gen/swarm.js'
import { LIMITS } from './limits.js'
import { bytes } from './wire-shape.js'

const count = z.int().min(0)
const hash = z.string().refine(isSha256, 'a SHA-256 in lower-case hex')
const name = z.string().min(1).max(LIMITS.nameBytes.value)
const MOST_GROUPS = 65_536

/** Place of a verdict in the tree over the verdicts for a training step. */
const place = z.strictObject({
  step: count,
  index: count,
  /** Number of leaves and root of that tree. */
  count,
  root: hash,
  /** Hashes of the sibling subtrees, from the leaf on. */
  path: z.array(hash).max(32),
})

const group = z.strictObject({
  leaseId: name,
  node: name,
  round: count,
  /** Counts the leases of the node in the round. */
  index: count,
  version: count,
  /** Inference backend of the node. */
  backend: name,
  taskIndex: count,
  bodySha256: hash,
  /** Whether the trainer's first forward pass was its audit. */
  unaudited: z.boolean(),
  /** Why the trainer left the group out; null: it trained on the group. */
  leftOut: name.nullable(),
  /** The verdict that accepted the group. */
  leaf: z.string().max(LIMITS.verdictLeafBytes.value),
  place,
})

/**
 * Record of a training step: the groups of its batch, and everything from which a stranger can compute the same batch from their
 * bodies.
 */
const record = z.strictObject({
  schema: z.literal(1),
  run: name,
  step: count,
  batchId: name,
  /** Step that a rollback restores; null: no rollback. */
  backTo: count.nullable(),
  /** Run configurations of the rounds, by id. */
  configurations: z.record(hash, z.record(z.string(), z.unknown())),
  /** Calibrations that the configurations name, by hash. */
  calibrations: z.record(hash, z.string().max(LIMITS.blobMetadataBytes.value)),
  /** Rounds of the leases, with their secrets (hex). */
  rounds: z
    .array(
      z.strictObject({
        round: count,
        version: count,
        policyId: hash,
        secret: hash,
        configurationId: hash,
        skippedTasks: z.string().max(LIMITS.taskSettingBytes.value),
      }),
    )
    .max(MOST_GROUPS),
  /** Tasks of the groups as JSON, by index in the data set. */
  tasks: z.record(z.string().regex(/^\d{1,9}$/), z.string().max(LIMITS.taskBytes.value)),
  /** Run configurations that may have been in force when the step was made. */
  trainingConfigurations: z.array(hash).min(1).max(2),
  groups: z.array(group).max(MOST_GROUPS),
  /** All verdicts for this step, in the order of the log. */
  verdicts: z.array(z.string().max(LIMITS.verdictLeafBytes.value)),
})

export type TrainingRecord = z.output<typeof record>
export type TrainingGroup = TrainingRecord['groups'][number]

/** A training step as evidence. */
export interface TrainingBatch {
  readonly record: TrainingRecord
  /** Bodies of the groups, in the order of the record. */
  readonly bodies: readonly Uint8Array[]
}

export const trainingBatch = codec<TrainingBatch, prove.TrainingBatch.$Properties>({
  what: 'training batch',
  limit: 'trainingBatchBytes',
  type: prove.TrainingBatch,
  shape: { 1: bytes(), 2: bytes(MOST_GROUPS) },
  read: ({ record: text, bodies }) => {
    const parsed = record.safeParse(jsonOf(text))
    if (!parsed.success) throw refusal('malformed', `the record of a training batch: ${firstFault(parsed.error)}`)
    if (parsed.data.groups.length !== bodies.length)
      throw refusal('malformed', `a training batch of ${parsed.data.groups.length} groups with ${bodies.length} bodies`)
    return { record: parsed.data, bodies }
  },
  write: ({ record: content, bodies }) => ({ record: JSON.stringify(content), bodies: [...bodies] }),
})

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw refusal('malformed', 'the record of a training batch is no JSON', { cause })
  }
}

const firstFault = ({ issues }: z.ZodError): string => {
  const [first] = issues
  return first ? `${first.path.join('.')}: ${first.message}`.slice(0, 200) : 'invalid'
}

/** Returns the id of a run configuration: SHA-256 (hex) over its canonical JSON (RFC 8785). Leases and manifests contain it. */
export function runConfigurationId(configuration: object): string {
  return createHash('sha256')
    .update(`prove/run-configuration/1\n${canonicalize(configuration)}`)
    .digest('hex')
}
