import { z } from 'zod'
import { PACKAGE_VERSION } from '../../common/cli/index.js'
import { isRefusalCode, LEAVE_REASONS, LIMITS, type RefusalCode } from '../../proto/index.js'
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
/** Mean over tasks, with its standard error. */
const estimate = z.object({ mean: number, stderr: number.min(0) })
/** Base64 of two bytes for each number of a sketch. */
const SKETCH_CHARS = 4 * Math.ceil((2 * SKETCH_NUMBERS) / 3)
const lease = z.string().min(1).max(128)
const code = z.string().refine((value): value is RefusalCode => isRefusalCode(value))

/** Result of verification checks 5 to 7: `none` when the group was not chosen for an audit, or was refused before. */
const audit = z.enum(['none', 'passed', 'failed'])
export type Audit = z.output<typeof audit>

/** Sums that a passed audit adds to its key, see `LogitErrorSums`. */
const logitErrorSums = z.object({
  tokens: count,
  logitError: number.min(0),
  expected: number.positive(),
  odds: z.array(number).length(STEERING_STRATEGY_COUNT).readonly().optional(),
  claimOdds: number.optional(),
  betterLogitError: share,
  betterExpectedMismatch: share,
})
/** null: the group was not audited. */
const logitErrors = logitErrorSums.nullable()

/** Fields of every order: who gave it, by which way, and why. */
const order = {
  /** `who`: the operator; `via`: `control socket` or `token`. */
  by: z.object({ who: z.string().min(1).max(32), via: z.string().min(1).max(32) }),
  /** Reason in the operator's own words. */
  reason: z.string().max(LIMITS.detailBytes.value).nullable(),
}

/**
 * Reasons why nodes are not at work: those that nodes report, and those that the coordinator sees. `silent`: connected, without a
 * request for minutes.
 */
export const ABSENCE_REASONS = [...LEAVE_REASONS, 'other_version', 'disconnected', 'silent'] as const
const absence = z.object({
  reason: z.enum(ABSENCE_REASONS),
  /** Number of nodes, and the newest sentence of one of them; empty: none. */
  nodes: count,
  detail: z.string().max(1024),
})
export type Absence = z.output<typeof absence>

/** A scarce resource, or an amount that fell to a fraction of the usual one. Groups are counted per minute. */
const strain = { what: z.enum(['groups', 'connections', 'streams']), before: number.min(0), now: number.min(0) }
export type Strain = Readonly<z.output<z.ZodObject<typeof strain>>>
/** Causes of it that the coordinator sees. */
export const STRAIN_REASONS = ['streams_full', 'disconnected', 'audits_behind', 'leases_held'] as const
const strainCause = z.object({ reason: z.enum(STRAIN_REASONS), detail: z.string().max(1024) })
export type StrainCause = Readonly<z.output<typeof strainCause>>

/** A changed field of the run configuration, by its path; values as JSON. */
const configurationChange = z.object({ field: text, from: text, to: text })

/**
 * Oldest version of this program that can read everything that this version writes into a log. It is raised with every change that older
 * versions cannot read, such as a new event type or a new value of a field.
 */
export const LOG_NEEDS = '0.1.0'

/**
 * Everything that happens in a run, one record each, in the order of the log. The log is the coordinator's only truth: all other
 * state is computed from it. Every event also has a `type` and the time `atMs`.
 */
export const EVENTS = {
  /**
   * Another version of the program writes from here on. Readers need at least the version `needs`. The form of this event never
   * changes, so that an older program can distinguish a log that is too new from a damaged one.
   */
  'written-by': z.object({ program: packageVersion, needs: packageVersion }),
  /** The run configuration from the next round on (run-configuration.ts). The first event states all of it, a later one also the changes. */
  configured: z.object({
    configuration: runConfigurationSchema,
    changes: z.array(configurationChange).readonly(),
    /** Who changed it while the coordinator ran; absent at a start, and in logs of earlier versions. */
    ordered: z.object(order).optional(),
  }),
  /** A dry run: before the first version, the coordinator played some tasks with the base model. */
  rehearsed: z.object({
    groups: count,
    /** Zero-variance groups. */
    zeroVariance: count,
    rollouts: count,
    /** Rollouts that solved their task exactly. */
    solved: count,
    /** Mean over all rollouts. */
    reward: number,
    /** Calls of all rollouts, and calls of the ground truths of their tasks. */
    calls: count,
    callsDue: count,
    /** Rollouts of tasks that need a call, and the number of these rollouts without one. */
    asked: count,
    silent: count,
    /** Rollouts that ended at a length limit. */
    cut: count,
    sampledTokens: count,
    /** Whether all planned groups were played within the limits of time and tokens. */
    isWhole: z.boolean(),
  }),
  /** Version `version` is now the policy in force, and round `round` is open under the newest run configuration. */
  published: z.object({
    round: count,
    version: count,
    /** Published trainer step. */
    step: count,
    /** Step whose update made the adapter: `step` itself, or an earlier step when `step` changed nothing or rolled back. */
    adapterStep: count,
    policyId: hash,
    manifestId: hash,
    adapterSha256: hash,
    /** Settings and program of the step, as the trainer reports them; null, or absent in logs of earlier versions: not reported. */
    recipe: z.record(z.string().max(64), z.unknown()).nullable().optional(),
    /** Hex. The manifest contains its hash; the manifest of a later round contains the secret. */
    roundSecret: hash,
    /** Tasks for which this round gives no leases, see curriculum.ts. */
    skippedTasks: bitmap,
  }),
  /** A version was scored on held-out tasks: the coordinator played each task once, with the same seeds for every version. */
  scored: z.object({
    version: count,
    adapterSha256: hash,
    tasks: count,
    /** Held-out tasks that were omitted because their prompts are too long for an answer. */
    tooLong: count,
    reward: estimate,
    /** Share of the rollouts that solved their task exactly. */
    solved: estimate,
    /** Mean number of calls per rollout, and of calls of the ground truth of its task. */
    calls: number,
    callsDue: number,
  }),
  /** A volunteer made the step of this version again, and signed the result. */
  rederived: z.object({
    version: count,
    manifestId: hash,
    /** Key that signed. */
    node: text,
    /** Name of the check that failed; null: the step follows from its evidence. */
    fault: z.string().max(LIMITS.shortNameBytes.value).nullable(),
    /** Difference of both results, as a share of the norm of the update; null: not computed. */
    difference: number.min(0).nullable(),
    /** Credit that the reporter earns. */
    credit: number.min(0),
  }),
  /** Another round of the version in force: for new keys, for a changed run configuration, or because an environment is quarantined. */
  reopened: z.object({
    round: count,
    version: count,
    policyId: hash,
    manifestId: hash,
    roundSecret: hash,
    skippedTasks: bitmap,
  }),
  /** A key asked for work for the first time, in round `round`. It gets leases of later rounds, whose secrets it could not know. */
  registered: z.object({
    node: text,
    round: count,
    /** Program and version, as the node reports them; absent in logs of earlier versions. */
    agent: text.optional(),
  }),
  /** From now on all credit of the key counts for this team; null: for no team. */
  'team-joined': z.object({ node: text, team: text.nullable() }),
  /** A node ended its work because of an error, and reported which. At most a few per minute and key are recorded. */
  left: z.object({
    node: text,
    /** Version in force. */
    version: count,
    reason: z.enum(LEAVE_REASONS),
    /** Sentence of the node; empty: none. */
    detail: z.string().max(LIMITS.detailBytes.value),
  }),
  /** No volunteer has been at work for half a minute. Recorded again when the causes change. */
  unattended: z.object({
    version: count,
    /** The most frequent first; none: no node has asked for work since the coordinator started. */
    causes: z.array(absence).max(ABSENCE_REASONS.length).readonly(),
  }),
  /** A volunteer is at work again, on this version. */
  attended: z.object({ version: count }),
  /**
   * Groups or connections fell to a fraction of what they were, or peers find no free stream. Recorded again when the causes change. `groups`
   * are per minute.
   */
  strained: z.object({ version: count, ...strain, causes: z.array(strainCause).max(16).readonly() }),
  /** That is over. */
  relieved: z.object({ version: count }),
  /** The operator accepted the loss of the events after the previous one, whose log was damaged (`prove-coordinator repair`). */
  repaired: z.object({ lost: count }),
  /** A node got a lease for a group of a task. */
  leased: z.object({
    leaseId: lease,
    /** Round whose run configuration applies to the group. */
    round: count,
    /** Counts the leases of a node in a round. The seed depends on it. */
    index: count,
    node: text,
    version: count,
    /** Index of the task in the training split. */
    taskIndex: count,
    /** Hex, 32 bytes. */
    seed: hash,
    deadlineMs: number,
    /** Inference backend, as the node reports it. Determines the calibration for audits. */
    backend: text,
    /** Program and version, as the node reports them; absent in logs of earlier versions. */
    agent: text.optional(),
    /** Block of network addresses that the node asked from; null, or absent in logs of earlier versions: unknown. */
    addressBlock: text.nullable().optional(),
  }),
  /** A node still works on a lease, whose deadline moves. */
  renewed: z.object({ leaseId: lease, deadlineMs: number }),
  /** A lease ended without a group. Its node gets it again before any other lease of the same version. */
  released: z.object({ leaseId: lease, reason: text }),
  /** A group got its verdict. */
  judged: z.object({
    leaseId: lease,
    node: text,
    version: count,
    bodySha256: hash,
    accepted: z.boolean(),
    /** Reason of a refusal, see docs/reference/verdicts.md. */
    code: code.nullable(),
    detail: text,
    credit: number.min(0),
    /** Recomputed rewards of an accepted group, in rollout order; reported rewards when the body was not needed. */
    rewards: z.array(number).max(1024).readonly(),
    /** The accepted group has no reward variance, so it is not trained on and its body was not downloaded. */
    zeroVariance: z.boolean(),
    audit,
    logitErrors,
    /** Block of network addresses that the announcement came from; null: unknown, or this machine. */
    addressBlock: text.nullable(),
    /** Short hash of the sampled text of each rollout; empty when not replayed. */
    completions: z
      .array(z.string().regex(/^[0-9a-f]{16}$/))
      .max(1024)
      .readonly(),
    /** Log-probability of each rollout (nats), as the node reports it, for finding copies. */
    logprobs: z.array(number).max(1024).readonly(),
    /** Sketch of each rollout, see rollout/verification/likeness.ts, for finding copies. */
    sketches: z.array(z.base64().length(SKETCH_CHARS)).max(1024).readonly(),
    /** Sampled tokens of all rollouts; 0 when not replayed. */
    sampledTokens: count,
    /** Time (ms) from the last grant of the lease to the arrival of the group; absent for unverified groups, and in logs of earlier versions. */
    tookMs: count.optional(),
    /** Tool calls of all rollouts, and number of rollouts that solved their task exactly; 0 when not replayed. */
    calls: count,
    solved: count,
    /** Mean reward components over the rollouts, by name; absent when unknown, and in logs of earlier versions. */
    rewardParts: z.record(z.string().max(64), number).optional(),
  }),
  /** An accepted group was audited later. */
  audited: z.object({
    leaseId: lease,
    node: text,
    accepted: z.boolean(),
    code: code.nullable(),
    detail: text,
    logitErrors,
    /** Batch without this group, when the first forward pass of training was the audit. For passed audits see `batch-audited`. */
    batchId: text.optional(),
  }),
  /** The first forward pass of training audited these groups of a batch, and all of them passed. */
  'batch-audited': z.object({
    batchId: text,
    groups: z
      .array(z.object({ leaseId: lease, node: text, logitErrors: logitErrorSums }))
      .max(65_536)
      .readonly(),
  }),
  /**
   * The body of this accepted group is lost, and its author does not have it any more. The group is neither trained on nor audited.
   * Its verdict and credit remain. A pending batch with the group is dissolved: its other groups can be used again, and the
   * step number is free.
   */
  'body-lost': z.object({ leaseId: lease, bodySha256: hash, detail: text }),
  /** The environment is nondeterministic: two replays of this lease's group gave different results. Its tasks are disabled. */
  'environment-quarantined': z.object({ environment: text, leaseId: lease }),
  /** The groups of these leases form the batch of training step `step`. */
  batched: z.object({
    batchId: text,
    step: count,
    leaseIds: z.array(lease).max(65_536).readonly(),
    /** The step restores the policy of this earlier step, as the operator ordered. Such a batch has no groups. */
    backTo: count.optional(),
  }),
  /** A key was caught that had supplied these unaudited groups of the batch. The update remains. */
  'batch-doubted': z.object({ batchId: text, node: text, leaseIds: z.array(lease).max(65_536).readonly() }),
  /** The trainer has made a step. `skipped`: it left the policy unchanged, for example because a gradient was not finite. */
  trained: z.object({
    batchId: text,
    step: count,
    skipped: z.boolean(),
    /** Reason for skipping, as the trainer reports it; absent otherwise, and in logs of earlier versions. */
    reason: text.optional(),
    /** Numbers of the step, by their names in docs/reference/trainer.md; absent in logs of earlier versions. */
    stats: z.record(z.string().max(64), number).optional(),
  }),
  /** The trainer could not use the batch. Its groups are not trained on, and the step number is free again. */
  'batch-refused': z.object({ batchId: text, code: text, detail: text }),
  /** The run is paused: no leases are given and no batch is formed. Work in progress is finished. */
  paused: z.object(order),
  /** The pause ends. */
  resumed: z.object(order),
  /** A key gets no leases, and its groups are refused. Its accepted groups that are in no batch are held back. */
  banned: z.object({ ...order, node: text }),
  /** The reputation of a key is restored, see `Reputation.absolve`. A ban, a quarantine or an exclusion ends. */
  unbanned: z.object({ ...order, node: text }),
  /** A task is dropped: no more leases, and no training on its groups that are in no batch. Groups in progress still earn credit. */
  'task-dropped': z.object({ ...order, taskIndex: count, taskId: text }),
  /** An environment is disabled: no leases for its tasks until it is enabled again. Its groups count as before. */
  'environment-disabled': z.object({ ...order, environment: text }),
  /** An environment is enabled again. */
  'environment-enabled': z.object({ ...order, environment: text }),
  /** The operator ordered a rollback: the next batch restores the step of this version, and the later versions are withdrawn. */
  'rollback-ordered': z.object({ ...order, version: count }),
  /** An announcement for all volunteers, until the next one. Without message and addresses, it ends the previous one. */
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
    // A refusal has a code, which the reducer uses.
    z
      .looseObject({ type: z.literal(type), atMs: number, ...fields.shape })
      .refine((event) => !('accepted' in event) || event.accepted === (event.code === null)),
  ]),
)

/**
 * Parses an event of the log. Keeps fields that a later version added.
 * @returns  undefined for a value that no version of this program wrote
 */
export function parseEvent(value: unknown): RunEvent | undefined {
  const type = typeof value === 'object' && value !== null && 'type' in value ? value.type : undefined
  const schema = typeof type === 'string' ? SCHEMAS.get(type) : undefined
  // TypeScript cannot see that the schema in the map checks the fields of its type.
  return schema?.safeParse(value).success ? (value as RunEvent) : undefined
}
