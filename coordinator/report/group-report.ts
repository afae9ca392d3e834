import type { EventOf, RunEvent } from '../ledger/events.js'
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

  add(event: RunEvent): void {
    switch (event.type) {
      case 'leased':
        this.#lives.set(event.leaseId, {
          ...{ lease: event, verdict: null, audits: [], batches: [], released: null, bodyLost: null },
        })
        return
      case 'released':
        this.#life(event.leaseId).released = event.reason
        return
      case 'judged':
        this.#life(event.leaseId).verdict = event
        return
      case 'audited':
        this.#life(event.leaseId).audits.push(event)
        return
      case 'body-lost':
        this.#life(event.leaseId).bodyLost = event.detail
        return
      case 'batched': {
        const { batchId, step, leaseIds } = event
        this.#batches.set(batchId, { step, leaseIds, outcome: 'waiting' })
        for (const leaseId of leaseIds) this.#life(leaseId).batches.push(batchId)
        return
      }
      case 'trained':
        this.#batches.get(event.batchId)!.outcome = event.skipped ? 'skipped' : 'trained'
        return
      case 'batch-refused':
        this.#batches.get(event.batchId)!.outcome = 'refused'
        return
    }
  }

  /** In the order of their leases. */
  *reports(): Generator<GroupReport> {
    for (const life of this.#lives.values()) yield this.#reportOf(life)
  }

  /** Those whose lease's name begins like this. */
  find(beginning: string): GroupReport[] {
    return [...this.#lives].filter(([leaseId]) => leaseId.startsWith(beginning)).map(([, life]) => this.#reportOf(life))
  }

  #reportOf({ batches, ...life }: Life): GroupReport {
    const leftOutOf = new Set(life.audits.filter(({ accepted }) => !accepted).map(({ batchId }) => batchId))
    return {
      ...life,
      batches: batches.map((batchId) => {
        const { step, outcome } = this.#batches.get(batchId)!
        return { batchId, step, outcome: leftOutOf.has(batchId) ? 'left out' : outcome }
      }),
    }
  }

  #life(leaseId: string): Life {
    const life = this.#lives.get(leaseId)
    if (!life) throw new Error(`the log tells of the lease ${leaseId} without having given it`)
    return life
  }
}
