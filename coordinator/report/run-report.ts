import { LIMITS, type RefusalCode } from '../../proto/index.js'
import type { EventOf, RunEvent } from '../ledger/events.js'
import { isOrder, Orders, type RunOrders } from '../ledger/orders.js'
import type { RunConfiguration } from '../ledger/run-configuration.js'
import { type CountedGroup, countedOf, type VersionReport, VersionTally } from './version-report.js'

/** Progress and state of a run for its operator. */
export interface RunReport {
  /** Undefined before the first event. */
  readonly configuration: RunConfiguration | undefined
  /** Null: no dry run was played. */
  readonly rehearsal: EventOf<'rehearsed'> | null
  readonly startedAtMs: number | null
  readonly lastEventAtMs: number | null
  /** Oldest first. */
  readonly versions: readonly VersionReport[]
  readonly round: number | null
  readonly keys: number
  readonly openLeases: number
  readonly accepted: number
  readonly zeroVariance: number
  /** Groups by the reason of their refusal, including later audits. */
  readonly refused: ReadonlyMap<RefusalCode, number>
  readonly tokens: number
  /** Audits of groups, at their verdict or later. */
  readonly audits: { readonly passed: number; readonly failed: number }
  /** Groups in batches whose keys were caught later. */
  readonly doubtedGroups: number
  /** Batches that the trainer could not use, oldest first. */
  readonly refusedBatches: readonly { readonly batchId: string; readonly code: string; readonly detail: string }[]
  readonly quarantinedEnvironments: readonly string[]
  /** Orders of the operator that are in force. */
  readonly orders: RunOrders
  /** Newest record that no volunteer is at work; null: some are. */
  readonly unattended: EventOf<'unattended'> | null
  /** Newest record of what fell to a fraction of what it was; null: nothing. */
  readonly strain: EventOf<'strained'> | null
  /** Batch that the trainer works on. */
  readonly pendingBatch: string | null
  /** Expected time of the last version at the speed of the newest ones; null: complete, or too early for a forecast. */
  readonly completeAtMs: number | null
}

/** Intervals between versions that the forecast uses. */
const RECENT = 8
/** Versions whose groups are remembered: twice as many as a group may be behind, for late audits. */
const REMEMBERED = 2 * LIMITS.staleness.value

/**
 * Computes the report of a run from its events, oldest first. Remembers groups only of versions whose groups may still be revoked or
 * trained on, so its size depends on the number of versions alone.
 */
export class RunTally {
  #configuration: RunConfiguration | undefined
  #rehearsal: EventOf<'rehearsed'> | null = null
  #startedAtMs: number | null = null
  #lastEventAtMs: number | null = null
  #round: number | null = null
  #keys = 0
  readonly #versions: VersionTally[] = []
  readonly #publishedAtMs: number[] = []
  readonly #openLeases = new Set<string>()
  readonly #accepted = new Map<string, CountedGroup>()
  readonly #refused = new Map<RefusalCode, number>()
  readonly #refusedBatches: { batchId: string; code: string; detail: string }[] = []
  readonly #quarantinedEnvironments = new Set<string>()
  readonly #orders = new Orders()
  #pendingBatch: EventOf<'batched'> | null = null
  /** Mean staleness of the pending batch. */
  #staleness: number | null = null
  #audits = { passed: 0, failed: 0 }
  #doubtedGroups = 0
  #unattended: EventOf<'unattended'> | null = null
  #strain: EventOf<'strained'> | null = null

  add(event: RunEvent): void {
    this.#startedAtMs ??= event.atMs
    this.#lastEventAtMs = event.atMs
    if (isOrder(event)) {
      this.#orders.apply(event)
      return
    }
    switch (event.type) {
      case 'configured':
        // Not parsed, as in the reducer: an older log may contain removed settings.
        this.#configuration = event.configuration as RunConfiguration
        return
      case 'rehearsed':
        this.#rehearsal = event
        return
      case 'scored':
        this.#versions[event.version]?.scored(event)
        return
      case 'published':
        this.#round = event.round
        if (this.#pendingBatch?.backTo !== undefined) this.#orders.endRollback()
        for (const earlier of this.#versions) earlier.giveWayTo(event)
        this.#versions[event.version] = new VersionTally(event)
        this.#publishedAtMs.push(event.atMs)
        this.#publishedAtMs.splice(0, this.#publishedAtMs.length - RECENT - 1)
        this.#forget(event.version)
        return
      case 'reopened':
        this.#round = event.round
        return
      case 'registered':
        this.#keys += 1
        return
      case 'left':
        this.#versions[event.version]?.left(event.reason)
        return
      case 'unattended':
        this.#unattended = event
        return
      case 'attended':
        this.#unattended = null
        return
      case 'strained':
        this.#strain = event
        return
      case 'relieved':
        this.#strain = null
        return
      case 'leased':
        this.#openLeases.add(event.leaseId)
        return
      case 'released':
        this.#openLeases.delete(event.leaseId)
        return
      case 'judged':
        this.#openLeases.delete(event.leaseId)
        this.#judge(event)
        return
      case 'audited': {
        const group = this.#accepted.get(event.leaseId)
        this.#audits[event.accepted ? 'passed' : 'failed'] += 1
        if (event.accepted || !group) return
        this.#versions[group.version]!.takenBack(group)
        this.#accepted.delete(event.leaseId)
        this.#refuse(event.code)
        return
      }
      case 'batch-audited':
        this.#audits.passed += event.groups.length
        return
      case 'body-lost':
        if (this.#pendingBatch?.leaseIds.includes(event.leaseId)) this.#pendingBatch = null
        return
      case 'batched':
        this.#pendingBatch = event
        this.#staleness = this.#stalenessOf(event.leaseIds)
        return
      case 'batch-doubted':
        this.#doubtedGroups += event.leaseIds.length
        return
      case 'trained':
        this.#pendingBatch = null
        // The log records a step as trained after its version is published.
        this.#versions.at(-1)!.madeBy(event, this.#staleness)
        return
      case 'batch-refused': {
        if (this.#pendingBatch?.backTo !== undefined) this.#orders.endRollback()
        this.#pendingBatch = null
        const { batchId, code, detail } = event
        this.#refusedBatches.push({ batchId, code, detail })
        return
      }
      case 'environment-quarantined':
        this.#quarantinedEnvironments.add(event.environment)
        return
    }
  }

  report(): RunReport {
    const versions = this.#versions.map((tally) => tally.report())
    const sum = (of: (version: VersionReport) => number): number =>
      versions.reduce((total, version) => total + of(version), 0)
    return {
      configuration: this.#configuration,
      rehearsal: this.#rehearsal,
      startedAtMs: this.#startedAtMs,
      lastEventAtMs: this.#lastEventAtMs,
      versions,
      round: this.#round,
      keys: this.#keys,
      openLeases: this.#openLeases.size,
      accepted: sum(({ accepted }) => accepted),
      zeroVariance: sum(({ zeroVariance }) => zeroVariance),
      refused: new Map(this.#refused),
      tokens: sum(({ tokens }) => tokens),
      audits: { ...this.#audits },
      doubtedGroups: this.#doubtedGroups,
      refusedBatches: this.#refusedBatches,
      quarantinedEnvironments: [...this.#quarantinedEnvironments],
      orders: this.#orders,
      unattended: this.#unattended,
      strain: this.#strain,
      pendingBatch: this.#pendingBatch?.batchId ?? null,
      completeAtMs: this.#completeAtMs(),
    }
  }

  #judge(event: EventOf<'judged'>): void {
    const version = this.#versions[event.version]!
    if (event.audit !== 'none') this.#audits[event.audit] += 1
    if (event.accepted) {
      const group = countedOf(event)
      version.accepted(group)
      this.#accepted.set(event.leaseId, group)
    } else version.refused()
    this.#refuse(event.code)
  }

  /** Returns the mean over the batch's groups. */
  #stalenessOf(leaseIds: readonly string[]): number | null {
    const newest = this.#versions.length - 1
    const behind = leaseIds.flatMap((leaseId) => {
      const group = this.#accepted.get(leaseId)
      return group ? [newest - group.version] : []
    })
    return behind.length === 0 ? null : behind.reduce((sum, versions) => sum + versions, 0) / behind.length
  }

  #forget(newest: number): void {
    const inTraining = new Set(this.#pendingBatch?.leaseIds)
    for (const [leaseId, { version }] of this.#accepted)
      if (newest - version > REMEMBERED && !inTraining.has(leaseId)) this.#accepted.delete(leaseId)
  }

  #refuse(code: RefusalCode | null): void {
    if (code !== null) this.#refused.set(code, (this.#refused.get(code) ?? 0) + 1)
  }

  #completeAtMs(): number | null {
    const left = (this.#configuration?.versions ?? 0) - (this.#versions.length - 1)
    const recent = this.#publishedAtMs.slice(-RECENT - 1)
    if (left <= 0 || recent.length < 2 || this.#orders.pause) return null
    const intervals = recent.slice(1).map((atMs, i) => atMs - recent[i]!)
    const median = intervals.sort((a, b) => a - b)[Math.floor(intervals.length / 2)]!
    return recent.at(-1)! + left * median
  }
}
