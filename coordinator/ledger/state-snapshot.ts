import { z } from 'zod'
import { CodedError } from '../../common/errors/index.js'
import { isRefusalCode, type RefusalCode } from '../../proto/index.js'
import { type EventOf, parseEvent, type RunEvent } from './events.js'
import { type RunConfiguration, runConfigurationSchema } from './run-configuration.js'
import { UNSTEERED } from './steering.js'
import { UNSUSPECTED } from './suspicion.js'

export type CheckpointErrorCode =
  /** The file is truncated or was changed. */
  | 'damaged'
  /** Another version of this program has written the file, and may compute another state. */
  | 'other_version'
  /** The log does not have the place of the checkpoint. */
  | 'elsewhere'

/** The checkpoint cannot be used, so the log is read from its start. */
export class CheckpointError extends CodedError<CheckpointErrorCode> {}

/** Returns an entry that others refer to. @throws CheckpointError if it is missing */
export function known<T>(found: T | undefined, name: string): T {
  if (found === undefined) throw new CheckpointError('damaged', `it refers to ${name}, which it does not contain`)
  return found
}

const count = z.int().min(0)
const number = z.number()
const text = z.string()
const names = z.array(text).readonly()

/** An event as the log stores it, including fields of later versions. */
const event = <T extends RunEvent['type']>(type: T) =>
  z.custom<EventOf<T>>((value) => parseEvent(value)?.type === type, `not an event of type ${type}`)

const reputation = z.object({
  streak: count,
  suspicion: z.object({
    audits: count,
    failures: count,
    doubt: number,
    odds: z.array(number).length(UNSUSPECTED.odds.length).readonly(),
  }),
  steering: z.object({
    amounts: z.array(number).length(UNSTEERED.amounts.length).readonly(),
    direction: number,
    isHeldBack: z.boolean(),
  }),
  quarantines: count,
  forfeited: count,
  /** End of the last quarantine; absent: never quarantined; null: excluded for good. */
  until: number.nullable().optional(),
})
export type ReputationSnapshot = z.output<typeof reputation>

const order = z.object({
  atMs: number,
  by: z.object({ who: text, via: text }),
  reason: text.nullable(),
})

const verdict = z.object({
  leaseId: text,
  bodySha256: text,
  accepted: z.boolean(),
  code: z.custom<RefusalCode>((value) => typeof value === 'string' && isRefusalCode(value)).nullable(),
  detail: text,
  credit: number,
  atMs: number,
})

const comparedGroup = z.object({
  leaseId: text,
  completions: names,
  logprobs: z.array(number).readonly(),
  sketches: names,
})

/**
 * Sections of a snapshot: the whole state of the reducer as lists whose entries are written one by one. Values that follow from others are
 * omitted. Leases are referred to by id. The order of entries matters, because batches are formed in it.
 */
export const SECTIONS = {
  configuration: z.object({
    configuration: z.custom<RunConfiguration>((value) => runConfigurationSchema.safeParse(value).success),
    configurationId: text,
    fromRound: count,
  }),
  publications: event('published'),
  /** `configuration`: index in that section. */
  rounds: z.object({
    round: count,
    version: count,
    policyId: text,
    manifestId: text,
    roundSecret: text,
    skippedTasks: text,
    openedAtMs: number,
    configuration: count,
  }),
  registered: z.tuple([text, count]),
  teams: z.tuple([text, text]),
  nodes: z.object({
    node: text,
    reputation,
    verdicts: z.array(verdict),
    verdictCount: count,
    credit: number,
    lastLease: z.enum(['delivered', 'abandoned']).nullable(),
    abandoned: count,
    addressBlock: text.nullable(),
    deliveryRate: z.object({ ms: number, tokens: number, groups: count, atMs: number }).nullable(),
    record: z.object({ delivered: number, lost: number }),
  }),
  reliable: text,
  suppliers: text,
  /** Delivered and lost leases of each block of addresses. */
  blocks: z.tuple([text, number, number]),
  leases: event('leased'),
  /** Open leases, whether each is past its first deadline, and the capacity that it takes with the end of that. */
  open: z.tuple([text, z.boolean(), number, number]),
  owed: text,
  /** Open leases that were abandoned before. */
  retaken: text,
  nextIndex: z.tuple([text, count]),
  judged: event('judged'),
  accepted: text,
  audited: text,
  passedInBatch: text,
  lostBodies: text,
  /** Verdicts with the training step that they are for. */
  verdictLeaves: z.tuple([count, text]),
  /** At most two. */
  scores: event('scored'),
  /** Usable groups, and whether each is put aside. */
  usable: z.tuple([text, z.boolean()]),
  onTrust: text,
  suspects: text,
  /** By task; only the lease id if `judged` contains the group. */
  comparedGroups: z.tuple([count, z.union([text, comparedGroup])]),
  curriculum: z.tuple([count, count, count]),
  withdrawn: count,
  quarantinedEnvironments: text,
  banned: z.tuple([text, order]),
  droppedTasks: z.tuple([count, order.extend({ taskId: text })]),
  disabledEnvironments: z.tuple([text, order]),
  batches: event('batched'),
  trained: event('trained'),
  refused: event('batch-refused'),
  dissolved: text,
  /** Adapter step of each version. */
  adapterSteps: count,
  /** `configuration` and `recipe`: indices in those sections. */
  trainedBatches: z.object({
    step: count,
    batchId: text,
    groups: count,
    configuration: count,
    recipe: count.nullable(),
  }),
  recipes: z.record(text, z.unknown()),
  batchedOnTrust: z.object({ node: text, confirmed: count, groups: z.array(z.tuple([text, text])) }),
  doubted: z.object({ batchId: text, node: text, leaseIds: names }),
  caughtSinceBatch: text,
  /** One entry. */
  rest: z.object({
    writtenBy: text.nullable(),
    keysWaiting: count,
    unprovenYield: number,
    usualTokens: number.nullable(),
    pendingBatch: text.nullable(),
    verdictStep: count,
    enabledSinceRound: z.boolean(),
    unattended: event('unattended').nullable(),
    strain: event('strained').nullable(),
    pause: order.nullable(),
    announcement: order.extend({ message: text, addresses: names }).nullable(),
    rollback: order.extend({ version: count }).nullable(),
  }),
} as const

export type Section = keyof typeof SECTIONS
export const SECTION_NAMES = Object.keys(SECTIONS) as Section[]

export type StateSnapshot = { readonly [S in Section]: readonly z.output<(typeof SECTIONS)[S]>[] }

export const snapshotSize = (snapshot: StateSnapshot): number =>
  SECTION_NAMES.reduce((sum, name) => sum + snapshot[name].length, 0)
