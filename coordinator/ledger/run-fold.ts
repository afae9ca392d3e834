import { LIMITS, type RefusalCode } from '../../proto/index.js'
import { BatchedOnTrust, type DoubtedBatch } from './batched-on-trust.js'
import { Curriculum } from './curriculum.js'
import type { EventOf, RunEvent } from './events.js'
import { OpenLeases } from './open-leases.js'
import {
  type AuditedGroupRecord,
  type BatchRecord,
  isUnseen,
  type JudgedGroup,
  type KeyKind,
  type LeaseRecord,
  type NodeVerdict,
  type Publication,
  type Round,
  type RunState,
  type Supplier,
} from './run-state.js'
import { Standing } from './standing.js'
import { type RunTerms, termsIdOf } from './terms.js'
import { GroupsOfNodes, UsableGroups } from './usable-groups.js'

/** `NodeRecord`, where it is made. */
interface FoldedNode {
  readonly node: string
  readonly standing: Standing
  readonly verdicts: NodeVerdict[]
  credit: number
  lastLease: 'delivered' | 'abandoned' | null
  abandoned: number
  addressBlock: string | null
}

/** So many leases are remembered, more or less, in what those of keys without a record bring. */
const YIELD_MEMORY = 16

/** The fold itself. Whoever has it can change it, so only the recorder does; everyone else has `RunState`. */
export class RunFold implements RunState {
  readonly termsHistory: { terms: RunTerms; termsId: string; fromRound: number }[] = []
  readonly publications: Publication[] = []
  readonly rounds: Round[] = []
  readonly registered = new Map<string, number>()
  keysWaiting = 0
  readonly leases = new Map<string, LeaseRecord>()
  readonly #open = new OpenLeases()
  readonly judged = new Map<string, JudgedGroup>()
  readonly nodes = new Map<string, FoldedNode>()
  readonly reliable = new Set<string>()
  readonly suppliers = new Map<string, Supplier>()
  unprovenYield = 1
  readonly accepted = new Map<string, JudgedGroup>()
  /** Versions whose adapter was rolled back: what they sampled is not trained on. */
  readonly #withdrawn = new Set<number>()
  readonly suspects = new Map<string, JudgedGroup>()
  readonly quarantinedWorlds = new Set<string>()
  readonly curriculum = new Curriculum()
  readonly batches = new Map<string, BatchRecord>()
  readonly trained = new Map<string, EventOf<'trained'>>()
  readonly refusedBatches = new Map<string, EventOf<'batch-refused'>>()
  readonly lostBodies = new Set<string>()
  readonly dissolvedBatches = new Set<string>()
  #lastBatch: BatchRecord | undefined
  readonly #batchedOnTrust = new BatchedOnTrust()
  /** Nodes that were caught since the last batch was formed. */
  readonly #caughtSinceBatch = new Set<string>()
  /** Accepted groups with reward variance in no batch yet. */
  readonly #usable = new UsableGroups()
  /** Groups that were accepted unseen, until a later one of their node is seen and keeps its word. */
  readonly #onTrust = new GroupsOfNodes()
  readonly #audited = new Set<string>()
  readonly #roundsByNumber = new Map<number, Round>()
  readonly #leasesOfRound = new Map<string, number>()
  /** Released leases of the version in force by node: each gets its own again before it gets others. */
  readonly #owed = new Map<string, Map<string, LeaseRecord>>()
  /** Leases of accepted groups by task, for finding copies. */
  readonly #groupsOfTask = new Map<number, string[]>()

  apply(event: RunEvent): void {
    switch (event.type) {
      case 'terms':
        this.termsHistory.push({
          terms: event.terms,
          termsId: termsIdOf(event.terms),
          fromRound: (this.rounds.at(-1)?.round ?? -1) + 1,
        })
        break
      case 'published':
        for (const { version, adapterStep } of this.publications)
          if (adapterStep > event.adapterStep) this.#withdrawn.add(version)
        this.publications.push(event)
        this.#openRound(event)
        this.#owed.clear()
        this.#forgetUseless(event.version - LIMITS.staleness.value)
        break
      case 'reopened':
        this.#openRound(event)
        break
      case 'registered':
        this.registered.set(event.node, event.round)
        this.keysWaiting += 1
        break
      case 'leased':
        this.leases.set(event.leaseId, event)
        this.#open.open(event)
        this.#noteSupplier(event.node)
        this.#owed.get(event.node)?.delete(event.leaseId)
        this.#leasesOfRound.set(
          `${event.node} ${event.round}`,
          Math.max(event.index + 1, this.nextLeaseIndex(event.node, event.round)),
        )
        break
      case 'renewed': {
        const lease = { ...this.leases.get(event.leaseId)!, deadlineMs: event.deadlineMs }
        this.leases.set(event.leaseId, lease)
        this.#open.renew(event.leaseId, event.deadlineMs)
        this.#noteSupplier(lease.node)
        break
      }
      case 'released': {
        const lease = this.#open.close(event.leaseId)
        if (!lease) break
        this.#abandon(this.#node(lease.node))
        if (lease.version === this.current?.version) this.#owedTo(lease.node).set(lease.leaseId, lease)
        break
      }
      case 'judged':
        this.#applyJudged(event)
        break
      case 'audited':
        this.#applyAudited(event)
        break
      case 'world-quarantined':
        this.quarantinedWorlds.add(event.server)
        break
      case 'body-lost':
        this.#loseBody(event.leaseId)
        break
      case 'batched':
        this.batches.set(event.batchId, event)
        this.#lastBatch = event
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
        this.trained.set(event.batchId, event)
        break
      case 'batch-refused':
        this.refusedBatches.set(event.batchId, event)
        break
    }
  }

  #openRound({
    round,
    version,
    policyId,
    manifestId,
    roundSecret,
    resting,
    atMs,
  }: Publication | EventOf<'reopened'>): void {
    const latest = this.termsHistory.at(-1)
    if (!latest) throw new Error(`round ${round} was opened before the run had terms`)
    const { terms, termsId } = latest
    // What a node left lying under other terms cannot be worked on under these.
    if (this.round?.termsId !== termsId) this.#owed.clear()
    const opened = { round, version, policyId, manifestId, roundSecret, resting, openedAtMs: atMs, terms, termsId }
    this.rounds.push(opened)
    this.#roundsByNumber.set(round, opened)
    this.keysWaiting = 0
  }

  #applyJudged(event: JudgedGroup): void {
    const { leaseId, node, accepted, code } = event
    const { taskIndex } = this.leases.get(leaseId)!
    if (this.#open.close(leaseId)) this.#noteYield(node, accepted)
    this.#owed.get(node)?.delete(leaseId)
    this.judged.set(leaseId, event)
    const record = this.#node(node)
    record.verdicts.push(event)
    record.credit += event.credit
    record.addressBlock = event.addressBlock
    if (accepted) this.#accept(record, event, taskIndex)
    else this.#refuse(record, code!, event.atMs)
    this.#reclassify(record)
  }

  #accept(record: FoldedNode, event: JudgedGroup, taskIndex: number): void {
    const { leaseId, node, version, audit, flat } = event
    if (isUnseen(event)) this.#onTrust.add(event)
    else {
      this.#trust(record, audit === 'passed')
      if (flat) this.#confirm(node)
    }
    record.lastLease = 'delivered'
    this.reliable.add(node)
    this.accepted.set(leaseId, event)
    if (!flat && !this.#withdrawn.has(version)) this.#usable.add(event)
    if (audit === 'passed') this.#audited.add(leaseId)
    this.curriculum.note(taskIndex, version, flat)
    const others = this.#groupsOfTask.get(taskIndex)
    if (others) others.push(leaseId)
    else this.#groupsOfTask.set(taskIndex, [leaseId])
    this.#addUp(record, event)
  }

  #confirm(node: string): void {
    for (const { leaseId } of this.#onTrust.of(node)) if (!this.suspects.has(leaseId)) this.#onTrust.delete(leaseId)
  }

  #abandon(record: FoldedNode): void {
    this.#noteYield(record.node, false)
    record.lastLease = 'abandoned'
    record.abandoned += 1
    this.reliable.delete(record.node)
    this.#reclassify(record)
  }

  /** A lease has ended. */
  #noteYield(node: string, brought: boolean): void {
    if (!this.reliable.has(node)) this.unprovenYield += ((brought ? 1 : 0) - this.unprovenYield) / YIELD_MEMORY
  }

  /** What is known of a key has changed. */
  #reclassify({ node, lastLease }: FoldedNode): void {
    this.#open.classify(node, this.#kindOf(node, lastLease))
    this.#noteSupplier(node)
  }

  #kindOf(node: string, lastLease: FoldedNode['lastLease']): KeyKind {
    if (this.reliable.has(node)) return 'proven'
    return lastLease === 'abandoned' ? 'doubtful' : 'untried'
  }

  #noteSupplier(node: string): void {
    if (this.reliable.has(node) && this.#open.isInFirstTerm(node)) this.suppliers.set(node, this.#node(node))
    else this.suppliers.delete(node)
  }

  #applyAudited(event: AuditedGroupRecord): void {
    const { leaseId, node, accepted, code, detail, atMs } = event
    const group = this.judged.get(leaseId)!
    const record = this.#node(node)
    this.suspects.delete(leaseId)
    this.#usable.putBack(leaseId)
    this.#audited.add(leaseId)
    if (accepted) {
      this.#trust(record, true)
      this.#addUp(record, event)
      return
    }
    this.accepted.delete(leaseId)
    this.#usable.delete(leaseId)
    if (this.#onTrust.delete(leaseId)) this.curriculum.forget(this.leases.get(leaseId)!.taskIndex)
    record.verdicts.push({ leaseId, bodySha256: group.bodySha256, accepted, code, detail, credit: 0, atMs })
    record.credit -= group.credit
    this.#refuse(record, code!, atMs)
    this.#reclassify(record)
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
    this.reliable.delete(node)
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
    this.dissolvedBatches.add(pending.batchId)
    this.#batchedOnTrust.dissolve(pending.batchId)
    const freed = new Set(pending.leaseIds.filter((one) => !this.lostBodies.has(one)))
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

  /** Groups that no batch can take any more: too old, or of an adapter that was rolled back. */
  #forgetUseless(oldest: number): void {
    const isUseless = (version: number): boolean => version < oldest || this.#withdrawn.has(version)
    this.#usable.prune(isUseless)
    for (const [leaseId, { version, flat }] of this.suspects)
      if (isUseless(version) && !flat) this.suspects.delete(leaseId)
  }

  #node(node: string): FoldedNode {
    let record = this.nodes.get(node)
    if (!record) {
      record = {
        node,
        standing: new Standing(),
        verdicts: [],
        credit: 0,
        lastLease: null,
        abandoned: 0,
        addressBlock: null,
      }
      this.nodes.set(node, record)
    }
    return record
  }

  #owedTo(node: string): Map<string, LeaseRecord> {
    let owed = this.#owed.get(node)
    if (!owed) {
      owed = new Map()
      this.#owed.set(node, owed)
    }
    return owed
  }

  get terms(): RunTerms | undefined {
    return this.termsHistory.at(-1)?.terms
  }

  roundOf({ round }: Pick<LeaseRecord, 'round'>): Round {
    return this.#roundsByNumber.get(round)!
  }

  get current(): Publication | undefined {
    return this.publications.at(-1)
  }

  publication(version: number): Publication {
    return this.publications[version]!
  }

  batchesBehind(adapterStep: number): BatchRecord[] {
    const steps = new Set<number>()
    // Step n goes on from what was published as version n - 1.
    for (let step = adapterStep; step > 0; step = this.publication(step - 1).adapterStep) steps.add(step)
    return [...this.batches.values()].filter(
      ({ batchId, step }) =>
        steps.has(step) && !this.refusedBatches.has(batchId) && !this.dissolvedBatches.has(batchId),
    )
  }

  get round(): Round | undefined {
    return this.rounds.at(-1)
  }

  get pendingBatch(): BatchRecord | undefined {
    const last = this.#lastBatch
    if (!last) return undefined
    const { batchId } = last
    const over = this.trained.has(batchId) || this.refusedBatches.has(batchId) || this.dissolvedBatches.has(batchId)
    return over ? undefined : last
  }

  get doubtedBatches(): DoubtedBatch[] {
    return this.#batchedOnTrust.unnamed
  }

  isAdmitted(node: string): boolean {
    const since = this.registered.get(node)
    return since !== undefined && this.round !== undefined && since < this.round.round
  }

  nextLeaseIndex(node: string, round: number): number {
    return this.#leasesOfRound.get(`${node} ${round}`) ?? 0
  }

  isOpenToAudit(leaseId: string): boolean {
    return (this.#usable.has(leaseId) || this.#onTrust.all.has(leaseId)) && !this.#audited.has(leaseId)
  }

  hasPassedAudit(leaseId: string): boolean {
    return this.#audited.has(leaseId) && this.accepted.has(leaseId)
  }

  owedLease(node: string): LeaseRecord | undefined {
    return this.#owed.get(node)?.values().next().value
  }

  acceptedOfTask(taskIndex: number): JudgedGroup[] {
    return (this.#groupsOfTask.get(taskIndex) ?? []).flatMap((leaseId) => this.accepted.get(leaseId) ?? [])
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
