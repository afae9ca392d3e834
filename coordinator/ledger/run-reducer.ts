import { LIMITS, type RefusalCode } from '../../proto/index.js'
import type { EventOf, RunEvent } from './events.js'
import type { FoldedNode } from './keys.js'
import { type OrderEvent, TAKEN_BACK_FROM_BANNED } from './orders.js'
import { type Books, booksOf, imageOf, openBooks } from './run-records.js'
import { type AuditedGroupRecord, isUnseen, type JudgedGroup, type Publication } from './run-state.js'
import { RunView } from './run-view.js'
import type { FoldImage } from './state-snapshot.js'

/** The fold itself. Whoever has it can change it, so only the recorder does; everyone else has `RunState`. */
export class RunFold extends RunView {
  constructor(books: Books = openBooks()) {
    super(books)
  }

  /** @throws CheckpointError for an image that does not hold together */
  static of(image: FoldImage): RunFold {
    return new RunFold(booksOf(image))
  }

  get image(): FoldImage {
    return imageOf(this.books)
  }

  apply(event: RunEvent): void {
    switch (event.type) {
      case 'written-by':
        this.books.writtenBy = event.program
        break
      case 'terms':
        this.books.rounds.agree(event)
        break
      case 'published':
        for (const { version, adapterStep } of this.publications)
          if (adapterStep > event.adapterStep) this.books.withdrawn.add(version)
        if (this.pendingBatch?.backTo !== undefined) this.books.orders.endRollback()
        this.books.rounds.publish(event)
        this.books.batches.lineage.published(event)
        this.#beginRound()
        this.books.leases.settleAll()
        this.#forget(event)
        break
      case 'reopened':
        // What a node left lying under other terms cannot be worked on under these.
        if (this.round?.termsId !== this.termsHistory.at(-1)?.termsId) this.books.leases.settleAll()
        this.books.rounds.open(event)
        this.#beginRound()
        break
      case 'registered':
        this.books.registered.set(event.node, event.round)
        this.books.keysWaiting += 1
        break
      case 'team-joined':
        if (event.team === null) this.books.teams.delete(event.node)
        else this.books.teams.set(event.node, event.team)
        break
      case 'leased':
        this.books.leases.give(event, {
          isOfRound: event.round === this.round?.round,
          isLong: this.round !== undefined && event.deadlineMs - event.atMs > this.round.terms.leases.durationMs,
        })
        this.books.keys.noteSupplier(event.node)
        break
      case 'renewed':
        this.books.keys.noteSupplier(this.books.leases.renew(event.leaseId, event.deadlineMs).node)
        break
      case 'released': {
        const lease = this.books.leases.open.close(event.leaseId)
        if (!lease) break
        if (event.reason === TAKEN_BACK_FROM_BANNED) {
          this.books.keys.noteSupplier(lease.node)
          break
        }
        this.books.keys.abandon(this.books.keys.get(lease.node))
        if (lease.version === this.current?.version && !this.books.orders.droppedTasks.has(lease.taskIndex))
          this.books.leases.owe(lease)
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
        this.books.keys.usualTokens = event.groups > 0 ? event.sampledTokens / event.groups : null
        break
      case 'scored':
        this.books.scores = [...this.books.scores.slice(0, 1), event]
        break
      case 'world-quarantined':
        this.books.quarantinedWorlds.add(event.server)
        break
      case 'body-lost':
        this.#loseBody(event.leaseId)
        break
      case 'batched':
        this.books.batches.form(event, this.termsHistory.length - 1)
        this.books.caughtSinceBatch.clear()
        for (const leaseId of event.leaseIds) {
          const group = this.books.groups.usable.delete(leaseId)
          if (group && !this.#isAuditedInTime(leaseId))
            this.books.batchedOnTrust.note(group.node, leaseId, event.batchId)
        }
        break
      case 'batch-doubted':
        this.books.batchedOnTrust.named(event)
        break
      case 'trained':
        this.books.groups.endBatch()
        this.books.batches.train(event)
        break
      case 'batch-refused':
        if (this.pendingBatch?.backTo !== undefined) this.books.orders.endRollback()
        this.books.groups.endBatch()
        this.books.batches.refuse(event)
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
    this.books.orders.apply(event)
    switch (event.type) {
      case 'banned':
        this.books.groups.usable.shutOut(event.node)
        return
      case 'unbanned':
        this.#absolve(event.node)
        return
      case 'task-dropped':
        this.#dropTask(event.taskIndex)
        return
      case 'world-woken':
        this.books.wokenSinceRound = true
        return
    }
  }

  #absolve(node: string): void {
    const record = this.books.keys.get(node)
    record.standing.absolve()
    if (record.lastLease === 'delivered') this.books.keys.reliable.add(node)
    this.books.keys.reclassify(record)
    this.books.caughtSinceBatch.delete(node)
    this.books.groups.absolve(node)
  }

  #dropTask(taskIndex: number): void {
    this.books.groups.usable.deleteWhere(({ leaseId }) => this.leases.get(leaseId)?.taskIndex === taskIndex)
    this.books.leases.settleTask(taskIndex)
  }

  #beginRound(): void {
    this.books.keysWaiting = 0
    this.books.wokenSinceRound = false
    this.books.leases.beginRound()
    if (this.books.rounds.isCrowded) this.books.rounds.forget(this.leases.values())
  }

  #applyJudged(event: JudgedGroup): void {
    const { leaseId, node, accepted, code } = event
    if (this.books.leases.open.close(leaseId)) this.books.keys.noteYield(node, accepted)
    this.books.leases.settle(node, leaseId)
    // Of a lease that is forgotten only a refusal can come, for being late.
    if (this.leases.has(leaseId)) this.books.groups.judged.set(leaseId, event)
    const record = this.books.keys.get(node)
    this.books.keys.noteVerdict(record, event)
    record.credit += event.credit
    record.addressBlock = event.addressBlock
    if (accepted) this.#accept(record, event)
    else this.#refuse(record, code!, event.atMs)
    this.books.keys.reclassify(record)
  }

  #accept(record: FoldedNode, event: JudgedGroup): void {
    const { leaseId, version, audit, flat } = event
    const { taskIndex } = this.leases.get(leaseId)!
    if (!isUnseen(event)) this.#trust(record, audit === 'passed')
    this.books.keys.deliver(record, event)
    const isOfUse = !this.books.withdrawn.has(version) && !this.books.orders.droppedTasks.has(taskIndex)
    this.books.groups.accept(event, taskIndex, isOfUse)
    this.books.curriculum.note(taskIndex, version, flat)
    this.#addUp(record, event)
  }

  #applyAudited(event: AuditedGroupRecord): void {
    const { leaseId, node, accepted, code, detail, atMs } = event
    const group = this.judged.get(leaseId)!
    const record = this.books.keys.get(node)
    this.books.groups.noteAudit(leaseId)
    if (accepted) {
      this.#trust(record, true)
      this.#addUp(record, event)
      this.books.keys.reclassify(record)
      return
    }
    const { taskIndex } = this.leases.get(leaseId)!
    if (this.books.groups.takeBack(leaseId, taskIndex)) this.books.curriculum.forget(taskIndex)
    this.books.keys.noteVerdict(record, {
      leaseId,
      bodySha256: group.bodySha256,
      accepted,
      code,
      detail,
      credit: 0,
      atMs,
    })
    record.credit -= group.credit
    this.#refuse(record, code!, atMs)
    this.books.keys.reclassify(record)
  }

  #applyBatchAudited({ groups, atMs }: EventOf<'batch-audited'>): void {
    for (const { leaseId, node, repairs } of groups) {
      const record = this.books.keys.get(node)
      this.books.groups.passInBatch(leaseId)
      record.standing.passed()
      this.books.batchedOnTrust.vouch(node)
      this.#addUp(record, { repairs, atMs })
      this.books.keys.reclassify(record)
    }
  }

  #trust({ node, standing }: FoldedNode, audited: boolean): void {
    standing.accepted(audited)
    if (audited) this.books.batchedOnTrust.vouch(node)
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
      this.books.groups.dropUsable(node)
      this.#doubt(record, atMs)
    }
    if (record.standing.isHeldBack) this.books.groups.holdBack(node)
    else if (!this.books.orders.banned.has(node)) this.books.groups.usable.letIn(node)
  }

  #doubt({ node, standing }: FoldedNode, atMs: number): void {
    this.books.keys.reliable.delete(node)
    this.books.batchedOnTrust.doubt(node, standing.isQuarantined(atMs))
    this.books.caughtSinceBatch.add(node)
    this.books.groups.suspectAllOf(node)
  }

  #loseBody(leaseId: string): void {
    const pending = this.pendingBatch
    this.books.groups.loseBody(leaseId)
    if (!pending?.leaseIds.includes(leaseId)) return
    this.books.batches.dissolve(pending)
    this.books.batchedOnTrust.forget(new Set([pending.batchId]))
    this.books.groups.free(
      pending.leaseIds,
      (one) => this.books.orders.droppedTasks.has(this.leases.get(one)!.taskIndex),
      (node) => this.books.caughtSinceBatch.has(node),
    )
  }

  /** An audit has passed the group, or the training forward of its batch will be one. */
  #isAuditedInTime(leaseId: string): boolean {
    const lease = this.leases.get(leaseId)!
    return (
      this.books.groups.isAudited(leaseId) || Object.hasOwn(this.roundOf(lease).terms.audit.calibrations, lease.backend)
    )
  }

  /** What a new version has made so old that nothing can come of it any more. */
  #forget({ version, step }: Publication): void {
    const oldest = version - LIMITS.staleness.value
    this.books.groups.forgetVersions((one) => one < oldest || this.books.withdrawn.has(one))
    this.#forgetLeases(oldest)
    this.books.rounds.forget(this.leases.values())
    const oldestServed = Math.min(oldest, this.publications[0]!.version)
    for (const withdrawn of this.books.withdrawn) if (withdrawn < oldestServed) this.books.withdrawn.delete(withdrawn)
    this.books.batchedOnTrust.forget(this.books.batches.forget(step - LIMITS.staleness.value))
  }

  /** Leases whose groups can change nothing any more, and what became of them. */
  #forgetLeases(oldest: number): void {
    const inTraining = new Set(this.pendingBatch?.leaseIds)
    for (const [leaseId, { version }] of this.leases) {
      const isOpen = this.openLeases.has(leaseId)
      if (version >= oldest || isOpen || this.books.groups.isAtStake(leaseId) || inTraining.has(leaseId)) continue
      this.books.leases.all.delete(leaseId)
      this.books.groups.forget(leaseId)
    }
  }
}
