import { Deadlines } from './deadlines.js'
import { LeasesInTerm, type LeaseTerm } from './leases-in-term.js'
import { type KeyKind, type LeaseRecord, originOf } from './run-state.js'
import type { StateSnapshot } from './state-snapshot.js'

/** Invalid deadlines that are kept in addition to one per lease: few enough to iterate over. */
const SPARE_DEADLINES = 64

const NONE: ReadonlyMap<string, LeaseRecord> = new Map()

/** Leases without a verdict that were not released, indexed so that no query iterates over all of them. */
export class OpenLeases {
  readonly all = new Map<string, LeaseRecord>()
  readonly #ofNode = new Map<string, Map<string, LeaseRecord>>()
  /** Leases past their first deadline, or with a longer first deadline than usual. */
  readonly #renewed = new Set<string>()
  /** Number of other leases of each node; absent: 0. */
  readonly #inFirstTerm = new Map<string, number>()
  /** Kind of each key; absent: `untried`. */
  readonly #kinds = new Map<string, KeyKind>()
  /** Open leases by kind of key, and by kind and origin. */
  readonly #ofKind: Record<KeyKind, number> = { proven: 0, untried: 0, doubtful: 0 }
  readonly #ofOrigin = new Map<string, number>()
  readonly #deadlines = new Deadlines()
  readonly #terms = new Map<string, LeaseTerm>()
  readonly #inTerm = new LeasesInTerm()

  get entries(): StateSnapshot['open'] {
    return [...this.all.keys()].map((leaseId) => {
      const { expected, untilMs } = this.#terms.get(leaseId)!
      return [leaseId, this.#renewed.has(leaseId), expected, untilMs]
    })
  }

  /** @param leases  open leases, whether each is past its first deadline, and the capacity that it takes */
  static of(leases: Iterable<readonly [LeaseRecord, boolean, LeaseTerm]>): OpenLeases {
    const open = new OpenLeases()
    for (const [lease, isRenewed, term] of leases) open.open(lease, term, isRenewed)
    return open
  }

  /** Adds a lease. @param isLong  its first deadline is later than usual, so it counts as renewed */
  open(lease: LeaseRecord, term: LeaseTerm, isLong = false): void {
    const { leaseId, node } = lease
    this.all.set(leaseId, lease)
    const own = this.#ofNode.get(node)
    if (own) own.set(leaseId, lease)
    else this.#ofNode.set(node, new Map([[leaseId, lease]]))
    if (isLong) this.#renewed.add(leaseId)
    else add(this.#inFirstTerm, node, 1)
    this.#count(lease, this.kindOf(node), 1)
    this.#terms.set(leaseId, term)
    this.#inTerm.add(leaseId, this.kindOf(node), term)
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

  /** Removes a lease. @returns  the lease, if it was open */
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
    this.#terms.delete(leaseId)
    this.#inTerm.remove(leaseId)
    return lease
  }

  /** Sets the kind of a key, and counts its open leases accordingly. */
  classify(node: string, kind: KeyKind): void {
    const before = this.kindOf(node)
    if (kind === before) return
    for (const lease of this.of(node).values()) {
      this.#count(lease, before, -1)
      this.#count(lease, kind, 1)
      this.#inTerm.classify(lease.leaseId, kind)
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

  /** Number of leases from an origin, of keys of any kind. */
  countFrom(origin: string): number {
    return this.count('proven', origin) + this.count('untried', origin) + this.count('doubtful', origin)
  }

  /** Returns the capacity that leases of a kind of keys take, see `LeasesInTerm`. */
  taken(kind: KeyKind, nowMs: number): number {
    return this.#inTerm.taken(kind, nowMs)
  }

  /** Whether a node has a lease within its first deadline. */
  isInFirstTerm(node: string): boolean {
    return this.#inFirstTerm.has(node)
  }

  /** Returns the leases whose deadline is before a time, the earliest first. */
  lapsedBefore(timeMs: number): LeaseRecord[] {
    return this.#deadlines.before(timeMs, this.#holds).map(({ leaseId }) => this.all.get(leaseId)!)
  }

  /** Number of remembered deadlines, including invalid ones, which are removed from time to time. */
  get deadlines(): number {
    return this.#deadlines.size
  }

  kindOf(node: string): KeyKind {
    return this.#kinds.get(node) ?? 'untried'
  }

  readonly #holds = ({ leaseId, deadlineMs }: { readonly leaseId: string; readonly deadlineMs: number }): boolean =>
    this.all.get(leaseId)?.deadlineMs === deadlineMs

  /** Adds a deadline, and prunes invalid ones even if `lapsedBefore` is never called. */
  #addDeadline(lease: LeaseRecord): void {
    this.#deadlines.add(lease)
    if (this.#deadlines.size > 2 * this.all.size + SPARE_DEADLINES) this.#deadlines.prune(this.#holds)
  }

  #count({ node, addressBlock }: LeaseRecord, kind: KeyKind, change: 1 | -1): void {
    this.#ofKind[kind] += change
    add(this.#ofOrigin, `${kind} ${originOf(node, addressBlock)}`, change)
  }
}

/** Counts in a map without zeros. */
function add(counts: Map<string, number>, name: string, change: 1 | -1): void {
  const count = (counts.get(name) ?? 0) + change
  if (count === 0) counts.delete(name)
  else counts.set(name, count)
}
