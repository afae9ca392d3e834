const ITERATORS: readonly { next(): unknown }[] = [
  Object.getPrototypeOf(new Map().values()),
  Object.getPrototypeOf(new Set().values()),
]

/** Counts the members of maps and sets that this process iterates over while a function runs. */
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
