import { Deadlines } from './deadlines.js'
import { type KeyKind, type LeaseRecord, originOf } from './run-state.js'
import type { StateSnapshot } from './state-snapshot.js'

/** Deadlines that need not hold any more, besides as many as there are leases: few enough to be walked through. */
const SPARE_DEADLINES = 64

const NONE: ReadonlyMap<string, LeaseRecord> = new Map()

/** Leases that are neither judged nor released, indexed so that no question about them walks through all of them. */
export class OpenLeases {
  readonly all = new Map<string, LeaseRecord>()
  readonly #ofNode = new Map<string, Map<string, LeaseRecord>>()
  /** Those that have outlasted their first deadline, or got a later one than usual. */
  readonly #renewed = new Set<string>()
  /** Leases of a node that have not, if there are any. */
  readonly #inFirstTerm = new Map<string, number>()
  /** Of keys that are not in it, the kind is `untried`. */
  readonly #kinds = new Map<string, KeyKind>()
  /** Open leases by kind of key, and by kind and origin. */
  readonly #ofKind: Record<KeyKind, number> = { proven: 0, untried: 0, doubtful: 0 }
  readonly #ofOrigin = new Map<string, number>()
  readonly #deadlines = new Deadlines()

  get entries(): StateSnapshot['open'] {
    return [...this.all.keys()].map((leaseId) => [leaseId, this.#renewed.has(leaseId)])
  }

  /** @param leases  those that are open, and whether they have outlasted their first deadline */
  static of(leases: Iterable<readonly [LeaseRecord, boolean]>): OpenLeases {
    const open = new OpenLeases()
    for (const [lease, isRenewed] of leases) open.open(lease, isRenewed)
    return open
  }

  /** @param isLong  its first deadline is later than usual: it counts as one that was renewed */
  open(lease: LeaseRecord, isLong = false): void {
    const { leaseId, node } = lease
    this.all.set(leaseId, lease)
    const own = this.#ofNode.get(node)
    if (own) own.set(leaseId, lease)
    else this.#ofNode.set(node, new Map([[leaseId, lease]]))
    if (isLong) this.#renewed.add(leaseId)
    else add(this.#inFirstTerm, node, 1)
    this.#count(lease, this.kindOf(node), 1)
    this.#addDeadline(lease)
  }

  renew(leaseId: string, deadlineMs: number): void {
    const before = this.all.get(leaseId)
    if (!before) return
    const lease = { ...before, deadlineMs }
    this.all.set(leaseId, lease)
    this.#ofNode.get(lease.node)!.set(leaseId, lease)
    if (!this.#renewed.has(leaseId)) add(this.#inFirstTerm, lease.node, -1)
    this.#renewed.add(leaseId)
    this.#addDeadline(lease)
  }

  /** @returns  the lease that was open */
  close(leaseId: string): LeaseRecord | undefined {
    const lease = this.all.get(leaseId)
    if (!lease) return undefined
    const { node } = lease
    this.all.delete(leaseId)
    const own = this.#ofNode.get(node)!
    own.delete(leaseId)
    if (own.size === 0) this.#ofNode.delete(node)
    if (!this.#renewed.delete(leaseId)) add(this.#inFirstTerm, node, -1)
    this.#count(lease, this.kindOf(node), -1)
    return lease
  }

  /** What is known of a key has changed, and with it how its open leases count. */
  classify(node: string, kind: KeyKind): void {
    const before = this.kindOf(node)
    if (kind === before) return
    for (const lease of this.of(node).values()) {
      this.#count(lease, before, -1)
      this.#count(lease, kind, 1)
    }
    if (kind === 'untried') this.#kinds.delete(node)
    else this.#kinds.set(node, kind)
  }

  of(node: string): ReadonlyMap<string, LeaseRecord> {
    return this.#ofNode.get(node) ?? NONE
  }

  count(kind: KeyKind, origin?: string): number {
    return origin === undefined ? this.#ofKind[kind] : (this.#ofOrigin.get(`${kind} ${origin}`) ?? 0)
  }

  /** Whether a node holds a lease that it need not have renewed yet. */
  isInFirstTerm(node: string): boolean {
    return this.#inFirstTerm.has(node)
  }

  /** The one that lapses first. */
  get first(): LeaseRecord | undefined {
    const first = this.#deadlines.first(this.#holds)
    return first && this.all.get(first.leaseId)
  }

  /** Of all deadlines that are remembered, which is no measure of how many hold: those that do not are taken away now and then. */
  get deadlines(): number {
    return this.#deadlines.size
  }

  kindOf(node: string): KeyKind {
    return this.#kinds.get(node) ?? 'untried'
  }

  readonly #holds = ({ leaseId, deadlineMs }: { readonly leaseId: string; readonly deadlineMs: number }): boolean =>
    this.all.get(leaseId)?.deadlineMs === deadlineMs

  /** Nobody may ever ask for the first. */
  #addDeadline(lease: LeaseRecord): void {
    this.#deadlines.add(lease)
    if (this.#deadlines.size > 2 * this.all.size + SPARE_DEADLINES) this.#deadlines.prune(this.#holds)
  }

  #count({ node, addressBlock }: LeaseRecord, kind: KeyKind, change: 1 | -1): void {
    this.#ofKind[kind] += change
    add(this.#ofOrigin, `${kind} ${originOf(node, addressBlock)}`, change)
  }
}

/** Counts in a map that holds no zeros. */
function add(counts: Map<string, number>, name: string, change: 1 | -1): void {
  const count = (counts.get(name) ?? 0) + change
  if (count === 0) counts.delete(name)
  else counts.set(name, count)
}
