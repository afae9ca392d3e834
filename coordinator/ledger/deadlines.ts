interface Deadline {
  readonly leaseId: string
  readonly deadlineMs: number
}

/** Of equal ones the name decides, so that the order does not depend on how they came. */
const before = (one: Deadline, other: Deadline): boolean =>
  one.deadlineMs < other.deadlineMs || (one.deadlineMs === other.deadlineMs && one.leaseId < other.leaseId)

/**
 * Deadlines of leases, the earliest first: a binary heap. One that was moved or came to nothing stays in it until it comes to
 * the top, so whoever asks says which still hold.
 */
export class Deadlines {
  #heap: Deadline[] = []

  /** How many there are, those included that hold no longer. */
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

  /** Takes away all that no longer hold, wherever they are. */
  prune(holds: (deadline: Deadline) => boolean): void {
    const kept = this.#heap.filter(holds)
    this.#heap = []
    for (const deadline of kept) this.add(deadline)
  }

  /** Takes away what no longer holds, as far as it is at the top. @returns  the earliest deadline that does */
  first(holds: (deadline: Deadline) => boolean): Deadline | undefined {
    while (this.#heap.length > 0 && !holds(this.#heap[0]!)) this.#removeFirst()
    return this.#heap[0]
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
