import type { DoubtedBatch } from './batched-on-trust.js'
import type { Curriculum } from './curriculum.js'
import type { EventOf } from './events.js'
import type { NodeState } from './keys.js'
import type { RunOrders } from './orders.js'
import type { RunConfiguration } from './run-configuration.js'
import type { RunRecords } from './run-records.js'
import type {
  AgreedConfiguration,
  BatchRecord,
  ComparedGroup,
  JudgedGroup,
  KeyKind,
  LeaseRecord,
  Publication,
  Round,
  RunState,
  Supplier,
  TrainedBatch,
} from './run-state.js'
import type { VerdictTrees } from './verdict-trees.js'

/** Read-only view of the records of a run. */
export class RunView implements RunState {
  protected readonly records: RunRecords

  constructor(records: RunRecords) {
    this.records = records
  }

  get writtenBy(): string | null {
    return this.records.writtenBy
  }

  get registered(): ReadonlyMap<string, number> {
    return this.records.registered
  }

  get teams(): ReadonlyMap<string, string> {
    return this.records.teams
  }

  get keysWaiting(): number {
    return this.records.keysWaiting
  }

  get quarantinedEnvironments(): ReadonlySet<string> {
    return this.records.quarantinedEnvironments
  }

  get unattended(): EventOf<'unattended'> | null {
    return this.records.unattended
  }

  get strain(): EventOf<'strained'> | null {
    return this.records.strain
  }

  get enabledSinceRound(): boolean {
    return this.records.enabledSinceRound
  }

  get curriculum(): Pick<Curriculum, 'skips'> {
    return this.records.curriculum
  }

  get verdictTrees(): Omit<VerdictTrees, 'note' | 'formed' | 'dropped' | 'forget'> {
    return this.records.verdictTrees
  }

  get scores(): readonly EventOf<'scored'>[] {
    return this.records.scores
  }

  get rederived(): readonly EventOf<'rederived'>[] {
    return this.records.rederived
  }

  get orders(): RunOrders {
    return this.records.orders
  }

  get withdrawn(): ReadonlySet<number> {
    return this.records.withdrawn
  }

  get judged(): ReadonlyMap<string, JudgedGroup> {
    return this.records.groups.judged
  }

  get accepted(): ReadonlyMap<string, JudgedGroup> {
    return this.records.groups.accepted
  }

  get suspects(): ReadonlyMap<string, JudgedGroup> {
    return this.records.groups.suspects
  }

  get lostBodies(): ReadonlySet<string> {
    return this.records.groups.lostBodies
  }

  get heldBack(): JudgedGroup[] {
    return this.records.groups.usable.heldBack
  }

  get nodes(): ReadonlyMap<string, NodeState> {
    return this.records.keys.all
  }

  get reliable(): ReadonlySet<string> {
    return this.records.keys.reliable
  }

  get suppliers(): ReadonlyMap<string, Supplier> {
    return this.records.keys.suppliers
  }

  get unprovenYield(): number {
    return this.records.keys.unprovenYield
  }

  get usualTokens(): number | null {
    return this.records.keys.usualTokens
  }

  get configuration(): RunConfiguration | undefined {
    return this.configurationHistory.at(-1)?.configuration
  }

  get configurationHistory(): readonly AgreedConfiguration[] {
    return this.records.rounds.configuration
  }

  get publications(): readonly Publication[] {
    return this.records.rounds.publications
  }

  get rounds(): readonly Round[] {
    return this.records.rounds.newest
  }

  roundOf(lease: Pick<LeaseRecord, 'round'>): Round {
    return this.records.rounds.roundOf(lease)
  }

  get current(): Publication | undefined {
    return this.publications.at(-1)
  }

  publication(version: number): Publication {
    return this.records.rounds.publicationOf(version)
  }

  batchesBehind(adapterStep: number): TrainedBatch[] {
    return this.records.batches.lineage.behind(adapterStep)
  }

  get round(): Round | undefined {
    return this.rounds.at(-1)
  }

  get batches(): ReadonlyMap<string, BatchRecord> {
    return this.records.batches.all
  }

  get trained(): ReadonlyMap<string, EventOf<'trained'>> {
    return this.records.batches.trained
  }

  get refusedBatches(): ReadonlyMap<string, EventOf<'batch-refused'>> {
    return this.records.batches.refused
  }

  get dissolvedBatches(): ReadonlySet<string> {
    return this.records.batches.dissolved
  }

  get pendingBatch(): BatchRecord | undefined {
    return this.records.batches.pending
  }

  get doubtedBatches(): DoubtedBatch[] {
    return this.records.batchedOnTrust.unnamed
  }

  isAdmitted(node: string): boolean {
    const since = this.registered.get(node)
    return since !== undefined && this.round !== undefined && since < this.round.round
  }

  nextLeaseIndex(node: string): number {
    return this.records.leases.nextIndex(node)
  }

  isOpenToAudit(leaseId: string): boolean {
    return this.records.groups.isAtStake(leaseId) && !this.records.groups.isAudited(leaseId)
  }

  hasPassedAudit(leaseId: string): boolean {
    return this.records.groups.isAudited(leaseId) && this.accepted.has(leaseId)
  }

  get isBatchAudited(): boolean {
    return this.records.groups.isBatchAudited
  }

  owedLease(node: string): LeaseRecord | undefined {
    return this.records.leases.owedTo(node, this.current?.version ?? 0)
  }

  debtOf(node: string): number {
    return this.records.leases.debtOf(node, this.current?.version ?? 0)
  }

  owedFrom(origin: string): number {
    return this.records.leases.owedFrom(origin)
  }

  reliabilityOf(node: string, addressBlock = this.nodes.get(node)?.addressBlock ?? null): number {
    return this.records.keys.reliabilityOf(node, addressBlock)
  }

  reliabilityOfBlock(block: string): number {
    return this.records.keys.reliabilityOfBlock(block)
  }

  acceptedOfTask(taskIndex: number): readonly ComparedGroup[] {
    return this.records.groups.acceptedOf(taskIndex)
  }

  get leases(): ReadonlyMap<string, LeaseRecord> {
    return this.records.leases.all
  }

  get openLeases(): ReadonlyMap<string, LeaseRecord> {
    return this.records.leases.open.all
  }

  openLeasesOf(node: string): ReadonlyMap<string, LeaseRecord> {
    return this.records.leases.open.of(node)
  }

  openLeasesBy(kind: KeyKind, origin?: string): number {
    return this.records.leases.open.count(kind, origin)
  }

  openLeasesFrom(origin: string): number {
    return this.records.leases.open.countFrom(origin)
  }

  capacityTakenBy(kind: KeyKind, nowMs: number): number {
    return this.records.leases.open.taken(kind, nowMs)
  }

  lapsedBefore(timeMs: number): readonly LeaseRecord[] {
    return this.records.leases.open.lapsedBefore(timeMs)
  }

  kindOf(node: string): KeyKind {
    return this.records.leases.open.kindOf(node)
  }

  trainable(maxStaleness: number): JudgedGroup[] {
    return this.records.groups.usable.list(this.#oldest(maxStaleness))
  }

  trainableCount(maxStaleness: number): number {
    return this.records.groups.usable.count(this.#oldest(maxStaleness))
  }

  trainableCountOf(node: string, maxStaleness: number): number {
    return this.records.groups.usable.countOf(node, this.#oldest(maxStaleness))
  }

  #oldest(maxStaleness: number): number {
    return (this.current?.version ?? 0) - maxStaleness
  }
}
