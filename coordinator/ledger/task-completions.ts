import type { AcceptedSayings } from './run-state.js'

/** Accepted groups of one task that a later one is compared with: copies of older ones are left to audits. */
export const MOST_COMPARED = 16

/** What accepted groups said, by task: the newest of each, however old, for a body that somebody has kept can be sent again at any time. */
export class TaskCompletions {
  readonly #ofTask = new Map<number, AcceptedSayings[]>()

  /** By task. */
  get entries(): (readonly [taskIndex: number, group: AcceptedSayings])[] {
    return [...this.#ofTask].flatMap(([taskIndex, groups]) => groups.map((group) => [taskIndex, group] as const))
  }

  static of(entries: Iterable<readonly [taskIndex: number, group: AcceptedSayings]>): TaskCompletions {
    const made = new TaskCompletions()
    for (const [taskIndex, group] of entries) made.add(taskIndex, group)
    return made
  }

  /** What nobody has seen says nothing, and is left out. */
  add(taskIndex: number, { leaseId, completions, logprobs, sketches }: AcceptedSayings): void {
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

  /** The oldest first. */
  of(taskIndex: number): readonly AcceptedSayings[] {
    return this.#ofTask.get(taskIndex) ?? []
  }
}
