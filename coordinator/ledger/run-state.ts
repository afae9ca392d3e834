import type { RefusalCode } from '../../proto/index.js'
import type { EarlierGroup } from '../../rollout/verification/index.js'
import type { DoubtedBatch } from './batched-on-trust.js'
import type { Curriculum } from './curriculum.js'
import type { DeliveryRate } from './delivery-rate.js'
import type { DeliveryRecord } from './delivery-record.js'
import type { EventOf } from './events.js'
import type { RunOrders } from './orders.js'
import type { Reputation } from './reputation.js'
import type { LeaseConfiguration, RunConfiguration } from './run-configuration.js'
import type { VerdictTrees } from './verdict-trees.js'

export type Publication = EventOf<'published'>
export type LeaseRecord = EventOf<'leased'>
export type JudgedGroup = EventOf<'judged'>
export type AuditedGroupRecord = EventOf<'audited'>
export type BatchRecord = EventOf<'batched'>

/** Rollouts of an accepted group, in the form in which copies are found. */
export type ComparedGroup = EarlierGroup

/** Settings and program of a step, as the trainer reports them (docs/reference/trainer.md). Not parsed, because they depend on the version. */
export type Recipe = NonNullable<Publication['recipe']>

/** A batch that a policy was trained on. */
export interface TrainedBatch {
  readonly step: number
  readonly batchId: string
  /** Number of groups. */
  readonly groups: number
  /** Index of the run configuration in force when it was formed, in `configurationHistory`. */
  readonly configuration: number
  /** Null: not reported, or the step is not published yet. */
  readonly recipe: Recipe | null
}

/** A run configuration with its id, and the number of the first round that may be under it. */
export interface AgreedConfiguration {
  readonly configuration: RunConfiguration
  readonly configurationId: string
  readonly fromRound: number
}

/** Returns the run configuration under which a lease was given. */
export type ConfigurationOf = (lease: LeaseRecord) => LeaseConfiguration

/** A part of a version with one secret for the seeds of its leases, and one run configuration. */
export interface Round {
  readonly round: number
  readonly version: number
  readonly policyId: string
  readonly manifestId: string
  readonly roundSecret: string
  readonly skippedTasks: string
  readonly openedAtMs: number
  /** Run configuration of its leases, and the id. */
  readonly configuration: RunConfiguration
  readonly configurationId: string
}

/** A verdict for its node. A group may get two: accepted at first, and refused by a later audit. */
export interface NodeVerdict {
  readonly leaseId: string
  readonly bodySha256: string
  readonly accepted: boolean
  readonly code: RefusalCode | null
  readonly detail: string
  readonly credit: number
  readonly atMs: number
}

/** Returns the origin that shares a part of the capacity: a block of addresses, or the key itself if its address is unknown. */
export const originOf = (node: string, addressBlock: string | null | undefined): string => addressBlock ?? `of ${node}`

/** Record of a key. */
export interface NodeRecord {
  readonly node: string
  readonly reputation: Pick<
    Reputation,
    'streak' | 'doubt' | 'record' | 'isBlemished' | 'isHeldBack' | 'isQuarantined' | 'quarantinedUntilMs'
  >
  /** The newest verdicts, up to `LIMITS.verdictsKept`. The log, and the ledger of the node, contain all. */
  readonly verdicts: readonly NodeVerdict[]
  /** Number of all verdicts, including forgotten ones. */
  readonly verdictCount: number
  readonly credit: number
  /** Outcome of its last lease; `abandoned`: lapsed, forgotten or returned; null: no lease has ended yet. */
  readonly lastLease: 'delivered' | 'abandoned' | null
  /** Number of abandoned leases, including leases that it took again and delivered. */
  readonly abandoned: number
  /** Block of network addresses of its last group. */
  readonly addressBlock: string | null
  /** Measured speed; null: unknown. */
  readonly deliveryRate: DeliveryRate | null
  /** Its recent leases. */
  readonly record: DeliveryRecord
}

/**
 * Kind of a key by its last lease. `proven`: ended with an accepted group; `doubtful`: abandoned; `untried`: neither.
 */
export type KeyKind = 'proven' | 'untried' | 'doubtful'

/** A reliable key that is at work: it has open leases. */
export interface Supplier {
  readonly node: string
  /** Block of network addresses of its last group; null: unknown. */
  readonly addressBlock: string | null
}

/** Whether a verdict depends on the announcement alone. */
export const isUnseen = ({ accepted, zeroVariance, completions }: JudgedGroup): boolean =>
  accepted && zeroVariance && completions.length === 0

/**
 * State of a run, computed from the event log alone (run-reducer.ts). It changes only through events that are on disk, so it is
 * read-only.
 */
export interface RunState {
  /** The newest run configuration, which the next round opens under. Undefined before the first event. */
  readonly configuration: RunConfiguration | undefined
  /** All run configurations, oldest first. */
  readonly configurationHistory: readonly AgreedConfiguration[]
  /** The newest versions: all that can be served or trained on. */
  readonly publications: readonly Publication[]
  /** The newest rounds: as many as a manifest publishes secrets of. */
  readonly rounds: readonly Round[]
  /** Keys, with the round in which each asked for work first. */
  readonly registered: ReadonlyMap<string, number>
  /** Teams of keys. */
  readonly teams: ReadonlyMap<string, string>
  /** Program version that writes the log; null: in logs of earlier versions. */
  readonly writtenBy: string | null
  /** Number of keys that registered since the last round opened. */
  readonly keysWaiting: number
  /**
   * Leases whose groups can still matter. Leases of versions that are too old (`LIMITS.staleness`) are forgotten with their verdicts.
   * Exceptions are open leases, and leases whose groups are in training or may still be audited. Batches of old steps are forgotten
   * too.
   */
  readonly leases: ReadonlyMap<string, LeaseRecord>
  /** Leases without a verdict that were not released. */
  readonly openLeases: ReadonlyMap<string, LeaseRecord>
  readonly judged: ReadonlyMap<string, JudgedGroup>
  readonly nodes: ReadonlyMap<string, NodeRecord>
  /** Nodes whose last lease ended with an accepted group. */
  readonly reliable: ReadonlySet<string>
  /** Accepted groups in log order, without those that a later audit refused. */
  readonly accepted: ReadonlyMap<string, JudgedGroup>
  /**
   * Accepted groups of nodes that were caught later. They are not trained on, and not believed, before they have passed an audit
   * themselves.
   */
  readonly suspects: ReadonlyMap<string, JudgedGroup>
  readonly quarantinedEnvironments: ReadonlySet<string>
  /** Orders of the operator that are in force. */
  readonly orders: RunOrders
  /** Newest record that no volunteer is at work; null: some are, or the run has just begun. */
  readonly unattended: EventOf<'unattended'> | null
  /** Newest record of what fell to a fraction of what it was; null: nothing. */
  readonly strain: EventOf<'strained'> | null
  /** Whether an environment was enabled since the round in force opened, which gives no leases for its tasks yet. */
  readonly enabledSinceRound: boolean
  /** Served versions that were withdrawn by a rollback. */
  readonly withdrawn: ReadonlySet<number>
  /** Accepted groups that are excluded from training because their keys are banned or held back. */
  readonly heldBack: readonly JudgedGroup[]
  readonly curriculum: Pick<Curriculum, 'skips'>
  readonly batches: ReadonlyMap<string, BatchRecord>
  readonly trained: ReadonlyMap<string, EventOf<'trained'>>
  readonly refusedBatches: ReadonlyMap<string, EventOf<'batch-refused'>>
  /** Batches of the last versions with unaudited groups of keys that were caught later, unless the log names them already. */
  readonly doubtedBatches: readonly DoubtedBatch[]
  /** Batches that were dissolved because one of their bodies was lost. */
  readonly dissolvedBatches: ReadonlySet<string>
  /** Accepted groups whose bodies are lost. */
  readonly lostBodies: ReadonlySet<string>
  /** Verdicts of the last steps as Merkle trees. */
  readonly verdictTrees: Omit<VerdictTrees, 'note' | 'formed' | 'dropped' | 'forget'>
  /** The first score on held-out tasks, and the newest. */
  readonly scores: readonly EventOf<'scored'>[]
  /** The newest results of re-derivations. */
  readonly rederived: readonly EventOf<'rederived'>[]
  /** The policy in force; undefined before the first. */
  readonly current: Publication | undefined
  /** The round in force; undefined before the first. */
  readonly round: Round | undefined
  /** The batch that is neither trained, refused nor dissolved, if there is one. */
  readonly pendingBatch: BatchRecord | undefined
  /**
   * Reliable nodes with open leases. A batch only waits for a lease within its first duration: a node could hold leases just to be
   * waited for.
   */
  readonly suppliers: ReadonlyMap<string, Supplier>
  /** Open leases of a node. */
  openLeasesOf(node: string): ReadonlyMap<string, LeaseRecord>
  /** Number of open leases of a kind of keys. @param origin  see `originOf`; by default all origins */
  openLeasesBy(kind: KeyKind, origin?: string): number
  /** Number of open leases from an origin. */
  openLeasesFrom(origin: string): number
  /**
   * Returns the capacity that open leases take: of proven keys the expected number of groups, of other keys the number of leases. Leases
   * that are held for longer than one duration take none.
   */
  capacityTakenBy(kind: KeyKind, nowMs: number): number
  /** Share of the recent leases of unproven keys that ended with an accepted group; 1 before the first ended. */
  readonly unprovenYield: number
  /** Tokens that a usual group samples in all its rollouts; null: unknown. */
  readonly usualTokens: number | null
  /** Returns the open leases whose deadline is before a time, the earliest first. */
  lapsedBefore(timeMs: number): readonly LeaseRecord[]
  kindOf(node: string): KeyKind
  /** Returns the round of a lease, with its policy and run configuration. @throws SwarmRefusal `stale_policy` if it is forgotten */
  roundOf(lease: Pick<LeaseRecord, 'round'>): Round
  /** Returns the publication of a version. @throws SwarmRefusal `stale_policy` if it is forgotten */
  publication(version: number): Publication
  /** Returns the batches whose updates made the adapter of training step `adapterStep`, oldest first. */
  batchesBehind(adapterStep: number): TrainedBatch[]
  /** Whether a key may get leases of the round in force: it registered before the round's secret was made. */
  isAdmitted(node: string): boolean
  /** Returns the index of a node's next lease in the round in force. */
  nextLeaseIndex(node: string): number
  /** Whether an accepted group can still be audited: it was not audited yet, and is in no batch. */
  isOpenToAudit(leaseId: string): boolean
  /** Whether an accepted group has passed an audit. */
  hasPassedAudit(leaseId: string): boolean
  /** Whether the log contains the audit results of the pending batch. */
  readonly isBatchAudited: boolean
  /** Returns an abandoned lease of the node, of the version and the run configuration in force. */
  owedLease(node: string): LeaseRecord | undefined
  /** Returns the number of leases of earlier versions that a node abandoned and still owes. They expire with their version. */
  debtOf(node: string): number
  /** Returns the number of abandoned leases from an origin. */
  owedFrom(origin: string): number
  /**
   * Returns the share of its leases that a key delivers, without forgiven losses. A key with few leases is also judged by its block.
   * @param addressBlock  by default that of its last group
   */
  reliabilityOf(node: string, addressBlock?: string | null): number
  reliabilityOfBlock(block: string): number
  /** Returns the newest replayed and accepted groups of a task, oldest first. */
  acceptedOfTask(taskIndex: number): readonly ComparedGroup[]
  /**
   * Returns accepted groups that can be trained on, in log order. Such a group has reward variance, is in no batch and is not
   * suspected. Its version is at most `maxStaleness` versions behind, and was not withdrawn.
   */
  trainable(maxStaleness: number): JudgedGroup[]
  /** Returns the number of these groups in constant time per version. */
  trainableCount(maxStaleness: number): number
  /** Returns the number of these groups of one node. */
  trainableCountOf(node: string, maxStaleness: number): number
}
