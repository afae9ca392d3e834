import type { RunEvent } from './events.js'

type EventOf<T extends RunEvent['type']> = Extract<RunEvent, { type: T }>

export type Publication = EventOf<'published'>
export type LeaseRecord = EventOf<'leased'>
export type JudgedGroup = EventOf<'judged'>
export type BatchRecord = EventOf<'batched'>

export interface NodeRecord {
  readonly verdicts: JudgedGroup[]
  credit: number
}

/** Everything the coordinator knows about its run: a fold over the event log, with nothing added from elsewhere. */
export class RunState {
  readonly publications: Publication[] = []
  readonly leases = new Map<string, LeaseRecord>()
  /** Leases that are neither judged nor released. */
  readonly openLeases = new Map<string, LeaseRecord>()
  readonly judged = new Map<string, JudgedGroup>()
  readonly nodes = new Map<string, NodeRecord>()
  readonly accepted: JudgedGroup[] = []
  readonly batches = new Map<string, BatchRecord>()
  readonly trained = new Map<string, EventOf<'trained'>>()
  readonly refusedBatches = new Map<string, EventOf<'batch-refused'>>()
  readonly #batchedLeases = new Set<string>()
  readonly #leasesOfRound = new Map<string, number>()

  apply(event: RunEvent): void {
    switch (event.type) {
      case 'published':
        this.publications.push(event)
        break
      case 'leased':
        this.leases.set(event.leaseId, event)
        this.openLeases.set(event.leaseId, event)
        this.#leasesOfRound.set(`${event.node} ${event.version}`, event.index + 1)
        break
      case 'released':
        this.openLeases.delete(event.leaseId)
        break
      case 'judged': {
        this.openLeases.delete(event.leaseId)
        this.judged.set(event.leaseId, event)
        const node = this.nodes.get(event.node) ?? { verdicts: [], credit: 0 }
        node.verdicts.push(event)
        node.credit += event.credit
        this.nodes.set(event.node, node)
        if (event.accepted) this.accepted.push(event)
        break
      }
      case 'batched':
        this.batches.set(event.batchId, event)
        for (const leaseId of event.leaseIds) this.#batchedLeases.add(leaseId)
        break
      case 'trained':
        this.trained.set(event.batchId, event)
        break
      case 'batch-refused':
        this.refusedBatches.set(event.batchId, event)
        break
    }
  }

  /** The policy in force, once one was published. */
  get current(): Publication | undefined {
    return this.publications.at(-1)
  }

  /** The batch that was formed and is neither trained nor refused: at most one. */
  get pendingBatch(): BatchRecord | undefined {
    return [...this.batches.values()].find(
      ({ batchId }) => !this.trained.has(batchId) && !this.refusedBatches.has(batchId),
    )
  }

  /** The index of a node's next lease in a round. */
  nextLeaseIndex(node: string, version: number): number {
    return this.#leasesOfRound.get(`${node} ${version}`) ?? 0
  }

  /**
   * Accepted groups that can still be trained on, in log order: with reward variance, in no batch yet, and at most
   * `maxStaleness` versions behind.
   */
  trainable(maxStaleness: number): JudgedGroup[] {
    const oldest = (this.current?.version ?? 0) - maxStaleness
    return this.accepted.filter(
      ({ flat, leaseId, version }) => !flat && version >= oldest && !this.#batchedLeases.has(leaseId),
    )
  }
}
