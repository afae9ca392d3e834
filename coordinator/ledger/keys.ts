import { LIMITS } from '../../proto/index.js'
import { type DeliveryRate, rateAfter, type TimedGroup, usualAfter } from './delivery-rate.js'
import type { OpenLeases } from './open-leases.js'
import { Reputation } from './reputation.js'
import type { KeyKind, NodeVerdict, Supplier } from './run-state.js'
import { known, type StateSnapshot } from './state-snapshot.js'

/** `NodeRecord`, where it is made. */
export interface NodeState {
  readonly node: string
  readonly reputation: Reputation
  readonly verdicts: NodeVerdict[]
  verdictCount: number
  credit: number
  lastLease: 'delivered' | 'abandoned' | null
  abandoned: number
  addressBlock: string | null
  deliveryRate: DeliveryRate | null
}

/** So many leases are remembered, more or less, in what those of keys without a record bring. */
const YIELD_MEMORY = 16

type Snapshot = Pick<StateSnapshot, 'nodes' | 'reliable' | 'suppliers'>

/** The books of all keys: what each has done, and who is at work. */
export class Keys {
  readonly all = new Map<string, NodeState>()
  readonly reliable = new Set<string>()
  readonly suppliers = new Map<string, Supplier>()
  unprovenYield = 1
  usualTokens: number | null = null
  readonly #open: OpenLeases

  /** @param open  learns what kind each key is of */
  constructor(open: OpenLeases) {
    this.#open = open
  }

  get snapshot(): Snapshot {
    return {
      nodes: [...this.all.values()].map(({ reputation, verdicts, ...record }) => ({
        ...record,
        reputation: reputation.snapshot,
        verdicts: [...verdicts],
      })),
      reliable: [...this.reliable],
      suppliers: [...this.suppliers.keys()],
    }
  }

  static of({ nodes, reliable, suppliers }: Snapshot, open: OpenLeases): Keys {
    const keys = new Keys(open)
    for (const node of reliable) keys.reliable.add(node)
    for (const record of nodes) {
      const { node, lastLease, reputation, verdicts } = record
      keys.all.set(node, { ...record, reputation: Reputation.of(reputation), verdicts: [...verdicts] })
      open.classify(node, keys.#kindOf(node, lastLease))
    }
    for (const node of suppliers) keys.suppliers.set(node, known(keys.all.get(node), `the node ${node}`))
    return keys
  }

  /** @returns  its record, which is begun if need be */
  get(node: string): NodeState {
    let record = this.all.get(node)
    if (!record) {
      record = {
        node,
        reputation: new Reputation(),
        verdicts: [],
        verdictCount: 0,
        credit: 0,
        lastLease: null,
        abandoned: 0,
        addressBlock: null,
        deliveryRate: null,
      }
      this.all.set(node, record)
    }
    return record
  }

  noteVerdict(record: NodeState, verdict: NodeVerdict): void {
    const { leaseId, bodySha256, accepted, code, detail, credit, atMs } = verdict
    record.verdictCount += 1
    record.verdicts.push({ leaseId, bodySha256, accepted, code, detail, credit, atMs })
    if (record.verdicts.length > LIMITS.verdictsKept.value) record.verdicts.shift()
  }

  /** A lease has ended. */
  noteYield(node: string, brought: boolean): void {
    if (!this.reliable.has(node)) this.unprovenYield += ((brought ? 1 : 0) - this.unprovenYield) / YIELD_MEMORY
  }

  /** A group of it was accepted. */
  deliver(record: NodeState, group: TimedGroup): void {
    record.lastLease = 'delivered'
    record.deliveryRate = rateAfter(record.deliveryRate, group)
    this.usualTokens = usualAfter(this.usualTokens, group)
    this.reliable.add(record.node)
  }

  abandon(record: NodeState): void {
    this.noteYield(record.node, false)
    record.lastLease = 'abandoned'
    record.abandoned += 1
    this.reliable.delete(record.node)
    this.reclassify(record)
  }

  /** What is known of a key has changed. */
  reclassify({ node, lastLease }: NodeState): void {
    this.#open.classify(node, this.#kindOf(node, lastLease))
    this.noteSupplier(node)
  }

  /** What a key holds has changed. */
  noteSupplier(node: string): void {
    if (this.reliable.has(node) && this.#open.isInFirstTerm(node)) this.suppliers.set(node, this.get(node))
    else this.suppliers.delete(node)
  }

  #kindOf(node: string, lastLease: NodeState['lastLease']): KeyKind {
    if (this.reliable.has(node)) return 'proven'
    return lastLease === 'abandoned' ? 'doubtful' : 'untried'
  }
}
