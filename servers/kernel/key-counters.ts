/** How many keys of each prefix a session has made, with those of the running transaction, which may be taken back. */
export class KeyCounters {
  readonly #used: Map<string, number>
  /** Prefixes of the keys made since the last commit. */
  #pending: string[] = []

  constructor(from?: KeyCounters) {
    this.#used = new Map(from ? from.#used : [])
  }

  /** Counts one more. @returns how many there were before */
  next(prefix: string): number {
    const used = this.#used.get(prefix) ?? 0
    this.#used.set(prefix, used + 1)
    this.#pending.push(prefix)
    return used
  }

  commit(): void {
    if (this.#pending.length > 0) this.#pending = []
  }

  rollback(): void {
    for (const prefix of this.#pending) this.#used.set(prefix, this.#used.get(prefix)! - 1)
    this.#pending = []
  }
}
