import type { StateSnapshot } from './state-snapshot.js'

/** Most versions for which a task is skipped. */
const LONGEST_SKIP = 8

/**
 * Decides which tasks to skip because they give no gradient at the moment. In a zero-variance group all rollouts fail, or all
 * succeed. Its task is skipped for one version at first, and for twice as long after each further zero-variance group in a row. The
 * task is no longer skipped once a group of it has variance again.
 */
export class Curriculum {
  readonly #skipped = new Map<number, { readonly zeroVarianceGroups: number; readonly until: number }>()

  /** Notes an accepted group of `taskIndex` under `version`. */
  note(taskIndex: number, version: number, zeroVariance: boolean): void {
    if (!zeroVariance) {
      this.#skipped.delete(taskIndex)
      return
    }
    const zeroVarianceGroups = (this.#skipped.get(taskIndex)?.zeroVarianceGroups ?? 0) + 1
    const until = version + Math.min(LONGEST_SKIP, 2 ** (zeroVarianceGroups - 1))
    this.#skipped.set(taskIndex, { zeroVarianceGroups, until })
  }

  /** Forgets the groups of `taskIndex`, after one of them proved false, so that the task is given again. */
  forget(taskIndex: number): void {
    this.#skipped.delete(taskIndex)
  }

  get entries(): StateSnapshot['curriculum'] {
    return [...this.#skipped].map(([taskIndex, { zeroVarianceGroups, until }]) => [
      taskIndex,
      zeroVarianceGroups,
      until,
    ])
  }

  static of(entries: StateSnapshot['curriculum']): Curriculum {
    const curriculum = new Curriculum()
    for (const [taskIndex, zeroVarianceGroups, until] of entries)
      curriculum.#skipped.set(taskIndex, { zeroVarianceGroups, until })
    return curriculum
  }

  /** Whether a round of `version` skips the task. */
  skips(taskIndex: number, version: number): boolean {
    return version <= (this.#skipped.get(taskIndex)?.until ?? -1)
  }
}
