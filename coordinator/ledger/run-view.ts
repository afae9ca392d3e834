import type { DoubtedBatch } from './batched-on-trust.js'
import type { Curriculum } from './curriculum.js'
import type { EventOf } from './events.js'
import type { FoldedNode } from './keys.js'
import type { RunOrders } from './orders.js'
import type { RunTerms } from './run-configuration.js'
import type { Books } from './run-records.js'
import type {
  AcceptedSayings,
  AgreedTerms,
  BatchRecord,
  JudgedGroup,
  KeyKind,
  LeaseRecord,
  Publication,
  Round,
  RunState,
  Supplier,
  TrainedBatch,
} from './run-state.js'

/** What the books of a run say, to everyone who asks. */
export class RunView implements RunState {
  protected readonly books: Books

  constructor(books: Books) {
    this.books = books
  }

  get writtenBy(): string | null {
    return this.books.writtenBy
  }

  get registered(): ReadonlyMap<string, number> {
    return this.books.registered
  }

  get teams(): ReadonlyMap<string, string> {
    return this.books.teams
  }

  get keysWaiting(): number {
    return this.books.keysWaiting
  }

  get quarantinedWorlds(): ReadonlySet<string> {
    return this.books.quarantinedWorlds
  }

  get wokenSinceRound(): boolean {
    return this.books.wokenSinceRound
  }

  get curriculum(): Pick<Curriculum, 'rests'> {
    return this.books.curriculum
  }

  get scores(): readonly EventOf<'scored'>[] {
    return this.books.scores
  }

  get orders(): RunOrders {
    return this.books.orders
  }

  get withdrawn(): ReadonlySet<number> {
    return this.books.withdrawn
  }

  get judged(): ReadonlyMap<string, JudgedGroup> {
    return this.books.groups.judged
  }

  get accepted(): ReadonlyMap<string, JudgedGroup> {
    return this.books.groups.accepted
  }

  get suspects(): ReadonlyMap<string, JudgedGroup> {
    return this.books.groups.suspects
  }

  get lostBodies(): ReadonlySet<string> {
    return this.books.groups.lostBodies
  }

  get heldBack(): JudgedGroup[] {
    return this.books.groups.usable.heldBack
  }

  get nodes(): ReadonlyMap<string, FoldedNode> {
    return this.books.keys.all
  }

  get reliable(): ReadonlySet<string> {
    return this.books.keys.reliable
  }

  get suppliers(): ReadonlyMap<string, Supplier> {
    return this.books.keys.suppliers
  }

  get unprovenYield(): number {
    return this.books.keys.unprovenYield
  }

  get usualTokens(): number | null {
    return this.books.keys.usualTokens
  }

  get terms(): RunTerms | undefined {
    return this.termsHistory.at(-1)?.terms
  }

  get termsHistory(): readonly AgreedTerms[] {
    return this.books.rounds.terms
  }

  get publications(): readonly Publication[] {
    return this.books.rounds.publications
  }

  get rounds(): readonly Round[] {
    return this.books.rounds.newest
  }

  roundOf(lease: Pick<LeaseRecord, 'round'>): Round {
    return this.books.rounds.roundOf(lease)
  }

  get current(): Publication | undefined {
    return this.publications.at(-1)
  }

  publication(version: number): Publication {
    return this.books.rounds.publicationOf(version)
  }

  batchesBehind(adapterStep: number): TrainedBatch[] {
    return this.books.batches.lineage.behind(adapterStep)
  }

  get round(): Round | undefined {
    return this.rounds.at(-1)
  }

  get batches(): ReadonlyMap<string, BatchRecord> {
    return this.books.batches.all
  }

  get trained(): ReadonlyMap<string, EventOf<'trained'>> {
    return this.books.batches.trained
  }

  get refusedBatches(): ReadonlyMap<string, EventOf<'batch-refused'>> {
    return this.books.batches.refused
  }

  get dissolvedBatches(): ReadonlySet<string> {
    return this.books.batches.dissolved
  }

  get pendingBatch(): BatchRecord | undefined {
    return this.books.batches.pending
  }

  get doubtedBatches(): DoubtedBatch[] {
    return this.books.batchedOnTrust.unnamed
  }

  isAdmitted(node: string): boolean {
    const since = this.registered.get(node)
    return since !== undefined && this.round !== undefined && since < this.round.round
  }

  nextLeaseIndex(node: string): number {
    return this.books.leases.nextIndex(node)
  }

  isOpenToAudit(leaseId: string): boolean {
    return this.books.groups.isAtStake(leaseId) && !this.books.groups.isAudited(leaseId)
  }

  hasPassedAudit(leaseId: string): boolean {
    return this.books.groups.isAudited(leaseId) && this.accepted.has(leaseId)
  }

  get isBatchAudited(): boolean {
    return this.books.groups.isBatchAudited
  }

  owedLease(node: string): LeaseRecord | undefined {
    return this.books.leases.owedTo(node)
  }

  acceptedOfTask(taskIndex: number): readonly AcceptedSayings[] {
    return this.books.groups.acceptedOf(taskIndex)
  }

  get leases(): ReadonlyMap<string, LeaseRecord> {
    return this.books.leases.all
  }

  get openLeases(): ReadonlyMap<string, LeaseRecord> {
    return this.books.leases.open.all
  }

  openLeasesOf(node: string): ReadonlyMap<string, LeaseRecord> {
    return this.books.leases.open.of(node)
  }

  openLeasesBy(kind: KeyKind, origin?: string): number {
    return this.books.leases.open.count(kind, origin)
  }

  get firstToLapse(): LeaseRecord | undefined {
    return this.books.leases.open.first
  }

  kindOf(node: string): KeyKind {
    return this.books.leases.open.kindOf(node)
  }

  trainable(maxStaleness: number): JudgedGroup[] {
    return this.books.groups.usable.list(this.#oldest(maxStaleness))
  }

  trainableCount(maxStaleness: number): number {
    return this.books.groups.usable.count(this.#oldest(maxStaleness))
  }

  trainableCountOf(node: string, maxStaleness: number): number {
    return this.books.groups.usable.countOf(node, this.#oldest(maxStaleness))
  }

  #oldest(maxStaleness: number): number {
    return (this.current?.version ?? 0) - maxStaleness
  }
}
