import type { ComparedGroup } from './run-state.js'

/** Accepted groups of one task that a later group is compared with. Copies of older groups are left to audits. */
export const MOST_COMPARED = 16

/** The newest accepted groups of each task, however old, because a stored body can be sent again at any time. */
export class TaskCompletions {
  readonly #ofTask = new Map<number, ComparedGroup[]>()

  /** All groups with their tasks. */
  get entries(): (readonly [taskIndex: number, group: ComparedGroup])[] {
    return [...this.#ofTask].flatMap(([taskIndex, groups]) => groups.map((group) => [taskIndex, group] as const))
  }

  static of(entries: Iterable<readonly [taskIndex: number, group: ComparedGroup]>): TaskCompletions {
    const made = new TaskCompletions()
    for (const [taskIndex, group] of entries) made.add(taskIndex, group)
    return made
  }

  /** Adds a group. Omits groups that were not replayed. */
  add(taskIndex: number, { leaseId, completions, logprobs, sketches }: ComparedGroup): void {
    if (completions.length === 0) return
    const group = { leaseId, completions, logprobs, sketches }
    const groups = this.#ofTask.get(taskIndex)
    if (!groups) this.#ofTask.set(taskIndex, [group])
    else if (groups.push(group) > MOST_COMPARED) groups.shift()
  }

  delete(taskIndex: number, leaseId: string): void {
    const groups = this.#ofTask.get(taskIndex) ?? []
    const place = groups.findIndex((group) => group.leaseId === leaseId)
    if (place >= 0) groups.splice(place, 1)
  }

  /** Returns the groups of a task, the oldest first. */
  of(taskIndex: number): readonly ComparedGroup[] {
    return this.#ofTask.get(taskIndex) ?? []
  }
}
