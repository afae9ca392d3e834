import type { RefusalCode } from '../../proto/index.js'
import type { EventOf, RunEvent } from '../ledger/events.js'
import type { RunTerms } from '../ledger/terms.js'
import { type VersionReport, VersionTally } from './version-report.js'

/** What an operator asks first: how far the run is, how it goes, and what is in its way. */
export interface RunReport {
  /** Undefined before the first event. */
  readonly terms: RunTerms | undefined
  readonly startedAtMs: number | null
  readonly lastEventAtMs: number | null
  /** Oldest first. */
  readonly versions: readonly VersionReport[]
  readonly round: number | null
  readonly keys: number
  readonly openLeases: number
  readonly accepted: number
  readonly flat: number
  /** Groups by the reason of their refusal, later audits included. */
  readonly refused: ReadonlyMap<RefusalCode, number>
  readonly tokens: number
  /** Batches that the trainer could not use, newest last. */
  readonly refusedBatches: readonly { readonly batchId: string; readonly code: string; readonly detail: string }[]
  readonly quarantinedWorlds: readonly string[]
  /** The batch that the trainer is at. */
  readonly pendingBatch: string | null
  /** When the last version is out if those to come take as long as the newest ones; null: complete, or too early to tell. */
  readonly completeAtMs: number | null
}

/** Intervals between versions that the forecast looks at. */
const RECENT = 8

/** The report of a run, as its events come, oldest first. */
export class RunTally {
  #terms: RunTerms | undefined
  #startedAtMs: number | null = null
  #lastEventAtMs: number | null = null
  #round: number | null = null
  #keys = 0
  readonly #versions: VersionTally[] = []
  readonly #publishedAtMs: number[] = []
  readonly #openLeases = new Set<string>()
  readonly #accepted = new Map<string, EventOf<'judged'>>()
  readonly #refused = new Map<RefusalCode, number>()
  readonly #refusedBatches: { batchId: string; code: string; detail: string }[] = []
  readonly #quarantinedWorlds = new Set<string>()
  #pendingBatch: EventOf<'batched'> | null = null

  add(event: RunEvent): void {
    this.#startedAtMs ??= event.atMs
    this.#lastEventAtMs = event.atMs
    switch (event.type) {
      case 'terms':
        // As in the fold: settings that are gone may be in an older log, and are not looked at here.
        this.#terms = event.terms as RunTerms
        return
      case 'published':
        this.#round = event.round
        this.#versions[event.version] = new VersionTally(event)
        this.#publishedAtMs.push(event.atMs)
        return
      case 'reopened':
        this.#round = event.round
        return
      case 'registered':
        this.#keys += 1
        return
      case 'leased':
        this.#openLeases.add(event.leaseId)
        return
      case 'released':
        this.#openLeases.delete(event.leaseId)
        return
      case 'judged':
        this.#openLeases.delete(event.leaseId)
        this.#versions[event.version]!.judged(event)
        if (event.accepted) this.#accepted.set(event.leaseId, event)
        this.#refuse(event.code)
        return
      case 'audited': {
        const group = this.#accepted.get(event.leaseId)
        if (event.accepted || !group) return
        this.#versions[group.version]!.takenBack(group)
        this.#accepted.delete(event.leaseId)
        this.#refuse(event.code)
        return
      }
      case 'body-lost':
        if (this.#pendingBatch?.leaseIds.includes(event.leaseId)) this.#pendingBatch = null
        return
      case 'batched':
        this.#pendingBatch = event
        return
      case 'trained':
        this.#pendingBatch = null
        // A step is on record as trained when its version is out.
        this.#versions.at(-1)!.madeBy(event)
        return
      case 'batch-refused': {
        this.#pendingBatch = null
        const { batchId, code, detail } = event
        this.#refusedBatches.push({ batchId, code, detail })
        return
      }
      case 'world-quarantined':
        this.#quarantinedWorlds.add(event.server)
        return
    }
  }

  report(): RunReport {
    const versions = this.#versions.map((tally) => tally.report())
    const sum = (of: (version: VersionReport) => number): number =>
      versions.reduce((total, version) => total + of(version), 0)
    return {
      terms: this.#terms,
      startedAtMs: this.#startedAtMs,
      lastEventAtMs: this.#lastEventAtMs,
      versions,
      round: this.#round,
      keys: this.#keys,
      openLeases: this.#openLeases.size,
      accepted: sum(({ accepted }) => accepted),
      flat: sum(({ flat }) => flat),
      refused: new Map(this.#refused),
      tokens: sum(({ tokens }) => tokens),
      refusedBatches: this.#refusedBatches,
      quarantinedWorlds: [...this.#quarantinedWorlds],
      pendingBatch: this.#pendingBatch?.batchId ?? null,
      completeAtMs: this.#completeAtMs(),
    }
  }

  #refuse(code: RefusalCode | null): void {
    if (code !== null) this.#refused.set(code, (this.#refused.get(code) ?? 0) + 1)
  }

  #completeAtMs(): number | null {
    const left = (this.#terms?.versions ?? 0) - (this.#versions.length - 1)
    const recent = this.#publishedAtMs.slice(-RECENT - 1)
    if (left <= 0 || recent.length < 2) return null
    const intervals = recent.slice(1).map((atMs, i) => atMs - recent[i]!)
    const median = intervals.sort((a, b) => a - b)[Math.floor(intervals.length / 2)]!
    return recent.at(-1)! + left * median
  }
}
