import { LIMITS, type RefusalCode } from '../../proto/index.js'
import { BatchedOnTrust, type DoubtedBatch } from './batched-on-trust.js'
import { Batches } from './batches.js'
import { Curriculum } from './curriculum.js'
import type { EventOf, RunEvent } from './events.js'
import { type FoldImage, known } from './fold-image.js'
import { type FoldedNode, Keys } from './keys.js'
import { OpenLeases } from './open-leases.js'
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
import { TaskCompletions } from './task-completions.js'
import type { RunTerms } from './terms.js'
import { GroupsOfNodes, UsableGroups } from './usable-groups.js'

/** The fold itself. Whoever has it can change it, so only the recorder does; everyone else has `RunState`. */
export class RunFold implements RunState {
  #rounds = new Rounds()
  writtenBy: string | null = null
  readonly registered = new Map<string, number>()
  readonly teams = new Map<string, string>()
  keysWaiting = 0
  readonly leases = new Map<string, LeaseRecord>()
  #open = new OpenLeases()
  readonly judged = new Map<string, JudgedGroup>()
  #keys = new Keys(this.#open)
  readonly accepted = new Map<string, JudgedGroup>()
  /** Versions whose adapter was rolled back: what they sampled is not trained on. */
  readonly #withdrawn = new Set<number>()
  readonly suspects = new Map<string, JudgedGroup>()
  readonly quarantinedWorlds = new Set<string>()
  #orders = new Orders()
  wokenSinceRound = false
  curriculum = new Curriculum()
  #batches = new Batches()
  readonly lostBodies = new Set<string>()
  #scores: readonly EventOf<'scored'>[] = []
  #batchedOnTrust = new BatchedOnTrust()
  /** Nodes that were caught since the last batch was formed. */
  readonly #caughtSinceBatch = new Set<string>()
  /** Accepted groups with reward variance in no batch yet. */
  #usable = new UsableGroups()
  /** Groups that were accepted unseen, until a later one of their node is seen and keeps its word. */
  readonly #onTrust = new GroupsOfNodes()
  readonly #audited = new Set<string>()
  /** Groups of the pending batch that its training forward has passed. They count as audited when another batch takes them. */
  readonly #passedInBatch = new Set<string>()
  /** Of each node that has leases of the round in force. */
  readonly #nextIndex = new Map<string, number>()
  /** Released leases of the version in force by node: each gets its own again before it gets others. */
  readonly #owed = new Map<string, Map<string, LeaseRecord>>()
  #completions = new TaskCompletions()

  /** Everything it holds, as it is now. Events and verdicts are shared with it: they never change. */
  get image(): FoldImage {
    const { pause, announcement, rollback, ...orders } = this.#orders.image
    return {
      ...this.#rounds.image,
      registered: [...this.registered],
      teams: [...this.teams],
      ...this.#keys.image,
      leases: [...this.leases.values()],
      open: this.#open.entries,
      owed: [...this.#owed.values()].flatMap((own) => [...own.keys()]),
      nextIndex: [...this.#nextIndex],
      judged: [...this.judged.values()],
      accepted: [...this.accepted.keys()],
      audited: [...this.#audited],
      passedInBatch: [...this.#passedInBatch],
      lostBodies: [...this.lostBodies],
      scores: this.#scores,
      usable: this.#usable.entries,
      onTrust: [...this.#onTrust.all.keys()],
      suspects: [...this.suspects.keys()],
      said: this.#completions.entries.map(([taskIndex, group]) => [
        taskIndex,
        this.judged.has(group.leaseId) ? group.leaseId : group,
      ]),
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
    fold.#takeGroups(image)
    fold.#keys = Keys.of(image, fold.#open)
    for (const [node, index] of image.nextIndex) fold.#nextIndex.set(node, index)
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
    for (const node of fold.#orders.banned.keys()) fold.#usable.shutOut(node)
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

  /** Leases and what became of them. */
  #takeGroups(image: FoldImage): void {
    for (const lease of image.leases) {
      this.roundOf(lease)
      this.leases.set(lease.leaseId, lease)
    }
    const leaseOf = (leaseId: string): LeaseRecord => known(this.leases.get(leaseId), `the lease ${leaseId}`)
    for (const group of image.judged) this.judged.set(leaseOf(group.leaseId).leaseId, group)
    const groupOf = (leaseId: string): JudgedGroup => known(this.judged.get(leaseId), `the group of ${leaseId}`)
    this.#open = OpenLeases.of(image.open.map(([leaseId, isRenewed]) => [leaseOf(leaseId), isRenewed]))
    for (const leaseId of image.owed) {
      const lease = leaseOf(leaseId)
      this.#owedTo(lease.node).set(leaseId, lease)
    }
    for (const leaseId of image.accepted) this.accepted.set(leaseId, groupOf(leaseId))
    for (const leaseId of image.audited) this.#audited.add(groupOf(leaseId).leaseId)
    for (const leaseId of image.passedInBatch) this.#passedInBatch.add(groupOf(leaseId).leaseId)
    for (const leaseId of image.lostBodies) this.lostBodies.add(groupOf(leaseId).leaseId)
    this.#usable = UsableGroups.of(image.usable.map(([leaseId, isAside]) => [groupOf(leaseId), isAside]))
    for (const leaseId of image.onTrust) this.#onTrust.add(groupOf(leaseId))
    for (const leaseId of image.suspects) this.suspects.set(leaseId, groupOf(leaseId))
    this.#completions = TaskCompletions.of(
      image.said.map(([taskIndex, group]) => [taskIndex, typeof group === 'string' ? groupOf(group) : group]),
    )
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
        this.#owed.clear()
        this.#forget(event)
        break
      case 'reopened':
        // What a node left lying under other terms cannot be worked on under these.
        if (this.round?.termsId !== this.termsHistory.at(-1)?.termsId) this.#owed.clear()
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
        this.leases.set(event.leaseId, event)
        this.#open.open(event, event.deadlineMs - event.atMs > this.roundOf(event).terms.leases.durationMs)
        this.#keys.noteSupplier(event.node)
        this.#owed.get(event.node)?.delete(event.leaseId)
        // One that is taken up again may be of an earlier round.
        if (event.round === this.round?.round)
          this.#nextIndex.set(event.node, Math.max(event.index + 1, this.nextLeaseIndex(event.node)))
        break
      case 'renewed': {
        const lease = { ...this.leases.get(event.leaseId)!, deadlineMs: event.deadlineMs }
        this.leases.set(event.leaseId, lease)
        this.#open.renew(event.leaseId, event.deadlineMs)
        this.#keys.noteSupplier(lease.node)
        break
      }
      case 'released': {
        const lease = this.#open.close(event.leaseId)
        if (!lease) break
        if (event.reason === TAKEN_BACK_FROM_BANNED) {
          this.#keys.noteSupplier(lease.node)
          break
        }
        this.#keys.abandon(this.#keys.get(lease.node))
        if (lease.version === this.current?.version && !this.#orders.droppedTasks.has(lease.taskIndex))
          this.#owedTo(lease.node).set(lease.leaseId, lease)
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
          const group = this.#usable.delete(leaseId)
          if (group && !this.#isAuditedInTime(leaseId)) this.#batchedOnTrust.note(group.node, leaseId, event.batchId)
        }
        break
      case 'batch-doubted':
        this.#batchedOnTrust.named(event)
        break
      case 'trained':
        this.#passedInBatch.clear()
        this.#batches.train(event)
        break
      case 'batch-refused':
        if (this.pendingBatch?.backTo !== undefined) this.#orders.endRollback()
        this.#passedInBatch.clear()
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
        this.#usable.shutOut(event.node)
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
    for (const [leaseId, group] of this.suspects) {
      if (group.node !== node) continue
      this.suspects.delete(leaseId)
      this.#usable.putBack(leaseId)
    }
    this.#usable.letIn(node)
  }

  #dropTask(taskIndex: number): void {
    const isOfIt = ({ leaseId }: Pick<LeaseRecord, 'leaseId'>): boolean =>
      this.leases.get(leaseId)?.taskIndex === taskIndex
    this.#usable.deleteWhere(isOfIt)
    for (const owed of this.#owed.values())
      for (const lease of owed.values()) if (isOfIt(lease)) owed.delete(lease.leaseId)
  }

  #beginRound(): void {
    this.keysWaiting = 0
    this.wokenSinceRound = false
    this.#nextIndex.clear()
    if (this.#rounds.isCrowded) this.#rounds.forget(this.leases.values())
  }

  #applyJudged(event: JudgedGroup): void {
    const { leaseId, node, accepted, code } = event
    if (this.#open.close(leaseId)) this.#keys.noteYield(node, accepted)
    this.#owed.get(node)?.delete(leaseId)
    // Of a lease that is forgotten only a refusal can come, for being late.
    if (this.leases.has(leaseId)) this.judged.set(leaseId, event)
    const record = this.#keys.get(node)
    this.#keys.noteVerdict(record, event)
    record.credit += event.credit
    record.addressBlock = event.addressBlock
    if (accepted) this.#accept(record, event)
    else this.#refuse(record, code!, event.atMs)
    this.#keys.reclassify(record)
  }

  #accept(record: FoldedNode, event: JudgedGroup): void {
    const { leaseId, node, version, audit, flat } = event
    const { taskIndex } = this.leases.get(leaseId)!
    if (isUnseen(event)) this.#onTrust.add(event)
    else {
      this.#trust(record, audit === 'passed')
      if (flat) this.#confirm(node)
    }
    this.#keys.deliver(record, event)
    this.accepted.set(leaseId, event)
    if (!flat && !this.#withdrawn.has(version) && !this.#orders.droppedTasks.has(taskIndex)) this.#usable.add(event)
    if (audit === 'passed') this.#audited.add(leaseId)
    this.curriculum.note(taskIndex, version, flat)
    this.#completions.add(taskIndex, event)
    this.#addUp(record, event)
  }

  #confirm(node: string): void {
    for (const { leaseId } of this.#onTrust.of(node)) if (!this.suspects.has(leaseId)) this.#onTrust.delete(leaseId)
  }

  #applyAudited(event: AuditedGroupRecord): void {
    const { leaseId, node, accepted, code, detail, atMs } = event
    const group = this.judged.get(leaseId)!
    const record = this.#keys.get(node)
    this.suspects.delete(leaseId)
    this.#usable.putBack(leaseId)
    this.#audited.add(leaseId)
    if (accepted) {
      this.#trust(record, true)
      this.#addUp(record, event)
      this.#keys.reclassify(record)
      return
    }
    const { taskIndex } = this.leases.get(leaseId)!
    this.accepted.delete(leaseId)
    this.#usable.delete(leaseId)
    this.#completions.delete(taskIndex, leaseId)
    if (this.#onTrust.delete(leaseId)) this.curriculum.forget(taskIndex)
    this.#keys.noteVerdict(record, { leaseId, bodySha256: group.bodySha256, accepted, code, detail, credit: 0, atMs })
    record.credit -= group.credit
    this.#refuse(record, code!, atMs)
    this.#keys.reclassify(record)
  }

  #applyBatchAudited({ groups, atMs }: EventOf<'batch-audited'>): void {
    for (const { leaseId, node, repairs } of groups) {
      const record = this.#keys.get(node)
      this.#passedInBatch.add(leaseId)
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
    if (repairs && record.standing.addsUp(repairs, atMs)) this.#doubt(record, atMs)
  }

  #doubt({ node, standing }: FoldedNode, atMs: number): void {
    this.#keys.reliable.delete(node)
    this.#batchedOnTrust.doubt(node, standing.isQuarantined(atMs))
    this.#caughtSinceBatch.add(node)
    for (const group of [...this.#usable.of(node), ...this.#onTrust.of(node)]) this.#suspect(group)
  }

  #loseBody(leaseId: string): void {
    const pending = this.pendingBatch
    this.lostBodies.add(leaseId)
    this.#usable.delete(leaseId)
    this.suspects.delete(leaseId)
    if (!pending?.leaseIds.includes(leaseId)) return
    this.#batches.dissolve(pending)
    // What is known of them stays known: another batch need not look again, and their repairs are added up once.
    for (const passed of this.#passedInBatch) this.#audited.add(passed)
    this.#passedInBatch.clear()
    this.#batchedOnTrust.forget(new Set([pending.batchId]))
    const isDropped = (one: string): boolean => this.#orders.droppedTasks.has(this.leases.get(one)!.taskIndex)
    const freed = new Set(pending.leaseIds.filter((one) => !this.lostBodies.has(one) && !isDropped(one)))
    const kept = [...this.accepted.values()].filter(
      (group) => freed.has(group.leaseId) || this.#usable.has(group.leaseId),
    )
    for (const group of kept) this.#usable.delete(group.leaseId)
    // In log order, as batches take them.
    for (const group of kept) {
      this.#usable.add(group)
      if (this.suspects.has(group.leaseId)) this.#usable.putAside(group)
      else if (freed.has(group.leaseId) && this.#caughtSinceBatch.has(group.node)) this.#suspect(group)
    }
  }

  /** An audit has passed the group, or the training forward of its batch will be one. */
  #isAuditedInTime(leaseId: string): boolean {
    const lease = this.leases.get(leaseId)!
    return this.#audited.has(leaseId) || Object.hasOwn(this.roundOf(lease).terms.audit.calibrations, lease.backend)
  }

  /** Puts a group aside until an audit has looked at it. */
  #suspect(group: JudgedGroup): void {
    if (this.#audited.has(group.leaseId)) return
    this.suspects.set(group.leaseId, group)
    this.#usable.putAside(group)
  }

  /** What a new version has made so old that nothing can come of it any more. */
  #forget({ version, step }: Publication): void {
    const oldest = version - LIMITS.staleness.value
    this.#forgetUseless(oldest)
    this.#forgetLeases(oldest)
    this.#rounds.forget(this.leases.values())
    const oldestServed = Math.min(oldest, this.publications[0]!.version)
    for (const withdrawn of this.#withdrawn) if (withdrawn < oldestServed) this.#withdrawn.delete(withdrawn)
    this.#batchedOnTrust.forget(this.#batches.forget(step - LIMITS.staleness.value))
  }

  /** Groups that no batch can take any more: too old, or of an adapter that was rolled back. */
  #forgetUseless(oldest: number): void {
    const isUseless = (version: number): boolean => version < oldest || this.#withdrawn.has(version)
    this.#usable.prune(isUseless)
    for (const [leaseId, { version, flat }] of this.suspects)
      if (isUseless(version) && !flat) this.suspects.delete(leaseId)
  }

  /** Leases whose groups can change nothing any more, and what became of them. */
  #forgetLeases(oldest: number): void {
    const inTraining = new Set(this.pendingBatch?.leaseIds)
    for (const [leaseId, { version }] of this.leases) {
      if (version >= oldest || this.#open.all.has(leaseId) || this.#isAtStake(leaseId) || inTraining.has(leaseId))
        continue
      this.leases.delete(leaseId)
      this.judged.delete(leaseId)
      this.accepted.delete(leaseId)
      this.#audited.delete(leaseId)
      this.lostBodies.delete(leaseId)
    }
  }

  #owedTo(node: string): Map<string, LeaseRecord> {
    let owed = this.#owed.get(node)
    if (!owed) {
      owed = new Map()
      this.#owed.set(node, owed)
    }
    return owed
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

  get heldBack(): JudgedGroup[] {
    return this.#usable.heldBack
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
    return this.#nextIndex.get(node) ?? 0
  }

  isOpenToAudit(leaseId: string): boolean {
    return this.#isAtStake(leaseId) && !this.#audited.has(leaseId)
  }

  /** Whether a group may still be trained on, or taken back. */
  #isAtStake(leaseId: string): boolean {
    return this.#usable.has(leaseId) || this.#onTrust.all.has(leaseId)
  }

  hasPassedAudit(leaseId: string): boolean {
    return this.#audited.has(leaseId) && this.accepted.has(leaseId)
  }

  get isBatchAudited(): boolean {
    return this.#passedInBatch.size > 0
  }

  owedLease(node: string): LeaseRecord | undefined {
    return this.#owed.get(node)?.values().next().value
  }

  acceptedOfTask(taskIndex: number): readonly AcceptedSayings[] {
    return this.#completions.of(taskIndex)
  }

  get openLeases(): ReadonlyMap<string, LeaseRecord> {
    return this.#open.all
  }

  openLeasesOf(node: string): ReadonlyMap<string, LeaseRecord> {
    return this.#open.of(node)
  }

  openLeasesBy(kind: KeyKind, origin?: string): number {
    return this.#open.count(kind, origin)
  }

  get firstToLapse(): LeaseRecord | undefined {
    return this.#open.first
  }

  kindOf(node: string): KeyKind {
    return this.#open.kindOf(node)
  }

  trainable(maxStaleness: number): JudgedGroup[] {
    return this.#usable.list(this.#oldest(maxStaleness))
  }

  trainableCount(maxStaleness: number): number {
    return this.#usable.count(this.#oldest(maxStaleness))
  }

  trainableCountOf(node: string, maxStaleness: number): number {
    return this.#usable.countOf(node, this.#oldest(maxStaleness))
  }

  #oldest(maxStaleness: number): number {
    return (this.current?.version ?? 0) - maxStaleness
  }
}
