import { LIMITS, type RefusalCode } from '../../proto/index.js'
import { Curriculum } from './curriculum.js'
import type { EventOf, RunEvent } from './events.js'
import { OpenLeases } from './open-leases.js'
import {
  type AcceptedCompletions,
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
  type TrainedBatch,
} from './run-state.js'
import { Standing } from './standing.js'
import { TaskCompletions } from './task-completions.js'
import { type RunTerms, termsIdOf } from './terms.js'
import { GroupsOfNodes, UsableGroups } from './usable-groups.js'

/** `NodeRecord`, where it is made. */
interface FoldedNode {
  readonly node: string
  readonly standing: Standing
  readonly verdicts: NodeVerdict[]
  credit: number
  lastLease: 'delivered' | 'abandoned' | null
  abandonments: number
  addressBlock: string | null
}

/** Rounds whose secrets the next manifest shows, and those that are still served. */
const MOST_ROUNDS = Math.max(LIMITS.closedRounds.value, LIMITS.manifestsServed.value)
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
  #lastBatch: BatchRecord | undefined
  /** Accepted groups with reward variance in no batch yet. */
  readonly #usable = new UsableGroups()
  /** Groups that were accepted unseen, until a later one of their node is seen and keeps its word. */
  readonly #onTrust = new GroupsOfNodes()
  readonly #audited = new Set<string>()
  readonly #batchesBehind = new Map<string, TrainedBatch & { readonly step: number }>()
  readonly #roundsByNumber = new Map<number, Round>()
  /** By the round in force, of each node. */
  readonly #nextIndex = new Map<string, number>()
  readonly #leasesOfVersion = new Map<number, Set<string>>()
  /** Released leases of the version in force by node: each gets its own again before it gets others. */
  readonly #owed = new Map<string, Map<string, LeaseRecord>>()
  readonly #completions = new TaskCompletions()

  readonly #keepsVerdicts: boolean

  /** @param verdicts  whether it keeps the verdicts of every node, which no decision asks for */
  constructor({ verdicts = true }: { readonly verdicts?: boolean } = {}) {
    this.#keepsVerdicts = verdicts
  }

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
        this.#forgetBatches(event.step - LIMITS.staleness.value)
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
        setOf(this.#leasesOfVersion, event.version).add(event.leaseId)
        this.#open.open(event)
        this.#noteSupplier(event.node)
        this.#owed.get(event.node)?.delete(event.leaseId)
        if (event.round === this.round?.round)
          this.#nextIndex.set(event.node, Math.max(event.index + 1, this.nextLeaseIndex(event.node)))
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
      case 'batched':
        this.batches.set(event.batchId, event)
        this.#lastBatch = event
        this.#batchesBehind.set(event.batchId, {
          batchId: event.batchId,
          step: event.step,
          groups: event.leaseIds.length,
        })
        for (const leaseId of event.leaseIds) this.#usable.delete(leaseId)
        break
      case 'trained':
        this.trained.set(event.batchId, event)
        break
      case 'batch-refused':
        this.refusedBatches.set(event.batchId, event)
        this.#batchesBehind.delete(event.batchId)
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
    this.#nextIndex.clear()
    if (this.rounds.length > MOST_ROUNDS) this.rounds.shift()
  }

  #applyJudged(event: JudgedGroup): void {
    const { leaseId, node, bodySha256, accepted, code, detail, credit, atMs } = event
    if (this.#open.close(leaseId)) this.#noteYield(node, accepted)
    this.#owed.get(node)?.delete(leaseId)
    if (this.leases.has(leaseId)) this.judged.set(leaseId, event)
    const record = this.#node(node)
    if (this.#keepsVerdicts) record.verdicts.push({ leaseId, bodySha256, accepted, code, detail, credit, atMs })
    record.credit += credit
    record.addressBlock = event.addressBlock
    if (accepted) this.#accept(record, event)
    else this.#refuse(record, code!, atMs)
    this.#reclassify(record)
  }

  #accept(record: FoldedNode, event: JudgedGroup): void {
    const { leaseId, node, version, audit, flat, completions } = event
    const { taskIndex } = this.leases.get(leaseId)!
    if (isUnseen(event)) this.#onTrust.add(event)
    else {
      record.standing.accepted(audit === 'passed')
      if (flat) this.#confirm(node)
    }
    record.lastLease = 'delivered'
    this.reliable.add(node)
    this.accepted.set(leaseId, event)
    if (!flat && !this.#withdrawn.has(version)) this.#usable.add(event)
    if (audit === 'passed') this.#audited.add(leaseId)
    this.curriculum.note(taskIndex, version, flat)
    this.#completions.add(taskIndex, leaseId, completions)
  }

  #confirm(node: string): void {
    for (const { leaseId } of this.#onTrust.of(node)) if (!this.suspects.has(leaseId)) this.#onTrust.delete(leaseId)
  }

  #abandon(record: FoldedNode): void {
    this.#noteYield(record.node, false)
    record.lastLease = 'abandoned'
    record.abandonments += 1
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

  #applyAudited({ leaseId, node, accepted, code, detail, atMs }: AuditedGroupRecord): void {
    const group = this.judged.get(leaseId)!
    const record = this.#node(node)
    this.suspects.delete(leaseId)
    this.#usable.putBack(leaseId)
    this.#audited.add(leaseId)
    if (accepted) {
      record.standing.accepted(true)
      return
    }
    const { taskIndex } = this.leases.get(leaseId)!
    this.accepted.delete(leaseId)
    this.#usable.delete(leaseId)
    this.#completions.delete(taskIndex, leaseId)
    if (this.#onTrust.delete(leaseId)) this.curriculum.forget(taskIndex)
    const { bodySha256 } = group
    if (this.#keepsVerdicts) record.verdicts.push({ leaseId, bodySha256, accepted, code, detail, credit: 0, atMs })
    record.credit -= group.credit
    this.#refuse(record, code!, atMs)
    this.#reclassify(record)
  }

  /** Who was caught is no longer believed for what was taken on trust. */
  #refuse({ node, standing }: FoldedNode, code: RefusalCode, atMs: number): void {
    if (!standing.refused(code, atMs)) return
    this.reliable.delete(node)
    for (const group of [...this.#usable.of(node), ...this.#onTrust.of(node)]) {
      if (this.#audited.has(group.leaseId)) continue
      this.suspects.set(group.leaseId, group)
      this.#usable.putAside(group)
    }
  }

  /** Groups that no batch can take any more: too old, or of an adapter that was rolled back. */
  #forgetUseless(oldest: number): void {
    const isUseless = (version: number): boolean => version < oldest || this.#withdrawn.has(version)
    this.#usable.prune(isUseless)
    for (const [leaseId, { version, flat }] of this.suspects)
      if (isUseless(version) && !flat) this.suspects.delete(leaseId)
    this.#forgetLeases(oldest)
  }

  /** Leases whose groups can change nothing any more, and what became of them. */
  #forgetLeases(oldest: number): void {
    const inTraining = new Set(this.pendingBatch?.leaseIds)
    const isNeeded = (leaseId: string): boolean =>
      this.#open.all.has(leaseId) || this.#isAtStake(leaseId) || inTraining.has(leaseId)
    for (const [version, leaseIds] of this.#leasesOfVersion) {
      if (version >= oldest) continue
      for (const leaseId of leaseIds) {
        if (isNeeded(leaseId)) continue
        leaseIds.delete(leaseId)
        this.leases.delete(leaseId)
        this.judged.delete(leaseId)
        this.accepted.delete(leaseId)
        this.#audited.delete(leaseId)
      }
      if (leaseIds.size === 0) this.#leasesOfVersion.delete(version)
    }
    this.#forgetRounds()
  }

  /** Those that are neither among the newest nor named by a lease. */
  #forgetRounds(): void {
    const oldest = this.rounds[0]!.round
    const named = new Set<number>()
    for (const { round } of this.leases.values()) named.add(round)
    for (const round of this.#roundsByNumber.keys())
      if (round < oldest && !named.has(round)) this.#roundsByNumber.delete(round)
  }

  /** Batches whose groups are all forgotten. */
  #forgetBatches(oldest: number): void {
    for (const [batchId, { step }] of this.batches) {
      if (step >= oldest) break
      this.batches.delete(batchId)
      this.trained.delete(batchId)
      this.refusedBatches.delete(batchId)
    }
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
        abandonments: 0,
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

  batchesBehind(adapterStep: number): TrainedBatch[] {
    const steps = new Set<number>()
    // Step n goes on from what was published as version n - 1.
    for (let step = adapterStep; step > 0; step = this.publication(step - 1).adapterStep) steps.add(step)
    return [...this.#batchesBehind.values()].filter(({ step }) => steps.has(step))
  }

  get round(): Round | undefined {
    return this.rounds.at(-1)
  }

  get pendingBatch(): BatchRecord | undefined {
    const last = this.#lastBatch
    return last && !this.trained.has(last.batchId) && !this.refusedBatches.has(last.batchId) ? last : undefined
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

  owedLease(node: string): LeaseRecord | undefined {
    return this.#owed.get(node)?.values().next().value
  }

  acceptedOfTask(taskIndex: number): AcceptedCompletions[] {
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

function setOf(sets: Map<number, Set<string>>, name: number): Set<string> {
  let set = sets.get(name)
  if (!set) {
    set = new Set()
    sets.set(name, set)
  }
  return set
}
