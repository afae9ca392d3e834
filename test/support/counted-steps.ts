const ITERATORS: readonly { next(): unknown }[] = [
  Object.getPrototypeOf(new Map().values()),
  Object.getPrototypeOf(new Set().values()),
]

/** How many members of maps and sets are walked through while something is done, by anybody in this process. */
export async function stepsOf(work: () => unknown): Promise<number> {
  let steps = 0
  const untouched = ITERATORS.map(({ next }) => next)
  for (const [i, iterator] of ITERATORS.entries()) {
    iterator.next = function next() {
      steps += 1
      return untouched[i]!.call(this)
    }
  }
  try {
    await work()
  } finally {
    for (const [i, iterator] of ITERATORS.entries()) iterator.next = untouched[i]!
  }
  return steps
}
