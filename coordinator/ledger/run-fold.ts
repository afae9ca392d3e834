import { LIMITS, type RefusalCode } from '../../proto/index.js'
import { Curriculum } from './curriculum.js'
import type { EventOf, RunEvent } from './events.js'
import {
  type AuditedGroupRecord,
  type BatchRecord,
  isUnseen,
  type JudgedGroup,
  type LeaseRecord,
  type NodeVerdict,
  type Publication,
  type Round,
  type RunState,
  type Supplier,
} from './run-state.js'
import { Standing } from './standing.js'
import { type RunTerms, termsIdOf } from './terms.js'

/** `NodeRecord`, where it is made. */
interface FoldedNode {
  readonly node: string
  readonly standing: Standing
  readonly verdicts: NodeVerdict[]
  credit: number
  lastLease: 'delivered' | 'abandoned' | null
  addressBlock: string | null
}

/** The fold itself. Whoever has it can change it, so only the recorder does; everyone else has `RunState`. */
export class RunFold implements RunState {
  readonly termsHistory: { terms: RunTerms; termsId: string; fromRound: number }[] = []
  readonly publications: Publication[] = []
  readonly rounds: Round[] = []
  readonly registered = new Map<string, number>()
  keysWaiting = 0
  readonly leases = new Map<string, LeaseRecord>()
  readonly openLeases = new Map<string, LeaseRecord>()
  /** Those of them that have outlasted their first deadline. */
  readonly #renewed = new Set<string>()
  readonly judged = new Map<string, JudgedGroup>()
  readonly nodes = new Map<string, FoldedNode>()
  readonly reliable = new Set<string>()
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
  /** Accepted groups with reward variance in no batch yet, in log order. */
  readonly #usable = new Map<string, JudgedGroup>()
  /** Groups that were accepted unseen, until a later one of their node is seen and keeps its word. */
  readonly #onTrust = new Map<string, JudgedGroup>()
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
        this.#open(event)
        this.#owed.clear()
        this.#forgetUseless(event.version - LIMITS.staleness.value)
        break
      case 'reopened':
        this.#open(event)
        break
      case 'registered':
        this.registered.set(event.node, event.round)
        this.keysWaiting += 1
        break
      case 'leased':
        this.leases.set(event.leaseId, event)
        this.openLeases.set(event.leaseId, event)
        this.#owed.get(event.node)?.delete(event.leaseId)
        this.#leasesOfRound.set(
          `${event.node} ${event.round}`,
          Math.max(event.index + 1, this.nextLeaseIndex(event.node, event.round)),
        )
        break
      case 'renewed': {
        const lease = { ...this.leases.get(event.leaseId)!, deadlineMs: event.deadlineMs }
        this.leases.set(event.leaseId, lease)
        this.openLeases.set(event.leaseId, lease)
        this.#renewed.add(event.leaseId)
        break
      }
      case 'released': {
        const lease = this.openLeases.get(event.leaseId)
        if (!lease) break
        this.#close(event.leaseId)
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
        for (const leaseId of event.leaseIds) this.#usable.delete(leaseId)
        break
      case 'trained':
        this.trained.set(event.batchId, event)
        break
      case 'batch-refused':
        this.refusedBatches.set(event.batchId, event)
        break
    }
  }

  #open({ round, version, policyId, manifestId, roundSecret, resting, atMs }: Publication | EventOf<'reopened'>): void {
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

  #close(leaseId: string): void {
    this.openLeases.delete(leaseId)
    this.#renewed.delete(leaseId)
  }

  #applyJudged(event: JudgedGroup): void {
    const { leaseId, node, accepted, code, audit, flat } = event
    const { taskIndex, version } = this.leases.get(leaseId)!
    this.#close(leaseId)
    this.#owed.get(node)?.delete(leaseId)
    this.judged.set(leaseId, event)
    const record = this.#node(node)
    record.verdicts.push(event)
    record.credit += event.credit
    record.addressBlock = event.addressBlock
    if (!accepted) {
      this.#refuse(record, code!, event.atMs)
      return
    }
    if (isUnseen(event)) this.#onTrust.set(leaseId, event)
    else {
      record.standing.accepted(audit === 'passed')
      if (flat) this.#confirm(node)
    }
    record.lastLease = 'delivered'
    this.reliable.add(node)
    this.accepted.set(leaseId, event)
    if (!flat && !this.#withdrawn.has(version)) this.#usable.set(leaseId, event)
    if (audit === 'passed') this.#audited.add(leaseId)
    this.curriculum.note(taskIndex, version, flat)
    const others = this.#groupsOfTask.get(taskIndex)
    if (others) others.push(leaseId)
    else this.#groupsOfTask.set(taskIndex, [leaseId])
  }

  #confirm(node: string): void {
    for (const [leaseId, group] of this.#onTrust)
      if (group.node === node && !this.suspects.has(leaseId)) this.#onTrust.delete(leaseId)
  }

  #abandon(record: FoldedNode): void {
    record.lastLease = 'abandoned'
    this.reliable.delete(record.node)
  }

  #applyAudited({ leaseId, node, accepted, code, detail, atMs }: AuditedGroupRecord): void {
    const group = this.judged.get(leaseId)!
    const record = this.#node(node)
    this.suspects.delete(leaseId)
    this.#audited.add(leaseId)
    if (accepted) {
      record.standing.accepted(true)
      return
    }
    this.accepted.delete(leaseId)
    this.#usable.delete(leaseId)
    if (this.#onTrust.delete(leaseId)) this.curriculum.forget(this.leases.get(leaseId)!.taskIndex)
    record.verdicts.push({ leaseId, bodySha256: group.bodySha256, accepted, code, detail, credit: 0, atMs })
    record.credit -= group.credit
    this.#refuse(record, code!, atMs)
  }

  /** Who was caught is no longer believed for what was taken on trust. */
  #refuse({ node, standing }: FoldedNode, code: RefusalCode, atMs: number): void {
    if (!standing.refused(code, atMs)) return
    this.reliable.delete(node)
    for (const groups of [this.#usable, this.#onTrust])
      for (const [leaseId, group] of groups)
        if (group.node === node && !this.#audited.has(leaseId)) this.suspects.set(leaseId, group)
  }

  /** Groups that no batch can take any more: too old, or of an adapter that was rolled back. */
  #forgetUseless(oldest: number): void {
    for (const groups of [this.#usable, this.suspects])
      for (const [leaseId, { version, flat }] of groups)
        if ((version < oldest || this.#withdrawn.has(version)) && !flat) groups.delete(leaseId)
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
      ({ batchId, step }) => steps.has(step) && !this.refusedBatches.has(batchId),
    )
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

  get suppliers(): Supplier[] {
    const holders = new Set<string>()
    for (const { leaseId, node } of this.openLeases.values()) if (!this.#renewed.has(leaseId)) holders.add(node)
    return [...holders].flatMap((node) => {
      const record = this.reliable.has(node) ? this.nodes.get(node) : undefined
      return record ?? []
    })
  }

  nextLeaseIndex(node: string, round: number): number {
    return this.#leasesOfRound.get(`${node} ${round}`) ?? 0
  }

  isOpenToAudit(leaseId: string): boolean {
    return (this.#usable.has(leaseId) || this.#onTrust.has(leaseId)) && !this.#audited.has(leaseId)
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

  trainable(maxStaleness: number): JudgedGroup[] {
    const oldest = (this.current?.version ?? 0) - maxStaleness
    return [...this.#usable.values()].filter(({ leaseId, version }) => version >= oldest && !this.suspects.has(leaseId))
  }
}
