import type { RefusalCode } from '../../proto/index.js'
import type { EarlierGroup } from '../../rollout/verification/index.js'
import type { DoubtedBatch } from './batched-on-trust.js'
import type { Curriculum } from './curriculum.js'
import type { DeliveryRate } from './delivery-rate.js'
import type { EventOf } from './events.js'
import type { RunOrders } from './orders.js'
import type { Reputation } from './reputation.js'
import type { LeaseConfiguration, RunConfiguration } from './run-configuration.js'

export type Publication = EventOf<'published'>
export type LeaseRecord = EventOf<'leased'>
export type JudgedGroup = EventOf<'judged'>
export type AuditedGroupRecord = EventOf<'audited'>
export type BatchRecord = EventOf<'batched'>

/** What an accepted group said, for finding copies. */
export type AcceptedSayings = EarlierGroup

/** By what a step was made, as its trainer says (docs/trainer.md). Not parsed here: each version says what it knows. */
export type Recipe = NonNullable<Publication['recipe']>

/** A batch that a policy was trained on. */
export interface TrainedBatch {
  readonly step: number
  readonly batchId: string
  /** How many it had. */
  readonly groups: number
  /** Place of the terms in force when it was formed, in `termsHistory`. */
  readonly configuration: number
  /** Null: its trainer did not say, or its step is not published yet. */
  readonly recipe: Recipe | null
}

/** Terms, their name, and the number of the first round that may be under them. */
export interface AgreedConfiguration {
  readonly configuration: RunConfiguration
  readonly configurationId: string
  readonly fromRound: number
}

/** The terms under which a lease was given. */
export type ConfigurationOf = (lease: LeaseRecord) => LeaseConfiguration

/** A stretch of a run with one secret for the seeds of its leases, and one set of terms. A version has one or more. */
export interface Round {
  readonly round: number
  readonly version: number
  readonly policyId: string
  readonly manifestId: string
  readonly roundSecret: string
  readonly resting: string
  readonly openedAtMs: number
  /** What its leases promise, and their name. */
  readonly configuration: RunConfiguration
  readonly configurationId: string
}

/** A verdict as its node hears it. One group may get two: accepted first, refused by a later audit. */
export interface NodeVerdict {
  readonly leaseId: string
  readonly bodySha256: string
  readonly accepted: boolean
  readonly code: RefusalCode | null
  readonly detail: string
  readonly credit: number
  readonly atMs: number
}

/** What keys share a part of the room for leases by: a block of addresses; a key whose address is not known stands for itself. */
export const originOf = (node: string, addressBlock: string | null | undefined): string => addressBlock ?? `of ${node}`

export interface NodeRecord {
  readonly node: string
  readonly reputation: Pick<
    Reputation,
    'streak' | 'doubt' | 'record' | 'isBlemished' | 'isHeldBack' | 'isQuarantined' | 'quarantinedUntilMs'
  >
  /** The newest, as many as `LIMITS.verdictsKept`: all others are in the log, and in the node's own ledger. */
  readonly verdicts: readonly NodeVerdict[]
  /** How many there were in all: the newest one is the last of them. */
  readonly verdictCount: number
  readonly credit: number
  /** What became of its last lease, abandoned being lapsed, forgotten or given back; null: none is over yet. */
  readonly lastLease: 'delivered' | 'abandoned' | null
  /** Leases that it has abandoned in all; one that it took up again and delivered counts too. */
  readonly abandoned: number
  /** Where its last group came from. */
  readonly addressBlock: string | null
  /** Null: nobody has seen how long it takes. */
  readonly deliveryRate: DeliveryRate | null
}

/**
 * What a key is known for. `proven`: its last lease brought a group that was accepted. `doubtful`: it left its last lease lying.
 * `untried`: neither.
 */
export type KeyKind = 'proven' | 'untried' | 'doubtful'

/** A key that is at work: it holds leases, and is known to deliver. */
export interface Supplier {
  readonly node: string
  /** Where its last group came from; null: not known. */
  readonly addressBlock: string | null
}

/** Whether a verdict rests on nothing but the announcement. */
export const isUnseen = ({ accepted, zeroVariance, completions }: JudgedGroup): boolean =>
  accepted && zeroVariance && completions.length === 0

/**
 * Everything the coordinator knows about its run: a fold over the event log (run-reducer.ts), with nothing added from
 * elsewhere. It changes only through events that are on disk, so nothing here can be changed.
 */
export interface RunState {
  /** The newest terms: those of the next round. Undefined before the first event. */
  readonly configuration: RunConfiguration | undefined
  /** All terms of the run, oldest first, with the number of the first round that may be under them. */
  readonly configurationHistory: readonly AgreedConfiguration[]
  /** The newest, by version: of all that can be served or trained on. */
  readonly publications: readonly Publication[]
  /** The newest, by number: as many as a manifest shows secrets of. */
  readonly rounds: readonly Round[]
  /** Keys, and the round in which each was first seen. */
  readonly registered: ReadonlyMap<string, number>
  /** The teams that keys have named. */
  readonly teams: ReadonlyMap<string, string>
  /** The version of the program that writes the log; null: from before that was noted. */
  readonly writtenBy: string | null
  /** Keys that registered since the last round opened. */
  readonly keysWaiting: number
  /**
   * Leases whose groups can still change something. Those of versions so old that nothing made with them is taken
   * (`LIMITS.staleness`) are forgotten with their verdicts, unless they are open, or their groups in training or at stake in an
   * audit. So are batches of steps that old.
   */
  readonly leases: ReadonlyMap<string, LeaseRecord>
  /** Leases that are neither judged nor released. */
  readonly openLeases: ReadonlyMap<string, LeaseRecord>
  readonly judged: ReadonlyMap<string, JudgedGroup>
  readonly nodes: ReadonlyMap<string, NodeRecord>
  /** Nodes whose last lease brought a group that was accepted. */
  readonly reliable: ReadonlySet<string>
  /** Accepted groups in log order, those that a later audit refused left out. */
  readonly accepted: ReadonlyMap<string, JudgedGroup>
  /**
   * Accepted groups of nodes that were caught lying since: not to be trained on before they pass an audit of their own, and
   * without one not to be believed any longer.
   */
  readonly suspects: ReadonlyMap<string, JudgedGroup>
  readonly quarantinedEnvironments: ReadonlySet<string>
  /** What the operator wants, as far as it holds. */
  readonly orders: RunOrders
  /** Whether a world was woken in the round in force, which still gives no leases for its tasks. */
  readonly wokenSinceRound: boolean
  /** Of the versions that are still served, those that have given way to an earlier one. */
  readonly withdrawn: ReadonlySet<number>
  /** Accepted groups of banned keys that could be trained on, were they not. */
  readonly heldBack: readonly JudgedGroup[]
  readonly curriculum: Pick<Curriculum, 'rests'>
  readonly batches: ReadonlyMap<string, BatchRecord>
  readonly trained: ReadonlyMap<string, EventOf<'trained'>>
  readonly refusedBatches: ReadonlyMap<string, EventOf<'batch-refused'>>
  /** Batches of the last versions with unaudited groups of keys that were caught since, as far as they are not on record as such. */
  readonly doubtedBatches: readonly DoubtedBatch[]
  /** Batches that were given up because a body of theirs was lost. */
  readonly dissolvedBatches: ReadonlySet<string>
  /** Accepted groups whose bodies nobody has any more. */
  readonly lostBodies: ReadonlySet<string>
  /** The first score on held-out tasks, and the newest. */
  readonly scores: readonly EventOf<'scored'>[]
  /** The policy in force, once one was published. */
  readonly current: Publication | undefined
  /** The round that leases are given for, once a policy was published. */
  readonly round: Round | undefined
  /** The batch that was formed and is neither trained, refused nor dissolved: at most one. */
  readonly pendingBatch: BatchRecord | undefined
  /**
   * Who is at work: nodes with open leases that are known to deliver. Another could hold leases only to be waited for, so
   * nobody is waited for any longer than a lease lasts without renewal.
   */
  readonly suppliers: ReadonlyMap<string, Supplier>
  /** Open leases of a node. */
  openLeasesOf(node: string): ReadonlyMap<string, LeaseRecord>
  /** How many open leases keys of a kind hold. @param origin  where they were asked for from, see `originOf`; by default anywhere */
  openLeasesBy(kind: KeyKind, origin?: string): number
  /** Share of the leases of keys that are not proven which lately brought an accepted group; 1 before any of them ended. */
  readonly unprovenYield: number
  /** Tokens that a usual group samples, all its rollouts together; null: none was seen yet. */
  readonly usualTokens: number | null
  /** The open lease with the earliest deadline. */
  readonly firstToLapse: LeaseRecord | undefined
  kindOf(node: string): KeyKind
  /** The round that a lease was given in: its policy and its terms. @throws SwarmRefusal `stale_policy` of a lease that is forgotten */
  roundOf(lease: Pick<LeaseRecord, 'round'>): Round
  /** The publication of the version of a lease. @throws SwarmRefusal `stale_policy` of one that is forgotten */
  publication(version: number): Publication
  /** The batches whose updates made the adapter of training step `adapterStep`, oldest first. */
  batchesBehind(adapterStep: number): TrainedBatch[]
  /** Whether a key may have leases of the round in force: it registered before the round's secret was drawn. */
  isAdmitted(node: string): boolean
  /** The index of a node's next lease in the round in force. */
  nextLeaseIndex(node: string): number
  /** Whether an accepted group can still be audited: it was not yet, and is in no batch. */
  isOpenToAudit(leaseId: string): boolean
  /** Whether an accepted group has passed an audit. */
  hasPassedAudit(leaseId: string): boolean
  /** Whether it is on record which groups of the pending batch its training forward has passed. */
  readonly isBatchAudited: boolean
  /** A lease of the version and the terms in force that the node has left lying. */
  owedLease(node: string): LeaseRecord | undefined
  /** What the newest accepted groups of a task said, oldest first, as far as somebody has looked at them. */
  acceptedOfTask(taskIndex: number): readonly AcceptedSayings[]
  /**
   * Accepted groups that can still be trained on, in log order: with reward variance, in no batch yet, above suspicion, at
   * most `maxStaleness` versions behind, and of an adapter that was not rolled back.
   */
  trainable(maxStaleness: number): JudgedGroup[]
  /** How many that are, without walking through them. */
  trainableCount(maxStaleness: number): number
  /** How many of them are a node's. */
  trainableCountOf(node: string, maxStaleness: number): number
}
