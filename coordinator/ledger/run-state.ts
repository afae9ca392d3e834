import { LIMITS, type RefusalCode } from '../../proto/index.js'
import { Curriculum } from './curriculum.js'
import type { RunEvent } from './events.js'
import { Standing } from './standing.js'

export type EventOf<T extends RunEvent['type']> = Extract<RunEvent, { type: T }>

export type Publication = EventOf<'published'>
export type LeaseRecord = EventOf<'leased'>
export type JudgedGroup = EventOf<'judged'>
export type AuditedGroupRecord = EventOf<'audited'>
export type BatchRecord = EventOf<'batched'>

/** A stretch of a run with one secret for the seeds of its leases. A version has one or more. */
export interface Round {
  readonly round: number
  readonly version: number
  readonly policyId: string
  readonly manifestId: string
  readonly roundSecret: string
  readonly resting: string
  readonly openedAtMs: number
}

/** A verdict as its node hears it. One group may get two: accepted first, refused by a later audit. */
export interface NodeVerdict {
  readonly leaseId: string
  readonly bodySha256: string
  readonly accepted: boolean
  readonly code: RefusalCode | null
  readonly detail: string
  readonly credit: number
  readonly atMs: number
}

export interface NodeRecord {
  readonly node: string
  readonly standing: Standing
  readonly verdicts: NodeVerdict[]
  credit: number
  /** What became of its last lease, abandoned being lapsed, forgotten or given back; null: none is over yet. */
  lastLease: 'delivered' | 'abandoned' | null
  /** Where its last group came from. */
  addressBlock: string | null
}

/** A key that is at work: it holds leases, and is known to deliver. */
export interface Supplier {
  readonly node: string
  /** Where its last group came from; null: not known. */
  readonly addressBlock: string | null
}

/** Whether a verdict rests on nothing but the announcement. */
export const isUnseen = ({ accepted, flat, completions }: JudgedGroup): boolean =>
  accepted && flat && completions.length === 0

/** Everything the coordinator knows about its run: a fold over the event log, with nothing added from elsewhere. */
export class RunState {
  readonly publications: Publication[] = []
  readonly rounds: Round[] = []
  /** Keys, and the round in which each was first seen. */
  readonly registered = new Map<string, number>()
  /** Keys that registered since the last round opened. */
  keysWaiting = 0
  readonly leases = new Map<string, LeaseRecord>()
  /** Leases that are neither judged nor released. */
  readonly openLeases = new Map<string, LeaseRecord>()
  /** Those of them that have outlasted their first deadline. */
  readonly #renewed = new Set<string>()
  readonly judged = new Map<string, JudgedGroup>()
  readonly nodes = new Map<string, NodeRecord>()
  /** Nodes whose last lease brought a group that was accepted. */
  readonly reliable = new Set<string>()
  /** Accepted groups in log order, those that a later audit refused left out. */
  readonly accepted = new Map<string, JudgedGroup>()
  /** Versions whose adapter was rolled back: what they sampled is not trained on. */
  readonly #withdrawn = new Set<number>()
  /**
   * Accepted groups of nodes that were caught lying since: not to be trained on before they pass an audit of their own, and
   * without one not to be believed any longer.
   */
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
  readonly #leasesOfRound = new Map<string, number>()
  /** Released leases of the version in force by node: each gets its own again before it gets others. */
  readonly #owed = new Map<string, Map<string, LeaseRecord>>()
  /** Leases of accepted groups by task, for finding copies. */
  readonly #groupsOfTask = new Map<number, string[]>()

  apply(event: RunEvent): void {
    switch (event.type) {
      case 'published':
        for (const { version, adapterStep } of this.publications)
          if (adapterStep > event.adapterStep) this.#withdrawn.add(version)
        this.publications.push(event)
        this.#open({ ...event, openedAtMs: event.atMs })
        this.#owed.clear()
        this.#forgetUseless(event.version - LIMITS.staleness.value)
        break
      case 'reopened':
        this.#open({ ...event, policyId: this.current!.policyId, openedAtMs: event.atMs })
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

  #open(round: Round): void {
    this.rounds.push(round)
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

  #abandon(record: NodeRecord): void {
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
  #refuse({ node, standing }: NodeRecord, code: RefusalCode, atMs: number): void {
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

  #node(node: string): NodeRecord {
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

  /** The policy in force, once one was published. */
  get current(): Publication | undefined {
    return this.publications.at(-1)
  }

  /** The publication of a version that is out: versions count from 0, and each is published once. */
  publication(version: number): Publication {
    return this.publications[version]!
  }

  /** The batches whose updates made the adapter of training step `adapterStep`, oldest first. */
  batchesBehind(adapterStep: number): BatchRecord[] {
    const steps = new Set<number>()
    // Step n goes on from what was published as version n - 1.
    for (let step = adapterStep; step > 0; step = this.publication(step - 1).adapterStep) steps.add(step)
    return [...this.batches.values()].filter(
      ({ batchId, step }) => steps.has(step) && !this.refusedBatches.has(batchId),
    )
  }

  /** The round that leases are given for, once a policy was published. */
  get round(): Round | undefined {
    return this.rounds.at(-1)
  }

  /** The batch that was formed and is neither trained nor refused: at most one. */
  get pendingBatch(): BatchRecord | undefined {
    const last = this.#lastBatch
    return last && !this.trained.has(last.batchId) && !this.refusedBatches.has(last.batchId) ? last : undefined
  }

  /** Whether a key may have leases of the round in force: it registered before the round's secret was drawn. */
  isAdmitted(node: string): boolean {
    const since = this.registered.get(node)
    return since !== undefined && this.round !== undefined && since < this.round.round
  }

  /**
   * Who is at work: nodes with open leases that are known to deliver. Another could hold leases only to be waited for, so
   * nobody is waited for any longer than a lease lasts without renewal.
   */
  get suppliers(): Supplier[] {
    const holders = new Set<string>()
    for (const { leaseId, node } of this.openLeases.values()) if (!this.#renewed.has(leaseId)) holders.add(node)
    return [...holders].flatMap((node) => {
      const record = this.reliable.has(node) ? this.nodes.get(node) : undefined
      return record ?? []
    })
  }

  /** The index of a node's next lease in a round. */
  nextLeaseIndex(node: string, round: number): number {
    return this.#leasesOfRound.get(`${node} ${round}`) ?? 0
  }

  /** Whether an accepted group can still be audited: it was not yet, and is in no batch. */
  isOpenToAudit(leaseId: string): boolean {
    return (this.#usable.has(leaseId) || this.#onTrust.has(leaseId)) && !this.#audited.has(leaseId)
  }

  /** A lease of the version in force that the node has left lying. */
  owedLease(node: string): LeaseRecord | undefined {
    return this.#owed.get(node)?.values().next().value
  }

  /** Accepted groups of a task, oldest first. */
  acceptedOfTask(taskIndex: number): JudgedGroup[] {
    return (this.#groupsOfTask.get(taskIndex) ?? []).flatMap((leaseId) => this.accepted.get(leaseId) ?? [])
  }

  /**
   * Accepted groups that can still be trained on, in log order: with reward variance, in no batch yet, above suspicion, at
   * most `maxStaleness` versions behind, and of an adapter that was not rolled back.
   */
  trainable(maxStaleness: number): JudgedGroup[] {
    const oldest = (this.current?.version ?? 0) - maxStaleness
    return [...this.#usable.values()].filter(({ leaseId, version }) => version >= oldest && !this.suspects.has(leaseId))
  }
}
