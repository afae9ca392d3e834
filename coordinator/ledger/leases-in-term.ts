import type { KeyKind } from './run-state.js'

/** How much of the run's capacity an open lease takes, and until when. */
export interface LeaseTerm {
  /** Share of such leases that is expected to be delivered, in 64ths, so that sums are exact. */
  readonly expected: number
  /** One duration after the grant. A lease that is held for longer takes no capacity from other keys. */
  readonly untilMs: number
}

/** Open leases within one duration of their grant, and the capacity that they take. */
export class LeasesInTerm {
  readonly #kinds = new Map<string, { readonly term: LeaseTerm; kind: KeyKind }>()
  readonly #taken: Record<KeyKind, number> = { proven: 0, untried: 0, doubtful: 0 }

  add(leaseId: string, kind: KeyKind, term: LeaseTerm): void {
    this.remove(leaseId)
    this.#kinds.set(leaseId, { term, kind })
    this.#taken[kind] += amountOf(kind, term)
  }

  remove(leaseId: string): void {
    const found = this.#kinds.get(leaseId)
    if (!found) return
    this.#kinds.delete(leaseId)
    this.#taken[found.kind] -= amountOf(found.kind, found.term)
  }

  classify(leaseId: string, kind: KeyKind): void {
    const found = this.#kinds.get(leaseId)
    if (found) this.add(leaseId, kind, found.term)
  }

  /** Returns the expected number of groups of proven keys, or the number of leases of other keys. */
  taken(kind: KeyKind, nowMs: number): number {
    // In the order of their grants, so that each lease is looked at once after its term.
    for (const [leaseId, { term }] of this.#kinds) {
      if (term.untilMs > nowMs) break
      this.remove(leaseId)
    }
    return this.#taken[kind]
  }
}

/** Leases of unproven keys are multiplied by the share of all of them that is delivered, so they count as one here. */
const amountOf = (kind: KeyKind, { expected }: LeaseTerm): number => (kind === 'proven' ? expected : 1)
