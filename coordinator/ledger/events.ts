import { z } from 'zod'
import { PACKAGE_VERSION } from '../../common/cli/index.js'
import { isRefusalCode, LIMITS, type RefusalCode } from '../../proto/index.js'
import { SKETCH_NUMBERS } from '../../rollout/verification/likeness.js'
import { STEERING_STRATEGY_COUNT } from '../../rollout/verification/logit-error-tail.js'
import { runConfigurationSchema } from './run-configuration.js'

const count = z.int().min(0)
const number = z.number()
const share = z.number().min(0).max(1)
const text = z.string().max(4096)
const hash = z.string().regex(/^[0-9a-f]{64}$/)
const bitmap = z.base64()
const packageVersion = z.string().max(32).regex(PACKAGE_VERSION)
/** A mean over tasks, with its standard error. */
const estimate = z.object({ mean: number, stderr: number.min(0) })
/** In base64: two bytes for each of its numbers. */
const SKETCH_CHARS = 4 * Math.ceil((2 * SKETCH_NUMBERS) / 3)
const lease = z.string().min(1).max(128)
const code = z.string().refine((value): value is RefusalCode => isRefusalCode(value))

/** Stages 5 to 7 of judging: `none` when the group was not drawn for an audit, or was refused before. */
const audit = z.enum(['none', 'passed', 'failed'])
export type Audit = z.output<typeof audit>

/** What an audit that passed adds to the sums of its key, see `RepairSums`. */
const logitErrorSums = z.object({
  tokens: count,
  logitError: number.min(0),
  expected: number.positive(),
  odds: z.array(number).length(STEERING_STRATEGY_COUNT).readonly().optional(),
  betterLogitError: share,
  betterExpectedMismatch: share,
})
/** null: there was none. */
const logitErrors = logitErrorSums.nullable()

/** What every order of the operator says: who gave it, by which way, and why, in the operator's own words. */
const order = {
  /** `who`: the operator; `via`: the way by which the order came. */
  by: z.object({ who: z.string().min(1).max(32), via: z.string().min(1).max(32) }),
  /** In the operator's own words. */
  reason: z.string().max(LIMITS.detailBytes.value).nullable(),
}

/** A field of the terms that is no longer what it was, by its path; values as JSON. */
const configurationChange = z.object({ field: text, from: text, to: text })

/**
 * The first version of this program that reads everything which this one writes into a log. Raised with every change after which an older
 * one could not: a further type of event, a field that means something to the fold, another value for one.
 */
export const LOG_NEEDS = '0.1.0'

/**
 * What happened in a run, one record each, in the order of the log. The log is the coordinator's only truth: whatever it
 * shows or decides is a fold over it. Every event also has a `type` and the time `atMs`.
 */
export const EVENTS = {
  /**
   * Another version of the program writes from here on, and whoever reads on has to be of the version `needs` at least. It keeps this form
   * in all versions, so that an older one can tell a log that it is too old for from a damaged one.
   */
  'written-by': z.object({ program: packageVersion, needs: packageVersion }),
  /** What the run promises from now on (terms.ts). The first event of its kind says all; a later one says what changed. */
  configured: z.object({
    configuration: runConfigurationSchema,
    changes: z.array(configurationChange).readonly(),
    /** Who changed them while the coordinator ran; left out at a start, and by earlier versions. */
    ordered: z.object(order).optional(),
  }),
  /** Before the first version the coordinator played some tasks itself with the base model: a dry run, and what came of it. */
  rehearsed: z.object({
    groups: count,
    /** Groups without reward variance. */
    zeroVariance: count,
    rollouts: count,
    /** Rollouts that solved their task exactly. */
    solved: count,
    /** Mean over the rollouts. */
    reward: number,
    /** Calls of all rollouts, and those that the ground truths of their tasks have. */
    calls: count,
    callsDue: count,
    /** Rollouts of tasks that need a call, and those of them that made none. */
    asked: count,
    silent: count,
    /** Rollouts that ended because there was no room for more tokens. */
    cut: count,
    sampledTokens: count,
    /** Whether everything was played: time and tokens are bounded. */
    isWhole: z.boolean(),
  }),
  /** Version `version` is the policy in force, and round `round` is open under the newest terms. */
  published: z.object({
    round: count,
    version: count,
    /** Trainer step that was published. */
    step: count,
    /** The step whose update made the adapter: `step` itself, or an earlier one when that changed nothing or rolled back. */
    adapterStep: count,
    policyId: hash,
    manifestId: hash,
    adapterSha256: hash,
    /** Settings and program by which the step was made, as its trainer says; null, or left out by earlier versions: it does not. */
    recipe: z.record(z.string().max(64), z.unknown()).nullable().optional(),
    /** Hex; its hash is in the manifest, the secret itself in the manifest of a later round. */
    roundSecret: hash,
    /** Tasks that this round gives no leases for, see curriculum.ts. */
    resting: bitmap,
  }),
  /** The coordinator itself had a version play tasks that nobody trains on, each once, with the same draws for every version. */
  scored: z.object({
    version: count,
    adapterSha256: hash,
    tasks: count,
    /** Further ones that were left out: their prompts leave no room for an answer. */
    tooLong: count,
    reward: estimate,
    /** Share of the rollouts that solved their task exactly. */
    solved: estimate,
    /** Calls of a rollout on average, and those that the ground truth of its task has. */
    calls: number,
    callsDue: number,
  }),
  /** A further round of the version in force: for keys that registered since, for changed terms, or because a world is quarantined. */
  reopened: z.object({
    round: count,
    version: count,
    policyId: hash,
    manifestId: hash,
    roundSecret: hash,
    resting: bitmap,
  }),
  /** A key was seen for the first time, in round `round`: it gets leases of later rounds, whose secrets it could not know. */
  registered: z.object({
    node: text,
    round: count,
    /** Program and version, as the node says; left out by earlier versions. */
    agent: text.optional(),
  }),
  /** From now on the key's credit counts for this team, too, all that it has; null: for none. */
  'team-joined': z.object({ node: text, team: text.nullable() }),
  /** A node was given a task to make a group of. */
  leased: z.object({
    leaseId: lease,
    /** Its terms are those that the round was opened under. */
    round: count,
    /** Counts the leases of one node in one round; enters the seed. */
    index: count,
    node: text,
    version: count,
    /** The task's place in the training split. */
    taskIndex: count,
    /** Hex, 32 bytes. */
    seed: hash,
    deadlineMs: number,
    /** As the node says: which calibration its work is judged by. */
    backend: text,
    /** Program and version, as the node says; left out by earlier versions. */
    agent: text.optional(),
    /** Where the node asked from, as a block of network addresses; null, or left out by earlier versions: not known. */
    addressBlock: text.nullable().optional(),
  }),
  /** The lease is still worked on, and lapses later. */
  renewed: z.object({ leaseId: lease, deadlineMs: number }),
  /** The lease is not worked on. Its owner gets it again before any other of the same version. */
  released: z.object({ leaseId: lease, reason: text }),
  /** A group got its verdict. */
  judged: z.object({
    leaseId: lease,
    node: text,
    version: count,
    bodySha256: hash,
    accepted: z.boolean(),
    /** The reason of a refusal, see docs/verdicts.md. */
    code: code.nullable(),
    detail: text,
    credit: number.min(0),
    /** Recomputed rewards of an accepted group, in rollout order; claimed ones when the body was not needed. */
    rewards: z.array(number).max(1024).readonly(),
    /** The accepted group has no reward variance: it teaches nothing and its body was not pulled. */
    zeroVariance: z.boolean(),
    audit,
    logitErrors,
    /** Where the announcement came from, as a block of network addresses; null: not known, or this machine. */
    addressBlock: text.nullable(),
    /** What each rollout says, as a short hash; none when not replayed. */
    completions: z
      .array(z.string().regex(/^[0-9a-f]{16}$/))
      .max(1024)
      .readonly(),
    /** How likely each is as a whole (nats), as its node claims, and its sketch, see `Sayings`: for finding copies. */
    logprobs: z.array(number).max(1024).readonly(),
    sketches: z.array(z.base64().length(SKETCH_CHARS)).max(1024).readonly(),
    /** Tokens that were sampled in all rollouts, as replayed; 0 when not. */
    sampledTokens: count,
    /** From the last grant of the lease to the arrival of the group (ms); left out where nobody saw the group, and by earlier versions. */
    tookMs: count.optional(),
    /** Tool calls made in all rollouts, and rollouts that solved their task exactly; 0 when not replayed. */
    calls: count,
    solved: count,
    /** Means over the rollouts of the parts of their rewards, by name; left out where there are none, or by earlier versions. */
    rewardParts: z.record(z.string().max(64), number).optional(),
  }),
  /** An accepted group was audited after all. */
  audited: z.object({
    leaseId: lease,
    node: text,
    accepted: z.boolean(),
    code: code.nullable(),
    detail: text,
    logitErrors,
    /** The batch that leaves it out, where the first forward pass of training was the audit; for those that pass it see `batch-audited`. */
    batchId: text.optional(),
  }),
  /** The first forward pass of training was the audit of these groups of a batch, which passed it, and adds to the sums of their keys. */
  'batch-audited': z.object({
    batchId: text,
    groups: z
      .array(z.object({ leaseId: lease, node: text, logitErrors: logitErrorSums }))
      .max(65_536)
      .readonly(),
  }),
  /**
   * The disk has lost the body of this accepted group, and its author has it no longer: it is neither trained on nor audited any more.
   * Verdict and credit stand. A pending batch with the group in it is dissolved: its other groups can be trained on again, and the
   * step number is free.
   */
  'body-lost': z.object({ leaseId: lease, bodySha256: hash, detail: text }),
  /** The world disagreed with itself when this lease's group was replayed: no more leases for its tasks. */
  'environment-quarantined': z.object({ environment: text, leaseId: lease }),
  /** The groups of these leases make training step `step`. */
  batched: z.object({
    batchId: text,
    step: count,
    leaseIds: z.array(lease).max(65_536).readonly(),
    /** The step learns nothing: it has the policy of this earlier step, as the operator ordered. There are no groups then. */
    backTo: count.optional(),
  }),
  /** A key was caught that had given the batch these groups, which no audit has looked at. What was learnt from them stays. */
  'batch-doubted': z.object({ batchId: text, node: text, leaseIds: z.array(lease).max(65_536).readonly() }),
  /** `skipped`: the trainer left the policy as it was, for example because a gradient was not finite. */
  trained: z.object({
    batchId: text,
    step: count,
    skipped: z.boolean(),
    /** Why, in the trainer's word; left out when it was not, and by earlier versions. */
    reason: text.optional(),
    /** What the step says of itself in single numbers, by their names in docs/trainer.md; earlier versions left them out. */
    stats: z.record(z.string().max(64), number).optional(),
  }),
  /** The trainer could not use the batch; its groups are lost to training, and the step number is free again. */
  'batch-refused': z.object({ batchId: text, code: text, detail: text }),
  /** No leases are given and no batch is formed from here on; what is under way is finished. */
  paused: z.object(order),
  /** Leases are given and batches formed again. */
  resumed: z.object(order),
  /** The key gets no leases, and what it delivers is refused. Its groups that are in no batch are not trained on while it is banned. */
  banned: z.object({ ...order, node: text }),
  /** The key is as it would be if it had never been doubted, see `Standing.absolve`; a ban, a quarantine or an exclusion is over. */
  unbanned: z.object({ ...order, node: text }),
  /** No more leases for the task, and no training on groups of it that are in no batch. Those under way still earn their credit. */
  'task-dropped': z.object({ ...order, taskIndex: count, taskId: text }),
  /** No leases for tasks of the world until it is woken. Groups of it count as before. */
  'environment-disabled': z.object({ ...order, environment: text }),
  /** Leases are given for tasks of the world again. */
  'environment-enabled': z.object({ ...order, environment: text }),
  /** The run shall have the policy of this version again: the next batch goes back to its step, and the versions behind it are withdrawn then. */
  'rollback-ordered': z.object({ ...order, version: count }),
  /** Told to all volunteers until the next one; without message and addresses: nothing any more. */
  announced: z.object({
    ...order,
    message: z.string().max(LIMITS.noticeMessageBytes.value),
    addresses: z.array(text).max(LIMITS.addressesPerPeer.value).readonly(),
  }),
} as const

type EventType = keyof typeof EVENTS

export type EventOf<T extends EventType> = { readonly type: T; readonly atMs: number } & Readonly<
  z.output<(typeof EVENTS)[T]>
>
export type RunEvent = { [T in EventType]: EventOf<T> }[EventType]

const SCHEMAS = new Map(
  Object.entries(EVENTS).map(([type, fields]) => [
    type,
    // A refusal says why; the fold decides by it.
    z
      .looseObject({ type: z.literal(type), atMs: number, ...fields.shape })
      .refine((event) => !('accepted' in event) || event.accepted === (event.code === null)),
  ]),
)

/**
 * An event as the log holds it, or undefined for what no version of this program wrote. Fields that a later version added
 * are kept.
 */
export function parseEvent(value: unknown): RunEvent | undefined {
  const type = typeof value === 'object' && value !== null && 'type' in value ? value.type : undefined
  const schema = typeof type === 'string' ? SCHEMAS.get(type) : undefined
  // TypeScript does not see through the map that the schema of a kind checks the fields of that kind.
  return schema?.safeParse(value).success ? (value as RunEvent) : undefined
}
