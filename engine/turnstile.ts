/** Lets one holder in at a time, in the order of asking. */
export interface Turnstile {
  /** Waits for its turn; the returned function lets the next one in and may be called twice. Rejects with the signal's reason. */
  enter(signal: AbortSignal): Promise<() => void>
}

export function createTurnstile(): Turnstile {
  let tail: Promise<void> = Promise.resolve()
  return {
    enter: async (signal) => {
      const before = tail
      let leave = () => {}
      tail = new Promise((resolve) => {
        leave = resolve
      })
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
