import type { StateSnapshot } from './state-snapshot.js'

/** Unaudited groups of one key in one batch, after the key was caught. */
export interface DoubtedBatch {
  readonly batchId: string
  readonly node: string
  readonly leaseIds: readonly string[]
}

/**
 * Unaudited groups that were trained on, by key. When a key is caught, the log can name its groups in the batches of the last versions.
 * Their gradients cannot be undone.
 */
export class BatchedOnTrust {
  /** Groups of each key, in the order of their batches. */
  readonly #groups = new Map<string, { readonly leaseId: string; readonly batchId: string }[]>()
  /** Number of groups of each key that precede its last passed audit. */
  readonly #confirmed = new Map<string, number>()
  /** Doubted batches that the log does not name yet, by batch and key. */
  readonly #unnamed = new Map<string, DoubtedBatch>()

  get snapshot(): Pick<StateSnapshot, 'batchedOnTrust' | 'doubted'> {
    const batchedOnTrust = [...this.#groups].map(([node, groups]) => ({
      node,
      confirmed: this.#confirmed.get(node) ?? 0,
      groups: groups.map(({ leaseId, batchId }): [string, string] => [leaseId, batchId]),
    }))
    return { batchedOnTrust, doubted: this.unnamed }
  }

  static of({ batchedOnTrust, doubted }: Pick<StateSnapshot, 'batchedOnTrust' | 'doubted'>): BatchedOnTrust {
    const made = new BatchedOnTrust()
    for (const { node, confirmed, groups } of batchedOnTrust) {
      const known = groups.map(([leaseId, batchId]) => ({ leaseId, batchId }))
      made.#set(node, known, confirmed)
    }
    for (const one of doubted) made.#unnamed.set(`${one.batchId} ${one.node}`, one)
    return made
  }

  note(node: string, leaseId: string, batchId: string): void {
    const groups = this.#groups.get(node)
    if (groups) groups.push({ leaseId, batchId })
    else this.#groups.set(node, [{ leaseId, batchId }])
  }

  /** Forgets batches that will not be trained on, so that their groups are free again, or that are too old to matter. */
  forget(batchIds: ReadonlySet<string>): void {
    if (batchIds.size === 0) return
    const isKept = (group: { readonly batchId: string }): boolean => !batchIds.has(group.batchId)
    for (const [node, groups] of this.#groups) {
      const kept = groups.filter(isKept)
      const confirmed = groups.slice(0, this.#confirmed.get(node) ?? 0).filter(isKept).length
      this.#set(node, kept, confirmed)
    }
  }

  /** Notes that an audit of the key has passed. */
  confirm(node: string): void {
    const groups = this.#groups.get(node)
    if (groups) this.#confirmed.set(node, groups.length)
  }

  /** Marks groups of a caught key as doubted: those since its last passed audit, or all of them when the key is excluded. */
  doubt(node: string, all: boolean): void {
    const known = this.#groups.get(node) ?? []
    const confirmed = all ? 0 : (this.#confirmed.get(node) ?? 0)
    const groups = known.slice(confirmed)
    this.#set(node, known.slice(0, confirmed), confirmed)
    for (const { leaseId, batchId } of groups) {
      const name = `${batchId} ${node}`
      const leaseIds = [...(this.#unnamed.get(name)?.leaseIds ?? []), leaseId]
      this.#unnamed.set(name, { batchId, node, leaseIds })
    }
  }

  named({ batchId, node }: Pick<DoubtedBatch, 'batchId' | 'node'>): void {
    this.#unnamed.delete(`${batchId} ${node}`)
  }

  #set(node: string, groups: { readonly leaseId: string; readonly batchId: string }[], confirmed: number): void {
    if (groups.length > 0) this.#groups.set(node, groups)
    else this.#groups.delete(node)
    if (confirmed > 0) this.#confirmed.set(node, confirmed)
    else this.#confirmed.delete(node)
  }

  get unnamed(): DoubtedBatch[] {
    return [...this.#unnamed.values()]
  }
}
