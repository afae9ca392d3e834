import { LIMITS } from '../../proto/index.js'
import {
  afterDelivery,
  afterLateDelivery,
  afterLoss,
  type DeliveryRecord,
  expectedShare,
  NO_LEASES,
  reliabilityOf,
  withBlock,
} from './delivery-record.js'
import { type DeliveryRate, rateAfter, type TimedGroup, usualAfter } from './delivery-rate.js'
import type { OpenLeases } from './open-leases.js'
import { Reputation } from './reputation.js'
import type { KeyKind, NodeVerdict, Supplier } from './run-state.js'
import { known, type StateSnapshot } from './state-snapshot.js'

/** Mutable form of `NodeRecord`. */
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
  record: DeliveryRecord
}

/** Approximate number of leases that count for the yield of keys without a record. */
const YIELD_MEMORY = 16

type Snapshot = Pick<StateSnapshot, 'nodes' | 'reliable' | 'suppliers' | 'blocks'>

/** Records of all keys, and the keys at work. */
export class Keys {
  readonly all = new Map<string, NodeState>()
  readonly reliable = new Set<string>()
  readonly suppliers = new Map<string, Supplier>()
  unprovenYield = 1
  usualTokens: number | null = null
  readonly #open: OpenLeases
  /** Records of blocks of addresses. */
  readonly #blocks = new Map<string, DeliveryRecord>()

  /** @param open  is informed of the kind of each key */
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
      blocks: [...this.#blocks].map(([block, { delivered, lost }]) => [block, delivered, lost]),
    }
  }

  static of({ nodes, reliable, suppliers, blocks }: Snapshot, open: OpenLeases): Keys {
    const keys = new Keys(open)
    for (const [block, delivered, lost] of blocks) keys.#blocks.set(block, { delivered, lost })
    for (const node of reliable) keys.reliable.add(node)
    for (const record of nodes) {
      const { node, lastLease, reputation, verdicts } = record
      keys.all.set(node, { ...record, reputation: Reputation.of(reputation), verdicts: [...verdicts] })
      open.classify(node, keys.#kindOf(node, lastLease))
    }
    for (const node of suppliers) keys.suppliers.set(node, known(keys.all.get(node), `the node ${node}`))
    return keys
  }

  /** Returns the record of a key, and creates it if necessary. */
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
        record: NO_LEASES,
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

  /** Notes the end of a lease. */
  noteYield(node: string, isDelivered: boolean): void {
    if (!this.reliable.has(node)) this.unprovenYield += ((isDelivered ? 1 : 0) - this.unprovenYield) / YIELD_MEMORY
  }

  /** Notes an accepted group. */
  deliver(record: NodeState, group: TimedGroup): void {
    record.lastLease = 'delivered'
    record.deliveryRate = rateAfter(record.deliveryRate, group)
    this.usualTokens = usualAfter(this.usualTokens, group)
    this.reliable.add(record.node)
  }

  /** Notes an abandoned lease. @param addressBlock  of the lease. @param wasLost  whether it was abandoned before */
  abandon(record: NodeState, addressBlock: string | null, wasLost: boolean): void {
    this.noteYield(record.node, false)
    if (!wasLost) this.#noteRecord(record, addressBlock, afterLoss)
    record.lastLease = 'abandoned'
    record.abandoned += 1
    this.reliable.delete(record.node)
    this.reclassify(record)
  }

  /** Notes that a lease ended with an accepted group. @param wasLost  whether it was abandoned before */
  noteDelivery(record: NodeState, addressBlock: string | null, wasLost: boolean): void {
    this.#noteRecord(record, addressBlock, wasLost ? afterLateDelivery : afterDelivery)
  }

  #noteRecord(
    record: NodeState,
    addressBlock: string | null,
    change: (record: DeliveryRecord) => DeliveryRecord,
  ): void {
    record.record = change(record.record)
    if (addressBlock !== null) this.#blocks.set(addressBlock, change(this.#blocks.get(addressBlock) ?? NO_LEASES))
  }

  /** Returns the share of its leases that a key delivers, see `reliabilityOf`. @param addressBlock  of its connection */
  reliabilityOf(node: string, addressBlock: string | null): number {
    return reliabilityOf(this.#recordOf(node, addressBlock))
  }

  /** Returns the share of its next leases that a key is expected to deliver. */
  expectedOf(node: string, addressBlock: string | null): number {
    return expectedShare(this.#recordOf(node, addressBlock))
  }

  reliabilityOfBlock(block: string): number {
    return reliabilityOf(this.#blocks.get(block) ?? NO_LEASES)
  }

  #recordOf(node: string, addressBlock: string | null): DeliveryRecord {
    const own = this.all.get(node)?.record ?? NO_LEASES
    return addressBlock === null ? own : withBlock(own, this.#blocks.get(addressBlock) ?? NO_LEASES)
  }

  /** Updates the kind of a key after its record changed. */
  reclassify({ node, lastLease }: NodeState): void {
    this.#open.classify(node, this.#kindOf(node, lastLease))
    this.noteSupplier(node)
  }

  /** Updates whether a key is at work, after its leases changed. */
  noteSupplier(node: string): void {
    if (this.reliable.has(node) && this.#open.isInFirstTerm(node)) this.suppliers.set(node, this.get(node))
    else this.suppliers.delete(node)
  }

  #kindOf(node: string, lastLease: NodeState['lastLease']): KeyKind {
    if (this.reliable.has(node)) return 'proven'
    return lastLease === 'abandoned' ? 'doubtful' : 'untried'
  }
}
