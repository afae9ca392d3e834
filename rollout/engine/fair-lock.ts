/** A lock that is granted in the order of requests: to one exclusive holder, or to several sharing holders at a time. */
export interface FairLock {
  /** Waits for the lock. @returns  a function that releases it and may be called twice. Rejects with the signal's reason. */
  enter(signal: AbortSignal, mode?: 'alone' | 'shared'): Promise<() => void>
}

export function createFairLock(): FairLock {
  /** Settles when the last exclusive holder, and all before it, have released the lock. */
  let alone: Promise<unknown> = Promise.resolve()
  /** The sharing holders since then. */
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
        void before.then(leave) // it keeps its place in the queue until those before it have released the lock
        throw reason
      }
      return leave
    },
  }
}

/** Awaits a promise, but rejects with the signal's reason as soon as it aborts. `onAbort` then stops the work. */
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
    promise.catch(() => {}) // after an abort its rejection has no other handler
  }
}
