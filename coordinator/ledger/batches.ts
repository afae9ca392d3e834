import type { EventOf } from './events.js'
import { Lineage } from './lineage.js'
import type { BatchRecord } from './run-state.js'
import type { StateSnapshot } from './state-snapshot.js'

type Snapshot = Pick<
  StateSnapshot,
  'batches' | 'trained' | 'refused' | 'dissolved' | 'adapterSteps' | 'trainedBatches' | 'recipes'
>

/** Batches of the last versions with their outcomes, and the lineage of all policies. */
export class Batches {
  readonly all = new Map<string, BatchRecord>()
  readonly trained = new Map<string, EventOf<'trained'>>()
  readonly refused = new Map<string, EventOf<'batch-refused'>>()
  readonly dissolved = new Set<string>()
  readonly lineage: Lineage
  /** The batch that is neither trained, refused nor dissolved. */
  pending: BatchRecord | undefined

  constructor(lineage = new Lineage()) {
    this.lineage = lineage
  }

  get snapshot(): Snapshot {
    return {
      batches: [...this.all.values()],
      trained: [...this.trained.values()],
      refused: [...this.refused.values()],
      dissolved: [...this.dissolved],
      ...this.lineage.snapshot,
    }
  }

  static of(snapshot: Snapshot, pending: BatchRecord | undefined): Batches {
    const made = new Batches(Lineage.of(snapshot))
    for (const batch of snapshot.batches) made.all.set(batch.batchId, batch)
    for (const event of snapshot.trained) made.trained.set(event.batchId, event)
    for (const event of snapshot.refused) made.refused.set(event.batchId, event)
    for (const batchId of snapshot.dissolved) made.dissolved.add(batchId)
    made.pending = pending
    return made
  }

  /** @param configuration  index of the run configuration in force */
  form(event: BatchRecord, configuration: number): void {
    this.all.set(event.batchId, event)
    this.lineage.batched(event, configuration)
    this.pending = event
  }

  train(event: EventOf<'trained'>): void {
    this.trained.set(event.batchId, event)
    this.#end(event.batchId)
  }

  refuse(event: EventOf<'batch-refused'>): void {
    this.refused.set(event.batchId, event)
    this.lineage.dropped(this.all.get(event.batchId)!)
    this.#end(event.batchId)
  }

  dissolve(batch: BatchRecord): void {
    this.dissolved.add(batch.batchId)
    this.lineage.dropped(batch)
    this.#end(batch.batchId)
  }

  /** Forgets finished batches of steps before `oldest`. @returns  their ids */
  forget(oldest: number): Set<string> {
    const gone = new Set<string>()
    for (const [batchId, { step }] of this.all)
      if (step < oldest && batchId !== this.pending?.batchId) gone.add(batchId)
    for (const batchId of gone) {
      this.all.delete(batchId)
      this.trained.delete(batchId)
      this.refused.delete(batchId)
      this.dissolved.delete(batchId)
    }
    return gone
  }

  #end(batchId: string): void {
    if (this.pending?.batchId === batchId) this.pending = undefined
  }
}
