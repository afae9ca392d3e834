/** Lets holders in, in the order of asking: those that share it together, any other one alone. */
export interface FairLock {
  /** Waits for its turn; the returned function lets the next ones in and may be called twice. Rejects with the signal's reason. */
  enter(signal: AbortSignal, mode?: 'alone' | 'shared'): Promise<() => void>
}

export function createFairLock(): FairLock {
  /** When the last one that wants to be alone, and those before it, are through. */
  let alone: Promise<unknown> = Promise.resolve()
  /** Those that have come since. */
  let shared = new Set<Promise<void>>()
  return {
    enter: async (signal, mode = 'alone') => {
      let leave = () => {}
      const left = new Promise<void>((resolve) => {
        leave = resolve
      })
      const before = mode === 'shared' ? alone : Promise.all([alone, ...shared])
      if (mode === 'shared') {
        const others = shared
        others.add(left)
        void left.then(() => others.delete(left))
      } else {
        alone = left
        shared = new Set()
      }
      try {
        await abortable(before, signal)
      } catch (reason) {
        void before.then(leave) // its place in the queue stays until those before it are through
        throw reason
      }
      return leave
    },
  }
}

/** The promise, or a rejection with the signal's reason as soon as it aborts; `onAbort` then stops what is under way. */
export async function abortable<T>(promise: Promise<T>, signal: AbortSignal, onAbort = () => {}): Promise<T> {
  let abort = () => {}
  const aborted = new Promise<never>((_, reject) => {
    abort = () => {
      reject(signal.reason) // first: `onAbort` may make the promise itself reject
      onAbort()
    }
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort, { once: true })
  })
  try {
    return await Promise.race([promise, aborted])
  } finally {
    signal.removeEventListener('abort', abort)
    promise.catch(() => {}) // after an abort nobody listens to it any more
  }
}
