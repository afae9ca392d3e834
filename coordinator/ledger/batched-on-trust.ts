/** Groups that a batch holds and that no audit has looked at, all of one key. */
export interface DoubtedBatch {
  readonly batchId: string
  readonly node: string
  readonly leaseIds: readonly string[]
}

/**
 * What was trained on without an audit, by key: when a key is caught, its groups in batches can be named, and only named, for a
 * gradient is not taken back.
 */
export class BatchedOnTrust {
  /** Of each key, in the order of their batches. */
  readonly #groups = new Map<string, { readonly leaseId: string; readonly batchId: string }[]>()
  /** Of each key, how many of them came before its last audit that passed. */
  readonly #vouched = new Map<string, number>()
  /** Doubted and not named yet, by batch and key. */
  readonly #unnamed = new Map<string, DoubtedBatch>()

  note(node: string, leaseId: string, batchId: string): void {
    const groups = this.#groups.get(node)
    if (groups) groups.push({ leaseId, batchId })
    else this.#groups.set(node, [{ leaseId, batchId }])
  }

  /** The batch will not be trained on: its groups are free again. */
  dissolve(batchId: string): void {
    for (const [node, groups] of this.#groups) {
      const kept = groups.filter((group) => group.batchId !== batchId)
      this.#groups.set(node, kept)
      this.#vouched.set(node, Math.min(kept.length, this.#vouched.get(node) ?? 0))
    }
  }

  /** An audit of the key has passed. */
  vouch(node: string): void {
    this.#vouched.set(node, this.#groups.get(node)?.length ?? 0)
  }

  /** The key was caught: what has come since its last audit that passed is in doubt, or all of it when the key is kept from work. */
  doubt(node: string, all: boolean): void {
    const groups = this.#groups.get(node)?.splice(all ? 0 : (this.#vouched.get(node) ?? 0)) ?? []
    if (all) this.#vouched.delete(node)
    for (const { leaseId, batchId } of groups) {
      const name = `${batchId} ${node}`
      const leaseIds = [...(this.#unnamed.get(name)?.leaseIds ?? []), leaseId]
      this.#unnamed.set(name, { batchId, node, leaseIds })
    }
  }

  named({ batchId, node }: Pick<DoubtedBatch, 'batchId' | 'node'>): void {
    this.#unnamed.delete(`${batchId} ${node}`)
  }

  get unnamed(): DoubtedBatch[] {
    return [...this.#unnamed.values()]
  }
}
