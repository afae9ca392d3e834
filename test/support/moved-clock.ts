import type { Clock } from '../../swarm/index.js'

/** A clock that only the test moves. */
export interface MovedClock extends Clock {
  /** Current pauses in milliseconds from now, in the order in which they end. */
  readonly pauses: readonly number[]
  /** Moves the clock forward. Pauses that are due end in order. */
  advance(ms: number): void
}

interface Due {
  readonly atMs: number
  /** Not a time limit. */
  readonly isPause: boolean
  end(): void
}

export function createMovedClock(startMs = 1_700_000_000_000): MovedClock {
  let nowMs = startMs
  const due = new Set<Due>()
  const inOrder = (): Due[] => [...due].sort((a, b) => a.atMs - b.atMs)
  const after = (ms: number, isPause: boolean, end: () => void): (() => void) => {
    const one: Due = { atMs: nowMs + ms, isPause, end }
    due.add(one)
    return () => due.delete(one)
  }
  return {
    now: () => nowMs,
    elapsedMs: () => nowMs - startMs,
    sleep(ms, signal) {
      return new Promise((resolve, reject) => {
        if (signal?.aborted) {
          reject(signal.reason)
          return
        }
        const onAbort = (): void => {
          cancel()
          reject(signal!.reason)
        }
        const cancel = after(ms, true, () => {
          signal?.removeEventListener('abort', onAbort)
          resolve()
        })
        signal?.addEventListener('abort', onAbort, { once: true })
      })
    },
    timeout(ms) {
      const controller = new AbortController()
      after(ms, false, () =>
        controller.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError')),
      )
      return controller.signal
    },
    after: (ms, action) => after(ms, false, action),
    get pauses() {
      return inOrder().flatMap(({ atMs, isPause }) => (isPause ? [atMs - nowMs] : []))
    },
    advance(ms) {
      nowMs += ms
      for (const one of inOrder()) {
        if (one.atMs > nowMs) break
        due.delete(one)
        one.end()
      }
    },
  }
}
