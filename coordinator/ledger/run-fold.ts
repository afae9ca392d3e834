import { LIMITS, type RefusalCode } from '../../proto/index.js'
import { BatchedOnTrust, type DoubtedBatch } from './batched-on-trust.js'
import { Batches } from './batches.js'
import { Curriculum } from './curriculum.js'
import type { EventOf, RunEvent } from './events.js'
import { type FoldImage, known } from './fold-image.js'
import { Groups } from './groups.js'
import { type FoldedNode, Keys } from './keys.js'
import { Leases } from './leases.js'
import { type OrderEvent, Orders, type RunOrders, TAKEN_BACK_FROM_BANNED } from './orders.js'
import { Rounds } from './rounds.js'
import {
  type AcceptedSayings,
  type AgreedTerms,
  type AuditedGroupRecord,
  type BatchRecord,
  isUnseen,
  type JudgedGroup,
  type KeyKind,
  type LeaseRecord,
  type Publication,
  type Round,
  type RunState,
  type Supplier,
  type TrainedBatch,
} from './run-state.js'
import type { RunTerms } from './terms.js'

/** The fold itself. Whoever has it can change it, so only the recorder does; everyone else has `RunState`. */
export class RunFold implements RunState {
  #rounds = new Rounds()
  writtenBy: string | null = null
  readonly registered = new Map<string, number>()
  readonly teams = new Map<string, string>()
  keysWaiting = 0
  #leases = new Leases()
  #groups = new Groups()
  #keys = new Keys(this.#leases.open)
  /** Versions whose adapter was rolled back: what they sampled is not trained on. */
  readonly #withdrawn = new Set<number>()
  readonly quarantinedWorlds = new Set<string>()
  #orders = new Orders()
  wokenSinceRound = false
  curriculum = new Curriculum()
  #batches = new Batches()
  #scores: readonly EventOf<'scored'>[] = []
  #batchedOnTrust = new BatchedOnTrust()
  /** Nodes that were caught since the last batch was formed. */
  readonly #caughtSinceBatch = new Set<string>()

  /** Everything it holds, as it is now. Events and verdicts are shared with it: they never change. */
  get image(): FoldImage {
    const { pause, announcement, rollback, ...orders } = this.#orders.image
    return {
      ...this.#rounds.image,
      registered: [...this.registered],
      teams: [...this.teams],
      ...this.#keys.image,
      ...this.#leases.image,
      ...this.#groups.image,
      scores: this.#scores,
      rests: this.curriculum.entries,
      withdrawn: [...this.#withdrawn],
      quarantinedWorlds: [...this.quarantinedWorlds],
      ...orders,
      ...this.#batches.image,
      ...this.#batchedOnTrust.image,
      caughtSinceBatch: [...this.#caughtSinceBatch],
      rest: [
        {
          writtenBy: this.writtenBy,
          keysWaiting: this.keysWaiting,
          unprovenYield: this.unprovenYield,
          usualTokens: this.usualTokens,
          pendingBatch: this.pendingBatch?.batchId ?? null,
          wokenSinceRound: this.wokenSinceRound,
          ...{ pause, announcement, rollback },
        },
      ],
    }
  }

  /** @throws CheckpointError for an image that does not hold together */
  static of(image: FoldImage): RunFold {
    const fold = new RunFold()
    fold.#rounds = Rounds.of(image)
    for (const [node, round] of image.registered) fold.registered.set(node, round)
    for (const [node, team] of image.teams) fold.teams.set(node, team)
    fold.#leases = Leases.of(image)
    for (const lease of fold.leases.values()) fold.roundOf(lease)
    fold.#groups = Groups.of(image, fold.leases)
    fold.#keys = Keys.of(image, fold.#leases.open)
    for (const node of image.caughtSinceBatch) fold.#caughtSinceBatch.add(node)
    for (const server of image.quarantinedWorlds) fold.quarantinedWorlds.add(server)
    for (const version of image.withdrawn) fold.#withdrawn.add(version)
    fold.curriculum = Curriculum.of(image.rests)
    const { writtenBy, keysWaiting, unprovenYield, usualTokens, pendingBatch, wokenSinceRound, ...standing } = known(
      image.rest[0],
      'the rest',
    )
    fold.wokenSinceRound = wokenSinceRound
    fold.#orders = Orders.of({ ...image, ...standing })
    for (const node of fold.#orders.banned.keys()) fold.#groups.usable.shutOut(node)
    for (const { node, standing } of fold.#keys.all.values()) if (standing.isHeldBack) fold.#groups.usable.shutOut(node)
    fold.writtenBy = writtenBy
    fold.keysWaiting = keysWaiting
    fold.#keys.unprovenYield = unprovenYield
    fold.#keys.usualTokens = usualTokens
    const pending = image.batches.find(({ batchId }) => batchId === pendingBatch)
    fold.#batches = Batches.of(image, pendingBatch === null ? undefined : known(pending, pendingBatch))
    fold.#batchedOnTrust = BatchedOnTrust.of(image)
    fold.#scores = image.scores
    return fold
  }

  apply(event: RunEvent): void {
    switch (event.type) {
      case 'written-by':
        this.writtenBy = event.program
        break
      case 'terms':
        this.#rounds.agree(event)
        break
      case 'published':
        for (const { version, adapterStep } of this.publications)
          if (adapterStep > event.adapterStep) this.#withdrawn.add(version)
        if (this.pendingBatch?.backTo !== undefined) this.#orders.endRollback()
        this.#rounds.publish(event)
        this.#batches.lineage.published(event)
        this.#beginRound()
        this.#leases.settleAll()
        this.#forget(event)
        break
      case 'reopened':
        // What a node left lying under other terms cannot be worked on under these.
        if (this.round?.termsId !== this.termsHistory.at(-1)?.termsId) this.#leases.settleAll()
        this.#rounds.open(event)
        this.#beginRound()
        break
      case 'registered':
        this.registered.set(event.node, event.round)
        this.keysWaiting += 1
        break
      case 'team-joined':
        if (event.team === null) this.teams.delete(event.node)
        else this.teams.set(event.node, event.team)
        break
      case 'leased':
        this.#leases.give(event, {
          isOfRound: event.round === this.round?.round,
          isLong: this.round !== undefined && event.deadlineMs - event.atMs > this.round.terms.leases.durationMs,
        })
        this.#keys.noteSupplier(event.node)
        break
      case 'renewed':
        this.#keys.noteSupplier(this.#leases.renew(event.leaseId, event.deadlineMs).node)
        break
      case 'released': {
        const lease = this.#leases.open.close(event.leaseId)
        if (!lease) break
        if (event.reason === TAKEN_BACK_FROM_BANNED) {
          this.#keys.noteSupplier(lease.node)
          break
        }
        this.#keys.abandon(this.#keys.get(lease.node))
        if (lease.version === this.current?.version && !this.#orders.droppedTasks.has(lease.taskIndex))
          this.#leases.owe(lease)
        break
      }
      case 'judged':
        this.#applyJudged(event)
        break
      case 'audited':
        this.#applyAudited(event)
        break
      case 'batch-audited':
        this.#applyBatchAudited(event)
        break
      case 'rehearsed':
        // The coordinator’s own groups are the first that were seen.
        this.#keys.usualTokens = event.groups > 0 ? event.sampledTokens / event.groups : null
        break
      case 'scored':
        this.#scores = [...this.#scores.slice(0, 1), event]
        break
      case 'world-quarantined':
        this.quarantinedWorlds.add(event.server)
        break
      case 'body-lost':
        this.#loseBody(event.leaseId)
        break
      case 'batched':
        this.#batches.form(event, this.termsHistory.length - 1)
        this.#caughtSinceBatch.clear()
        for (const leaseId of event.leaseIds) {
          const group = this.#groups.usable.delete(leaseId)
          if (group && !this.#isAuditedInTime(leaseId)) this.#batchedOnTrust.note(group.node, leaseId, event.batchId)
        }
        break
      case 'batch-doubted':
        this.#batchedOnTrust.named(event)
        break
      case 'trained':
        this.#groups.endBatch()
        this.#batches.train(event)
        break
      case 'batch-refused':
        if (this.pendingBatch?.backTo !== undefined) this.#orders.endRollback()
        this.#groups.endBatch()
        this.#batches.refuse(event)
        break
      case 'paused':
      case 'resumed':
      case 'banned':
      case 'unbanned':
      case 'task-dropped':
      case 'world-rested':
      case 'world-woken':
      case 'rollback-ordered':
      case 'announced':
        this.#obey(event)
        break
    }
  }

  #obey(event: OrderEvent): void {
    this.#orders.apply(event)
    switch (event.type) {
      case 'banned':
        this.#groups.usable.shutOut(event.node)
        return
      case 'unbanned':
        this.#absolve(event.node)
        return
      case 'task-dropped':
        this.#dropTask(event.taskIndex)
        return
      case 'world-woken':
        this.wokenSinceRound = true
        return
    }
  }

  #absolve(node: string): void {
    const record = this.#keys.get(node)
    record.standing.absolve()
    if (record.lastLease === 'delivered') this.#keys.reliable.add(node)
    this.#keys.reclassify(record)
    this.#caughtSinceBatch.delete(node)
    this.#groups.absolve(node)
  }

  #dropTask(taskIndex: number): void {
    this.#groups.usable.deleteWhere(({ leaseId }) => this.leases.get(leaseId)?.taskIndex === taskIndex)
    this.#leases.settleTask(taskIndex)
  }

  #beginRound(): void {
    this.keysWaiting = 0
    this.wokenSinceRound = false
    this.#leases.beginRound()
    if (this.#rounds.isCrowded) this.#rounds.forget(this.leases.values())
  }

  #applyJudged(event: JudgedGroup): void {
    const { leaseId, node, accepted, code } = event
    if (this.#leases.open.close(leaseId)) this.#keys.noteYield(node, accepted)
    this.#leases.settle(node, leaseId)
    // Of a lease that is forgotten only a refusal can come, for being late.
    if (this.leases.has(leaseId)) this.#groups.judged.set(leaseId, event)
    const record = this.#keys.get(node)
    this.#keys.noteVerdict(record, event)
    record.credit += event.credit
    record.addressBlock = event.addressBlock
    if (accepted) this.#accept(record, event)
    else this.#refuse(record, code!, event.atMs)
    this.#keys.reclassify(record)
  }

  #accept(record: FoldedNode, event: JudgedGroup): void {
    const { leaseId, version, audit, flat } = event
    const { taskIndex } = this.leases.get(leaseId)!
    if (!isUnseen(event)) this.#trust(record, audit === 'passed')
    this.#keys.deliver(record, event)
    const isOfUse = !this.#withdrawn.has(version) && !this.#orders.droppedTasks.has(taskIndex)
    this.#groups.accept(event, taskIndex, isOfUse)
    this.curriculum.note(taskIndex, version, flat)
    this.#addUp(record, event)
  }

  #applyAudited(event: AuditedGroupRecord): void {
    const { leaseId, node, accepted, code, detail, atMs } = event
    const group = this.judged.get(leaseId)!
    const record = this.#keys.get(node)
    this.#groups.noteAudit(leaseId)
    if (accepted) {
      this.#trust(record, true)
      this.#addUp(record, event)
      this.#keys.reclassify(record)
      return
    }
    const { taskIndex } = this.leases.get(leaseId)!
    if (this.#groups.takeBack(leaseId, taskIndex)) this.curriculum.forget(taskIndex)
    this.#keys.noteVerdict(record, { leaseId, bodySha256: group.bodySha256, accepted, code, detail, credit: 0, atMs })
    record.credit -= group.credit
    this.#refuse(record, code!, atMs)
    this.#keys.reclassify(record)
  }

  #applyBatchAudited({ groups, atMs }: EventOf<'batch-audited'>): void {
    for (const { leaseId, node, repairs } of groups) {
      const record = this.#keys.get(node)
      this.#groups.passInBatch(leaseId)
      record.standing.passed()
      this.#batchedOnTrust.vouch(node)
      this.#addUp(record, { repairs, atMs })
      this.#keys.reclassify(record)
    }
  }

  #trust({ node, standing }: FoldedNode, audited: boolean): void {
    standing.accepted(audited)
    if (audited) this.#batchedOnTrust.vouch(node)
  }

  /** Who was caught is no longer believed for what was taken on trust. */
  #refuse(record: FoldedNode, code: RefusalCode, atMs: number): void {
    if (record.standing.refused(code, atMs)) this.#doubt(record, atMs)
  }

  #addUp(record: FoldedNode, { repairs, atMs }: Pick<JudgedGroup, 'repairs' | 'atMs'>): void {
    if (!repairs) return
    const { node } = record
    if (record.standing.addsUp(repairs, atMs)) {
      // No audit of one of them alone would find anything.
      this.#groups.dropUsable(node)
      this.#doubt(record, atMs)
    }
    if (record.standing.isHeldBack) this.#groups.holdBack(node)
    else if (!this.#orders.banned.has(node)) this.#groups.usable.letIn(node)
  }

  #doubt({ node, standing }: FoldedNode, atMs: number): void {
    this.#keys.reliable.delete(node)
    this.#batchedOnTrust.doubt(node, standing.isQuarantined(atMs))
    this.#caughtSinceBatch.add(node)
    this.#groups.suspectAllOf(node)
  }

  #loseBody(leaseId: string): void {
    const pending = this.pendingBatch
    this.#groups.loseBody(leaseId)
    if (!pending?.leaseIds.includes(leaseId)) return
    this.#batches.dissolve(pending)
    this.#batchedOnTrust.forget(new Set([pending.batchId]))
    this.#groups.free(
      pending.leaseIds,
      (one) => this.#orders.droppedTasks.has(this.leases.get(one)!.taskIndex),
      (node) => this.#caughtSinceBatch.has(node),
    )
  }

  /** An audit has passed the group, or the training forward of its batch will be one. */
  #isAuditedInTime(leaseId: string): boolean {
    const lease = this.leases.get(leaseId)!
    return this.#groups.isAudited(leaseId) || Object.hasOwn(this.roundOf(lease).terms.audit.calibrations, lease.backend)
  }

  /** What a new version has made so old that nothing can come of it any more. */
  #forget({ version, step }: Publication): void {
    const oldest = version - LIMITS.staleness.value
    this.#groups.forgetVersions((one) => one < oldest || this.#withdrawn.has(one))
    this.#forgetLeases(oldest)
    this.#rounds.forget(this.leases.values())
    const oldestServed = Math.min(oldest, this.publications[0]!.version)
    for (const withdrawn of this.#withdrawn) if (withdrawn < oldestServed) this.#withdrawn.delete(withdrawn)
    this.#batchedOnTrust.forget(this.#batches.forget(step - LIMITS.staleness.value))
  }

  /** Leases whose groups can change nothing any more, and what became of them. */
  #forgetLeases(oldest: number): void {
    const inTraining = new Set(this.pendingBatch?.leaseIds)
    for (const [leaseId, { version }] of this.leases) {
      const isOpen = this.openLeases.has(leaseId)
      if (version >= oldest || isOpen || this.#groups.isAtStake(leaseId) || inTraining.has(leaseId)) continue
      this.#leases.all.delete(leaseId)
      this.#groups.forget(leaseId)
    }
  }

  get scores(): readonly EventOf<'scored'>[] {
    return this.#scores
  }

  get orders(): RunOrders {
    return this.#orders
  }

  get withdrawn(): ReadonlySet<number> {
    return this.#withdrawn
  }

  get judged(): ReadonlyMap<string, JudgedGroup> {
    return this.#groups.judged
  }

  get accepted(): ReadonlyMap<string, JudgedGroup> {
    return this.#groups.accepted
  }

  get suspects(): ReadonlyMap<string, JudgedGroup> {
    return this.#groups.suspects
  }

  get lostBodies(): ReadonlySet<string> {
    return this.#groups.lostBodies
  }

  get heldBack(): JudgedGroup[] {
    return this.#groups.usable.heldBack
  }

  get nodes(): ReadonlyMap<string, FoldedNode> {
    return this.#keys.all
  }

  get reliable(): ReadonlySet<string> {
    return this.#keys.reliable
  }

  get suppliers(): ReadonlyMap<string, Supplier> {
    return this.#keys.suppliers
  }

  get unprovenYield(): number {
    return this.#keys.unprovenYield
  }

  get usualTokens(): number | null {
    return this.#keys.usualTokens
  }

  get terms(): RunTerms | undefined {
    return this.termsHistory.at(-1)?.terms
  }

  get termsHistory(): readonly AgreedTerms[] {
    return this.#rounds.terms
  }

  get publications(): readonly Publication[] {
    return this.#rounds.publications
  }

  get rounds(): readonly Round[] {
    return this.#rounds.newest
  }

  roundOf(lease: Pick<LeaseRecord, 'round'>): Round {
    return this.#rounds.roundOf(lease)
  }

  get current(): Publication | undefined {
    return this.publications.at(-1)
  }

  publication(version: number): Publication {
    return this.#rounds.publicationOf(version)
  }

  batchesBehind(adapterStep: number): TrainedBatch[] {
    return this.#batches.lineage.behind(adapterStep)
  }

  get round(): Round | undefined {
    return this.rounds.at(-1)
  }

  get batches(): ReadonlyMap<string, BatchRecord> {
    return this.#batches.all
  }

  get trained(): ReadonlyMap<string, EventOf<'trained'>> {
    return this.#batches.trained
  }

  get refusedBatches(): ReadonlyMap<string, EventOf<'batch-refused'>> {
    return this.#batches.refused
  }

  get dissolvedBatches(): ReadonlySet<string> {
    return this.#batches.dissolved
  }

  get pendingBatch(): BatchRecord | undefined {
    return this.#batches.pending
  }

  get doubtedBatches(): DoubtedBatch[] {
    return this.#batchedOnTrust.unnamed
  }

  isAdmitted(node: string): boolean {
    const since = this.registered.get(node)
    return since !== undefined && this.round !== undefined && since < this.round.round
  }

  nextLeaseIndex(node: string): number {
    return this.#leases.nextIndex(node)
  }

  isOpenToAudit(leaseId: string): boolean {
    return this.#groups.isAtStake(leaseId) && !this.#groups.isAudited(leaseId)
  }

  hasPassedAudit(leaseId: string): boolean {
    return this.#groups.isAudited(leaseId) && this.accepted.has(leaseId)
  }

  get isBatchAudited(): boolean {
    return this.#groups.isBatchAudited
  }

  owedLease(node: string): LeaseRecord | undefined {
    return this.#leases.owedTo(node)
  }

  acceptedOfTask(taskIndex: number): readonly AcceptedSayings[] {
    return this.#groups.acceptedOf(taskIndex)
  }

  get leases(): ReadonlyMap<string, LeaseRecord> {
    return this.#leases.all
  }

  get openLeases(): ReadonlyMap<string, LeaseRecord> {
    return this.#leases.open.all
  }

  openLeasesOf(node: string): ReadonlyMap<string, LeaseRecord> {
    return this.#leases.open.of(node)
  }

  openLeasesBy(kind: KeyKind, origin?: string): number {
    return this.#leases.open.count(kind, origin)
  }

  get firstToLapse(): LeaseRecord | undefined {
    return this.#leases.open.first
  }

  kindOf(node: string): KeyKind {
    return this.#leases.open.kindOf(node)
  }

  trainable(maxStaleness: number): JudgedGroup[] {
    return this.#groups.usable.list(this.#oldest(maxStaleness))
  }

  trainableCount(maxStaleness: number): number {
    return this.#groups.usable.count(this.#oldest(maxStaleness))
  }

  trainableCountOf(node: string, maxStaleness: number): number {
    return this.#groups.usable.countOf(node, this.#oldest(maxStaleness))
  }

  #oldest(maxStaleness: number): number {
    return (this.current?.version ?? 0) - maxStaleness
  }
}
