import type { EventOf, RunEvent } from '../ledger/events.js'
import { isOrder, Orders } from '../ledger/orders.js'
import type { JudgedGroup } from '../ledger/run-state.js'

/** A group with everything that happened to it. */
export interface GroupReport {
  readonly lease: EventOf<'leased'>
  /** Null: no verdict yet. */
  readonly verdict: JudgedGroup | null
  /** Audits after the verdict, oldest first. */
  readonly audits: readonly EventOf<'audited'>[]
  /** Batches that contained it, oldest first, with their outcomes. */
  readonly batches: readonly { readonly batchId: string; readonly step: number; readonly outcome: BatchOutcome }[]
  /** Reason for the release of its lease; null: not released. */
  readonly released: string | null
  /** Why no batch can take the accepted group any more; null: one can, or did. */
  readonly unusedFor: 'version withdrawn' | 'task dropped' | 'key banned' | null
  /** Why its body is lost; null: it is not. */
  readonly bodyLost: string | null
}

export type BatchOutcome = 'waiting' | 'trained' | 'skipped' | 'refused' | 'left out'

interface GroupHistory {
  readonly lease: EventOf<'leased'>
  verdict: JudgedGroup | null
  readonly audits: EventOf<'audited'>[]
  readonly batches: string[]
  released: string | null
  bodyLost: string | null
}

interface BatchRecord {
  readonly step: number
  readonly leaseIds: readonly string[]
  outcome: BatchOutcome
}

/** Collects the groups of a run from its events, oldest first. */
export class GroupsTally {
  readonly #histories = new Map<string, GroupHistory>()
  readonly #batches = new Map<string, BatchRecord>()
  readonly #orders = new Orders()
  /** Adapter step of each version. */
  readonly #adapterSteps: number[] = []
  readonly #withdrawn = new Set<number>()
  readonly #most: number

  /** @param most  number of leases, and of batches, to remember; default: all */
  constructor(most = Number.POSITIVE_INFINITY) {
    this.#most = most
  }

  add(event: RunEvent): void {
    if (isOrder(event)) {
      this.#orders.apply(event)
      return
    }
    switch (event.type) {
      case 'published':
        for (const [version, adapterStep] of this.#adapterSteps.entries())
          if (adapterStep > event.adapterStep) this.#withdrawn.add(version)
        this.#adapterSteps[event.version] = event.adapterStep
        return
      case 'leased':
        this.#histories.set(event.leaseId, {
          ...{ lease: event, verdict: null, audits: [], batches: [], released: null, bodyLost: null },
        })
        forgetOldest(this.#histories, this.#most)
        return
      case 'released':
        this.#change(event.leaseId, (history) => {
          history.released = event.reason
        })
        return
      case 'judged':
        this.#change(event.leaseId, (history) => {
          history.verdict = event
        })
        return
      case 'audited':
        this.#change(event.leaseId, ({ audits }) => audits.push(event))
        return
      case 'body-lost':
        this.#change(event.leaseId, (history) => {
          history.bodyLost = event.detail
        })
        return
      case 'batched': {
        const { batchId, step, leaseIds } = event
        this.#batches.set(batchId, { step, leaseIds, outcome: 'waiting' })
        forgetOldest(this.#batches, this.#most)
        for (const leaseId of leaseIds) this.#change(leaseId, ({ batches }) => batches.push(batchId))
        return
      }
      case 'trained':
        this.#end(event.batchId, event.skipped ? 'skipped' : 'trained')
        return
      case 'batch-refused':
        this.#end(event.batchId, 'refused')
        return
    }
  }

  /** Returns all groups in the order of their leases. */
  *reports(): Generator<GroupReport> {
    for (const history of this.#histories.values()) yield this.#reportOf(history)
  }

  /** Returns groups with verdicts, the newest first. */
  newest(): GroupReport[] {
    return [...this.reports()]
      .filter(({ verdict }) => verdict !== null)
      .sort((a, b) => b.verdict!.atMs - a.verdict!.atMs)
  }

  /** Returns the groups whose lease ids begin with the given text. */
  find(beginning: string): GroupReport[] {
    return [...this.#histories]
      .filter(([leaseId]) => leaseId.startsWith(beginning))
      .map(([, history]) => this.#reportOf(history))
  }

  #reportOf({ batches, ...history }: GroupHistory): GroupReport {
    const leftOutOf = new Set(history.audits.filter(({ accepted }) => !accepted).map(({ batchId }) => batchId))
    return {
      ...history,
      unusedFor: this.#whyUnused(history, batches),
      batches: batches.flatMap((batchId) => {
        const batch = this.#batches.get(batchId)
        if (!batch) return []
        return { batchId, step: batch.step, outcome: leftOutOf.has(batchId) ? ('left out' as const) : batch.outcome }
      }),
    }
  }

  #whyUnused(
    { lease, verdict }: Pick<GroupHistory, 'lease' | 'verdict'>,
    batches: readonly string[],
  ): GroupReport['unusedFor'] {
    if (!verdict?.accepted || batches.length > 0) return null
    if (this.#orders.droppedTasks.has(lease.taskIndex)) return 'task dropped'
    if (this.#withdrawn.has(lease.version)) return 'version withdrawn'
    return this.#orders.banned.has(lease.node) ? 'key banned' : null
  }

  #change(leaseId: string, change: (history: GroupHistory) => unknown): void {
    const history = this.#histories.get(leaseId)
    if (history) change(history)
    else if (this.#most === Number.POSITIVE_INFINITY)
      throw new Error(`the log contains an event of lease ${leaseId}, but no lease`)
  }

  #end(batchId: string, outcome: BatchOutcome): void {
    const batch = this.#batches.get(batchId)
    if (batch) batch.outcome = outcome
  }
}

/** Removes the entries that were inserted first. */
function forgetOldest(map: Map<string, unknown>, most: number): void {
  for (const key of map.keys()) {
    if (map.size <= most) return
    map.delete(key)
  }
}
