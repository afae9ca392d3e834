import { OpenLeases } from './open-leases.js'
import type { LeaseRecord } from './run-state.js'
import { known, type StateSnapshot } from './state-snapshot.js'

type Snapshot = Pick<StateSnapshot, 'leases' | 'open' | 'owed' | 'nextIndex'>

/** Leases whose groups can still matter, with the open and the abandoned ones. */
export class Leases {
  readonly all = new Map<string, LeaseRecord>()
  readonly open: OpenLeases
  /** Released leases of the version in force by node. Each node gets its own again before it gets others. */
  readonly #owed = new Map<string, Map<string, LeaseRecord>>()
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
      nextIndex: [...this.#nextIndex],
    }
  }

  /** @throws CheckpointError for an inconsistent snapshot */
  static of({ leases: all, open, owed, nextIndex }: Snapshot): Leases {
    const byId = new Map(all.map((lease) => [lease.leaseId, lease]))
    const leaseOf = (leaseId: string): LeaseRecord => known(byId.get(leaseId), `the lease ${leaseId}`)
    const leases = new Leases(OpenLeases.of(open.map(([leaseId, isRenewed]) => [leaseOf(leaseId), isRenewed])))
    for (const [leaseId, lease] of byId) leases.all.set(leaseId, lease)
    for (const leaseId of owed) leases.owe(leaseOf(leaseId))
    for (const [node, index] of nextIndex) leases.#nextIndex.set(node, index)
    return leases
  }

  /**
   * @param isOfRound  whether it is of the round in force; a lease that is taken again may be of an earlier round
   * @param isLong     whether its first deadline is later than the run configuration states
   */
  give(lease: LeaseRecord, { isOfRound, isLong }: { readonly isOfRound: boolean; readonly isLong: boolean }): void {
    const { leaseId, node, index } = lease
    this.all.set(leaseId, lease)
    this.open.open(lease, isLong)
    this.settle(node, leaseId)
    if (isOfRound) this.#nextIndex.set(node, Math.max(index + 1, this.nextIndex(node)))
  }

  renew(leaseId: string, deadlineMs: number): LeaseRecord {
    const lease = { ...this.all.get(leaseId)!, deadlineMs }
    this.all.set(leaseId, lease)
    this.open.renew(leaseId, deadlineMs)
    return lease
  }

  /** Notes an abandoned lease, which its node gets again. */
  owe(lease: LeaseRecord): void {
    const own = this.#owed.get(lease.node)
    if (own) own.set(lease.leaseId, lease)
    else this.#owed.set(lease.node, new Map([[lease.leaseId, lease]]))
  }

  settle(node: string, leaseId: string): void {
    this.#owed.get(node)?.delete(leaseId)
  }

  owedTo(node: string): LeaseRecord | undefined {
    return this.#owed.get(node)?.values().next().value
  }

  /** Forgets all abandoned leases, because their groups could not be used any more. */
  settleAll(): void {
    this.#owed.clear()
  }

  settleTask(taskIndex: number): void {
    for (const own of this.#owed.values())
      for (const lease of own.values()) if (lease.taskIndex === taskIndex) own.delete(lease.leaseId)
  }

  beginRound(): void {
    this.#nextIndex.clear()
  }

  nextIndex(node: string): number {
    return this.#nextIndex.get(node) ?? 0
  }
}
