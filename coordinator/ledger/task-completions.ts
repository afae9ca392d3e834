import type { AcceptedCompletions } from './run-state.js'

/** Accepted groups of one task that a later one is compared with: copies of older ones are left to audits. */
export const MOST_COMPARED = 16

/** Hex digits of a completion's name. */
const NAME_CHARS = 16

/** What accepted groups said, by task: the newest of each, in one string per group, because there is one for each that was trained on. */
export class TaskCompletions {
  readonly #ofTask = new Map<number, { readonly leaseId: string; readonly names: string }[]>()

  add(taskIndex: number, leaseId: string, completions: readonly string[]): void {
    if (completions.length === 0) return
    const group = { leaseId, names: completions.join('') }
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
  of(taskIndex: number): AcceptedCompletions[] {
    return (this.#ofTask.get(taskIndex) ?? []).map(({ leaseId, names }) => ({
      leaseId,
      completions: Array.from({ length: names.length / NAME_CHARS }, (_, i) =>
        names.slice(i * NAME_CHARS, (i + 1) * NAME_CHARS),
      ),
    }))
  }
}
