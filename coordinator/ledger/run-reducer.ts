import { LIMITS, type RefusalCode } from '../../proto/index.js'
import type { EventOf, RunEvent } from './events.js'
import type { NodeState } from './keys.js'
import { type OrderEvent, TAKEN_BACK_FROM_BANNED } from './orders.js'
import { openRecords, type RunRecords, recordsOf, snapshotOf } from './run-records.js'
import { type AuditedGroupRecord, isUnseen, type JudgedGroup, type Publication } from './run-state.js'
import { RunView } from './run-view.js'
import type { StateSnapshot } from './state-snapshot.js'

/** The reducer of a run. Only the recorder has it, because it can be changed; all other code reads `RunState`. */
export class RunReducer extends RunView {
  constructor(records: RunRecords = openRecords()) {
    super(records)
  }

  /** @throws CheckpointError for an inconsistent snapshot */
  static of(snapshot: StateSnapshot): RunReducer {
    return new RunReducer(recordsOf(snapshot))
  }

  get snapshot(): StateSnapshot {
    return snapshotOf(this.records)
  }

  apply(event: RunEvent): void {
    switch (event.type) {
      case 'written-by':
        this.records.writtenBy = event.program
        break
      case 'configured':
        this.records.rounds.agree(event)
        break
      case 'published':
        for (const { version, adapterStep } of this.publications)
          if (adapterStep > event.adapterStep) this.records.withdrawn.add(version)
        if (this.pendingBatch?.backTo !== undefined) this.records.orders.endRollback()
        this.records.rounds.publish(event)
        this.records.batches.lineage.published(event)
        this.#beginRound()
        this.records.leases.expire(this.#oldestOwed)
        this.#forget(event)
        break
      case 'reopened':
        // A lease that was abandoned under another configuration cannot be taken again.
        if (this.round?.configurationId !== this.configurationHistory.at(-1)?.configurationId)
          this.records.leases.settleAll()
        this.records.rounds.open(event)
        this.#beginRound()
        break
      case 'registered':
        this.records.registered.set(event.node, event.round)
        this.records.keysWaiting += 1
        break
      case 'team-joined':
        if (event.team === null) this.records.teams.delete(event.node)
        else this.records.teams.set(event.node, event.team)
        break
      case 'left':
      case 'repaired':
        break
      case 'unattended':
        this.records.unattended = event
        break
      case 'attended':
        this.records.unattended = null
        break
      case 'strained':
        this.records.strain = event
        break
      case 'relieved':
        this.records.strain = null
        break
      case 'leased':
        this.#give(event)
        break
      case 'renewed':
        this.records.keys.noteSupplier(this.records.leases.renew(event.leaseId, event.deadlineMs).node)
        break
      case 'released': {
        const lease = this.records.leases.open.close(event.leaseId)
        if (!lease) break
        if (event.reason === TAKEN_BACK_FROM_BANNED) {
          this.records.keys.noteSupplier(lease.node)
          break
        }
        this.records.keys.abandon(
          this.records.keys.get(lease.node),
          lease.addressBlock ?? null,
          this.records.leases.end(lease.node, lease.leaseId),
        )
        if (lease.version >= this.#oldestOwed && !this.records.orders.droppedTasks.has(lease.taskIndex))
          this.records.leases.owe(lease)
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
        // The groups of the dry run are the first ones whose length is known.
        this.records.keys.usualTokens = event.groups > 0 ? event.sampledTokens / event.groups : null
        break
      case 'rederived':
        this.records.rederived = [...this.records.rederived, event].slice(-LIMITS.verdictsKept.value)
        if (event.credit > 0) this.records.keys.get(event.node).credit += event.credit
        break
      case 'scored':
        this.records.scores = [...this.records.scores.slice(0, 1), event]
        break
      case 'environment-quarantined':
        this.records.quarantinedEnvironments.add(event.environment)
        break
      case 'body-lost':
        this.#loseBody(event.leaseId)
        break
      case 'batched':
        this.records.batches.form(event, this.configurationHistory.length - 1)
        this.records.verdictTrees.formed(event.step)
        this.records.caughtSinceBatch.clear()
        for (const leaseId of event.leaseIds) {
          const group = this.records.groups.usable.delete(leaseId)
          if (group && !this.#isAuditedInTime(leaseId))
            this.records.batchedOnTrust.note(group.node, leaseId, event.batchId)
        }
        break
      case 'batch-doubted':
        this.records.batchedOnTrust.named(event)
        break
      case 'trained':
        this.records.groups.endBatch()
        this.records.batches.train(event)
        break
      case 'batch-refused':
        if (this.pendingBatch?.backTo !== undefined) this.records.orders.endRollback()
        this.records.groups.endBatch()
        this.records.verdictTrees.dropped(this.records.batches.all.get(event.batchId)!.step)
        this.records.batches.refuse(event)
        break
      case 'paused':
      case 'resumed':
      case 'banned':
      case 'unbanned':
      case 'task-dropped':
      case 'environment-disabled':
      case 'environment-enabled':
      case 'rollback-ordered':
      case 'announced':
        this.#applyOrder(event)
        break
    }
  }

  /** Oldest version of which an abandoned lease stays owed: a group for an older one could not be trained on. */
  get #oldestOwed(): number {
    return (this.current?.version ?? 0) - (this.configuration?.maxStaleness ?? 0)
  }

  #give(event: EventOf<'leased'>): void {
    const { round } = this
    const { keys, leases } = this.records
    const durationMs = round?.configuration.leases.durationMs ?? 0
    const addressBlock = event.addressBlock ?? null
    leases.give(event, {
      isOfRound: event.round === round?.round,
      isLong: round !== undefined && event.deadlineMs - event.atMs > durationMs,
      term: { expected: keys.expectedOf(event.node, addressBlock), untilMs: event.atMs + durationMs },
    })
    keys.noteSupplier(event.node)
  }

  #applyOrder(event: OrderEvent): void {
    this.records.orders.apply(event)
    switch (event.type) {
      case 'banned':
        this.records.groups.usable.exclude(event.node)
        return
      case 'unbanned':
        this.#absolve(event.node)
        return
      case 'task-dropped':
        this.#dropTask(event.taskIndex)
        return
      case 'environment-enabled':
        this.records.enabledSinceRound = true
        return
    }
  }

  #absolve(node: string): void {
    const record = this.records.keys.get(node)
    record.reputation.absolve()
    if (record.lastLease === 'delivered') this.records.keys.reliable.add(node)
    this.records.keys.reclassify(record)
    this.records.caughtSinceBatch.delete(node)
    this.records.groups.absolve(node)
  }

  #dropTask(taskIndex: number): void {
    this.records.groups.usable.deleteWhere(({ leaseId }) => this.leases.get(leaseId)?.taskIndex === taskIndex)
    this.records.leases.settleTask(taskIndex)
  }

  #beginRound(): void {
    this.records.keysWaiting = 0
    this.records.enabledSinceRound = false
    this.records.leases.beginRound()
    if (this.records.rounds.isCrowded) this.records.rounds.forget(this.leases.values())
  }

  #applyJudged(event: JudgedGroup): void {
    const { leaseId, node, accepted, code } = event
    if (this.records.leases.open.close(leaseId)) this.records.keys.noteYield(node, accepted)
    const wasLost = this.records.leases.end(node, leaseId)
    // A forgotten lease can only get a refusal, for being late.
    if (this.leases.has(leaseId)) this.records.groups.judged.set(leaseId, event)
    const record = this.records.keys.get(node)
    this.records.keys.noteVerdict(record, event)
    this.records.verdictTrees.note(event)
    record.credit += event.credit
    record.addressBlock = event.addressBlock
    if (accepted) this.records.keys.noteDelivery(record, event.addressBlock, wasLost)
    if (accepted) this.#accept(record, event)
    else this.#refuse(record, code!, event.atMs)
    this.records.keys.reclassify(record)
  }

  #accept(record: NodeState, event: JudgedGroup): void {
    const { leaseId, version, audit, zeroVariance } = event
    const { taskIndex } = this.leases.get(leaseId)!
    if (!isUnseen(event)) this.#trust(record, audit === 'passed')
    this.records.keys.deliver(record, event)
    const isOfUse = !this.records.withdrawn.has(version) && !this.records.orders.droppedTasks.has(taskIndex)
    this.records.groups.accept(event, taskIndex, isOfUse)
    this.records.curriculum.note(taskIndex, version, zeroVariance)
    this.#addUp(record, event)
  }

  #applyAudited(event: AuditedGroupRecord): void {
    const { leaseId, node, accepted, code, detail, atMs } = event
    const group = this.judged.get(leaseId)!
    const record = this.records.keys.get(node)
    this.records.groups.noteAudit(leaseId)
    if (accepted) {
      this.#trust(record, true)
      this.#addUp(record, event)
      this.records.keys.reclassify(record)
      return
    }
    const { taskIndex } = this.leases.get(leaseId)!
    if (this.records.groups.takeBack(leaseId, taskIndex)) this.records.curriculum.forget(taskIndex)
    this.records.keys.noteVerdict(record, {
      leaseId,
      bodySha256: group.bodySha256,
      accepted,
      code,
      detail,
      credit: 0,
      atMs,
    })
    this.records.verdictTrees.note({ ...group, accepted, code, credit: 0 })
    record.credit -= group.credit
    this.#refuse(record, code!, atMs)
    this.records.keys.reclassify(record)
  }

  #applyBatchAudited({ groups, atMs }: EventOf<'batch-audited'>): void {
    for (const { leaseId, node, logitErrors } of groups) {
      const record = this.records.keys.get(node)
      this.records.groups.passInBatch(leaseId)
      record.reputation.passed()
      this.records.batchedOnTrust.confirm(node)
      this.#addUp(record, { logitErrors, atMs })
      this.records.keys.reclassify(record)
    }
  }

  #trust({ node, reputation }: NodeState, audited: boolean): void {
    reputation.accepted(audited)
    if (audited) this.records.batchedOnTrust.confirm(node)
  }

  /** Notes a refusal. If the key was caught, its unverified groups are no longer trusted. */
  #refuse(record: NodeState, code: RefusalCode, atMs: number): void {
    if (record.reputation.refused(code, atMs)) this.#doubt(record, atMs)
  }

  #addUp(record: NodeState, { logitErrors, atMs }: Pick<JudgedGroup, 'logitErrors' | 'atMs'>): void {
    if (!logitErrors) return
    const { node } = record
    if (record.reputation.addsUp(logitErrors, atMs)) {
      // The deviation only shows in the sum, so no audit of a single group would find it.
      this.records.groups.dropUsable(node)
      this.#doubt(record, atMs)
    }
    if (record.reputation.isHeldBack) this.records.groups.holdBack(node)
    else if (!this.records.orders.banned.has(node)) this.records.groups.usable.readmit(node)
  }

  #doubt({ node, reputation }: NodeState, atMs: number): void {
    this.records.keys.reliable.delete(node)
    this.records.batchedOnTrust.doubt(node, reputation.isQuarantined(atMs))
    this.records.caughtSinceBatch.add(node)
    this.records.groups.suspectAllOf(node)
  }

  #loseBody(leaseId: string): void {
    const pending = this.pendingBatch
    this.records.groups.loseBody(leaseId)
    if (!pending?.leaseIds.includes(leaseId)) return
    this.records.batches.dissolve(pending)
    this.records.verdictTrees.dropped(pending.step)
    this.records.batchedOnTrust.forget(new Set([pending.batchId]))
    this.records.groups.free(
      pending.leaseIds,
      (one) => this.records.orders.droppedTasks.has(this.leases.get(one)!.taskIndex),
      (node) => this.records.caughtSinceBatch.has(node),
    )
  }

  /** Whether an audit has passed the group, or the training forward of its batch will audit it. */
  #isAuditedInTime(leaseId: string): boolean {
    const lease = this.leases.get(leaseId)!
    return (
      this.records.groups.isAudited(leaseId) ||
      Object.hasOwn(this.roundOf(lease).configuration.audit.calibrations, lease.backend)
    )
  }

  /** Forgets everything that is too old to matter after a new version. */
  #forget({ version, step }: Publication): void {
    const oldest = version - LIMITS.staleness.value
    this.records.groups.forgetVersions((one) => one < oldest || this.records.withdrawn.has(one))
    this.#forgetLeases(oldest)
    this.records.rounds.forget(this.leases.values())
    // A batch takes groups of this age, whose verdicts are as old.
    this.records.verdictTrees.forget(step - LIMITS.staleness.value)
    const oldestServed = Math.min(oldest, this.publications[0]!.version)
    for (const withdrawn of this.records.withdrawn)
      if (withdrawn < oldestServed) this.records.withdrawn.delete(withdrawn)
    this.records.batchedOnTrust.forget(this.records.batches.forget(step - LIMITS.staleness.value))
  }

  /** Forgets leases whose groups cannot matter any more, with their verdicts. */
  #forgetLeases(oldest: number): void {
    const inTraining = new Set(this.pendingBatch?.leaseIds)
    for (const [leaseId, { version }] of this.leases) {
      const isOpen = this.openLeases.has(leaseId)
      if (version >= oldest || isOpen || this.records.groups.isAtStake(leaseId) || inTraining.has(leaseId)) continue
      this.records.leases.all.delete(leaseId)
      this.records.groups.forget(leaseId)
    }
  }
}
