import type { EventOf, RunEvent } from '../ledger/events.js'
import { isOrder, Orders } from '../ledger/orders.js'
import type { JudgedGroup } from '../ledger/run-state.js'

/** The life of one group, from its lease to the step that learned from it. */
export interface GroupReport {
  readonly lease: EventOf<'leased'>
  /** Null: not delivered. */
  readonly verdict: JudgedGroup | null
  /** What audits after the verdict found, oldest first. */
  readonly audits: readonly EventOf<'audited'>[]
  /** Batches that it was in, newest last, with what became of them. */
  readonly batches: readonly { readonly batchId: string; readonly step: number; readonly outcome: BatchOutcome }[]
  /** Given back, lapsed or forgotten, in words; null: it was not. */
  readonly released: string | null
  /** Why no batch takes the accepted group any more; null: one may, or did. */
  readonly unusedFor: 'version withdrawn' | 'task dropped' | 'key banned' | null
  /** Why its body is gone; null: it is not known to be. */
  readonly bodyLost: string | null
}

export type BatchOutcome = 'waiting' | 'trained' | 'skipped' | 'refused' | 'left out'

interface Life {
  readonly lease: EventOf<'leased'>
  verdict: JudgedGroup | null
  readonly audits: EventOf<'audited'>[]
  readonly batches: string[]
  released: string | null
  bodyLost: string | null
}

interface BatchFate {
  readonly step: number
  readonly leaseIds: readonly string[]
  outcome: BatchOutcome
}

/** The groups of a run, as its events come, oldest first. */
export class GroupsTally {
  readonly #lives = new Map<string, Life>()
  readonly #batches = new Map<string, BatchFate>()
  readonly #orders = new Orders()
  /** Of each version the step whose update made its adapter. */
  readonly #adapterSteps: number[] = []
  readonly #withdrawn = new Set<number>()
  readonly #most: number

  /** @param most  remembers the newest so many leases alone, and batches likewise; default: all */
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
        this.#lives.set(event.leaseId, {
          ...{ lease: event, verdict: null, audits: [], batches: [], released: null, bodyLost: null },
        })
        forgetOldest(this.#lives, this.#most)
        return
      case 'released':
        this.#change(event.leaseId, (life) => {
          life.released = event.reason
        })
        return
      case 'judged':
        this.#change(event.leaseId, (life) => {
          life.verdict = event
        })
        return
      case 'audited':
        this.#change(event.leaseId, ({ audits }) => audits.push(event))
        return
      case 'body-lost':
        this.#change(event.leaseId, (life) => {
          life.bodyLost = event.detail
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

  /** In the order of their leases. */
  *reports(): Generator<GroupReport> {
    for (const life of this.#lives.values()) yield this.#reportOf(life)
  }

  /** The newest verdicts first. */
  newest(): GroupReport[] {
    return [...this.reports()]
      .filter(({ verdict }) => verdict !== null)
      .sort((a, b) => b.verdict!.atMs - a.verdict!.atMs)
  }

  /** Those whose lease's name begins like this. */
  find(beginning: string): GroupReport[] {
    return [...this.#lives].filter(([leaseId]) => leaseId.startsWith(beginning)).map(([, life]) => this.#reportOf(life))
  }

  #reportOf({ batches, ...life }: Life): GroupReport {
    const leftOutOf = new Set(life.audits.filter(({ accepted }) => !accepted).map(({ batchId }) => batchId))
    return {
      ...life,
      unusedFor: this.#whyUnused(life, batches),
      batches: batches.flatMap((batchId) => {
        const batch = this.#batches.get(batchId)
        if (!batch) return []
        return { batchId, step: batch.step, outcome: leftOutOf.has(batchId) ? ('left out' as const) : batch.outcome }
      }),
    }
  }

  #whyUnused(
    { lease, verdict }: Pick<Life, 'lease' | 'verdict'>,
    batches: readonly string[],
  ): GroupReport['unusedFor'] {
    if (!verdict?.accepted || batches.length > 0) return null
    if (this.#orders.droppedTasks.has(lease.taskIndex)) return 'task dropped'
    if (this.#withdrawn.has(lease.version)) return 'version withdrawn'
    return this.#orders.banned.has(lease.node) ? 'key banned' : null
  }

  #change(leaseId: string, change: (life: Life) => unknown): void {
    const life = this.#lives.get(leaseId)
    if (life) change(life)
    else if (this.#most === Number.POSITIVE_INFINITY)
      throw new Error(`the log tells of the lease ${leaseId} without having given it`)
  }

  #end(batchId: string, outcome: BatchOutcome): void {
    const batch = this.#batches.get(batchId)
    if (batch) batch.outcome = outcome
  }
}

/** Maps keep the order in which their keys came. */
function forgetOldest(map: Map<string, unknown>, most: number): void {
  for (const key of map.keys()) {
    if (map.size <= most) return
    map.delete(key)
  }
}
