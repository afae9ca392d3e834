interface Deadline {
  readonly leaseId: string
  readonly deadlineMs: number
}

/** Among equal deadlines the lease id decides, so that the order does not depend on the order of insertion. */
const before = (one: Deadline, other: Deadline): boolean =>
  one.deadlineMs < other.deadlineMs || (one.deadlineMs === other.deadlineMs && one.leaseId < other.leaseId)

/**
 * Binary heap of lease deadlines, the earliest first. A deadline that was moved or became invalid stays in the heap until it reaches
 * the top, so callers pass a test for validity.
 */
export class Deadlines {
  #heap: Deadline[] = []

  /** Number of deadlines, including invalid ones. */
  get size(): number {
    return this.#heap.length
  }

  add({ leaseId, deadlineMs }: Deadline): void {
    const deadline = { leaseId, deadlineMs }
    const heap = this.#heap
    let at = heap.push(deadline) - 1
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (!before(deadline, heap[parent]!)) break
      heap[at] = heap[parent]!
      at = parent
    }
    heap[at] = deadline
  }

  /** Removes all invalid deadlines. */
  prune(holds: (deadline: Deadline) => boolean): void {
    const kept = this.#heap.filter(holds)
    this.#heap = []
    for (const deadline of kept) this.add(deadline)
  }

  /** Removes invalid deadlines from the top. @returns  the valid deadlines before a time, the earliest first */
  before(timeMs: number, holds: (deadline: Deadline) => boolean): Deadline[] {
    const heap = this.#heap
    while (heap.length > 0 && !holds(heap[0]!)) this.#removeFirst()
    // A lease that was moved back to an earlier deadline has this deadline twice.
    const found = new Map<string, Deadline>()
    const visit = (at: number): void => {
      const deadline = heap[at]
      // No deadline below one in the heap is earlier.
      if (!deadline || deadline.deadlineMs >= timeMs) return
      if (holds(deadline)) found.set(deadline.leaseId, deadline)
      visit(2 * at + 1)
      visit(2 * at + 2)
    }
    visit(0)
    return [...found.values()].sort((one, other) => (before(one, other) ? -1 : 1))
  }

  #removeFirst(): void {
    const heap = this.#heap
    const moved = heap.pop()!
    if (heap.length === 0) return
    let at = 0
    for (;;) {
      const left = 2 * at + 1
      if (left >= heap.length) break
      const right = left + 1
      const child = right < heap.length && before(heap[right]!, heap[left]!) ? right : left
      if (!before(heap[child]!, moved)) break
      heap[at] = heap[child]!
      at = child
    }
    heap[at] = moved
  }
}
