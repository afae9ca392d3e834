import type { LeaseTerm } from './leases-in-term.js'
import { OpenLeases } from './open-leases.js'
import { type LeaseRecord, originOf } from './run-state.js'
import { known, type StateSnapshot } from './state-snapshot.js'

type Snapshot = Pick<StateSnapshot, 'leases' | 'open' | 'owed' | 'retaken' | 'nextIndex'>

/** Leases whose groups can still matter, with the open and the abandoned ones. */
export class Leases {
  readonly all = new Map<string, LeaseRecord>()
  readonly open: OpenLeases
  /**
   * Abandoned leases by node, while a group for them could be trained on. A node gets its own of the version in force again before it gets
   * others. Those of earlier versions stay a debt.
   */
  readonly #owed = new Map<string, Map<string, LeaseRecord>>()
  /** Open leases that were abandoned before. */
  readonly #retaken = new Set<string>()
  /** Number of them by origin, see `originOf`; absent: 0. */
  readonly #owedFrom = new Map<string, number>()
  /** Next lease index of each node in the round in force. */
  readonly #nextIndex = new Map<string, number>()

  constructor(open = new OpenLeases()) {
    this.open = open
  }

  get snapshot(): Snapshot {
    return {
      leases: [...this.all.values()],
      open: this.open.entries,
      owed: [...this.#owed.values()].flatMap((own) => [...own.keys()]),
      retaken: [...this.#retaken],
      nextIndex: [...this.#nextIndex],
    }
  }

  /** @throws CheckpointError for an inconsistent snapshot */
  static of({ leases: all, open, owed, retaken, nextIndex }: Snapshot): Leases {
    const byId = new Map(all.map((lease) => [lease.leaseId, lease]))
    const leaseOf = (leaseId: string): LeaseRecord => known(byId.get(leaseId), `the lease ${leaseId}`)
    const leases = new Leases(
      OpenLeases.of(
        open.map(([leaseId, isRenewed, expected, untilMs]) => [leaseOf(leaseId), isRenewed, { expected, untilMs }]),
      ),
    )
    for (const [leaseId, lease] of byId) leases.all.set(leaseId, lease)
    for (const leaseId of owed) leases.owe(leaseOf(leaseId))
    for (const leaseId of retaken) leases.#retaken.add(leaseId)
    for (const [node, index] of nextIndex) leases.#nextIndex.set(node, index)
    return leases
  }

  /**
   * @param isOfRound  whether it is of the round in force; a lease that is taken again may be of an earlier round
   * @param isLong     whether its first deadline is later than the run configuration states
   */
  give(
    lease: LeaseRecord,
    { isOfRound, isLong, term }: { readonly isOfRound: boolean; readonly isLong: boolean; readonly term: LeaseTerm },
  ): void {
    const { leaseId, node, index } = lease
    this.all.set(leaseId, lease)
    this.open.open(lease, term, isLong)
    if (this.settle(node, leaseId)) this.#retaken.add(leaseId)
    if (isOfRound) this.#nextIndex.set(node, Math.max(index + 1, this.nextIndex(node)))
  }

  renew(leaseId: string, deadlineMs: number): LeaseRecord {
    const lease = { ...this.all.get(leaseId)!, deadlineMs }
    this.all.set(leaseId, lease)
    this.open.renew(leaseId, deadlineMs)
    return lease
  }

  /** Notes the end of a lease. @returns  whether its node had abandoned it before */
  end(node: string, leaseId: string): boolean {
    const wasOwed = this.settle(node, leaseId)
    return this.#retaken.delete(leaseId) || wasOwed
  }

  /** Notes an abandoned lease, which its node gets again. */
  owe(lease: LeaseRecord): void {
    const own = this.#owed.get(lease.node)
    if (own) own.set(lease.leaseId, lease)
    else this.#owed.set(lease.node, new Map([[lease.leaseId, lease]]))
    this.#countOwed(lease, 1)
  }

  /** @returns  whether the lease was owed */
  settle(node: string, leaseId: string): boolean {
    const own = this.#owed.get(node)
    const lease = own?.get(leaseId)
    if (!own || !lease) return false
    own.delete(leaseId)
    if (own.size === 0) this.#owed.delete(node)
    this.#countOwed(lease, -1)
    return true
  }

  /** Returns an abandoned lease of this version that the node gets again. */
  owedTo(node: string, version: number): LeaseRecord | undefined {
    for (const lease of this.#owed.get(node)?.values() ?? []) if (lease.version === version) return lease
    return undefined
  }

  /** Returns the number of abandoned leases of other versions, which the node cannot take again. */
  debtOf(node: string, version: number): number {
    let debt = 0
    for (const lease of this.#owed.get(node)?.values() ?? []) if (lease.version !== version) debt += 1
    return debt
  }

  /** Returns the number of abandoned leases from an origin. */
  owedFrom(origin: string): number {
    return this.#owedFrom.get(origin) ?? 0
  }

  /** Forgets all abandoned leases, because they are of another run configuration. */
  settleAll(): void {
    this.#owed.clear()
    this.#owedFrom.clear()
  }

  /** Forgets abandoned leases of versions before `oldest`, whose groups could not be trained on any more. */
  expire(oldest: number): void {
    this.#settleWhere(({ version }) => version < oldest)
  }

  settleTask(taskIndex: number): void {
    this.#settleWhere((lease) => lease.taskIndex === taskIndex)
  }

  beginRound(): void {
    this.#nextIndex.clear()
  }

  nextIndex(node: string): number {
    return this.#nextIndex.get(node) ?? 0
  }

  #settleWhere(isOver: (lease: LeaseRecord) => boolean): void {
    for (const own of [...this.#owed.values()])
      for (const lease of [...own.values()]) if (isOver(lease)) this.settle(lease.node, lease.leaseId)
  }

  #countOwed({ node, addressBlock }: LeaseRecord, change: 1 | -1): void {
    const origin = originOf(node, addressBlock)
    const count = this.owedFrom(origin) + change
    if (count === 0) this.#owedFrom.delete(origin)
    else this.#owedFrom.set(origin, count)
  }
}
