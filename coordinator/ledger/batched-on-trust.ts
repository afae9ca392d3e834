import type { StateSnapshot } from './state-snapshot.js'

/** Groups that a batch holds and that no audit has looked at, all of one key. */
export interface DoubtedBatch {
  readonly batchId: string
  readonly node: string
  readonly leaseIds: readonly string[]
}

/**
 * What was trained on without an audit, by key: when a key is caught, its groups in batches of the last versions can be named, and
 * only named, for a gradient is not taken back.
 */
export class BatchedOnTrust {
  /** Of each key, in the order of their batches. */
  readonly #groups = new Map<string, { readonly leaseId: string; readonly batchId: string }[]>()
  /** Of each key, how many of them came before its last audit that passed. */
  readonly #vouched = new Map<string, number>()
  /** Doubted and not named yet, by batch and key. */
  readonly #unnamed = new Map<string, DoubtedBatch>()

  get snapshot(): Pick<StateSnapshot, 'batchedOnTrust' | 'doubted'> {
    const batchedOnTrust = [...this.#groups].map(([node, groups]) => ({
      node,
      vouched: this.#vouched.get(node) ?? 0,
      groups: groups.map(({ leaseId, batchId }): [string, string] => [leaseId, batchId]),
    }))
    return { batchedOnTrust, doubted: this.unnamed }
  }

  static of({ batchedOnTrust, doubted }: Pick<StateSnapshot, 'batchedOnTrust' | 'doubted'>): BatchedOnTrust {
    const made = new BatchedOnTrust()
    for (const { node, vouched, groups } of batchedOnTrust) {
      const known = groups.map(([leaseId, batchId]) => ({ leaseId, batchId }))
      made.#set(node, known, vouched)
    }
    for (const one of doubted) made.#unnamed.set(`${one.batchId} ${one.node}`, one)
    return made
  }

  note(node: string, leaseId: string, batchId: string): void {
    const groups = this.#groups.get(node)
    if (groups) groups.push({ leaseId, batchId })
    else this.#groups.set(node, [{ leaseId, batchId }])
  }

  /** These batches will not be trained on, so that their groups are free again, or were so long ago that nobody asks. */
  forget(batchIds: ReadonlySet<string>): void {
    if (batchIds.size === 0) return
    const isKept = (group: { readonly batchId: string }): boolean => !batchIds.has(group.batchId)
    for (const [node, groups] of this.#groups) {
      const kept = groups.filter(isKept)
      const vouched = groups.slice(0, this.#vouched.get(node) ?? 0).filter(isKept).length
      this.#set(node, kept, vouched)
    }
  }

  /** An audit of the key has passed. */
  vouch(node: string): void {
    const groups = this.#groups.get(node)
    if (groups) this.#vouched.set(node, groups.length)
  }

  /** The key was caught: what has come since its last audit that passed is in doubt, or all of it when the key is kept from work. */
  doubt(node: string, all: boolean): void {
    const known = this.#groups.get(node) ?? []
    const vouched = all ? 0 : (this.#vouched.get(node) ?? 0)
    const groups = known.slice(vouched)
    this.#set(node, known.slice(0, vouched), vouched)
    for (const { leaseId, batchId } of groups) {
      const name = `${batchId} ${node}`
      const leaseIds = [...(this.#unnamed.get(name)?.leaseIds ?? []), leaseId]
      this.#unnamed.set(name, { batchId, node, leaseIds })
    }
  }

  named({ batchId, node }: Pick<DoubtedBatch, 'batchId' | 'node'>): void {
    this.#unnamed.delete(`${batchId} ${node}`)
  }

  #set(node: string, groups: { readonly leaseId: string; readonly batchId: string }[], vouched: number): void {
    if (groups.length > 0) this.#groups.set(node, groups)
    else this.#groups.delete(node)
    if (vouched > 0) this.#vouched.set(node, vouched)
    else this.#vouched.delete(node)
  }

  get unnamed(): DoubtedBatch[] {
    return [...this.#unnamed.values()]
  }
}
