import type { Clock } from '../../swarm/index.js'

/** Time that stands still while anything can run, and then jumps to whatever is due next. */
export interface VirtualTime {
  /** Milliseconds since 1970. */
  readonly nowMs: number
  /** Calls back once, `ms` from now; what is due at the same instant keeps the order in which it was asked for. @returns  cancels */
  after(ms: number, action: () => void): () => void
  /**
   * Runs everything that is due, in order, until `done`.
   * @throws Error when that would take longer than `limitMs`, or when nothing is left that could ever happen
   */
  drive(done: () => boolean, limitMs: number): Promise<void>
}

interface Due {
  readonly atMs: number
  readonly order: number
  action: (() => void) | null
}

const START_MS = Date.UTC(2030, 0, 1)

/** @param quiet  resolves when nothing can run before time moves on */
export function createVirtualTime(quiet: () => Promise<void>): VirtualTime {
  const heap: Due[] = []
  let nowMs = START_MS
  let order = 0
  const before = (a: Due, b: Due): boolean => a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order)

  const push = (due: Due): void => {
    let at = heap.push(due) - 1
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (!before(due, heap[parent]!)) break
      heap[at] = heap[parent]!
      at = parent
    }
    heap[at] = due
  }

  const pop = (): Due | undefined => {
    const first = heap[0]
    const last = heap.pop()
    if (!first || !last || first === last) return first
    let at = 0
    for (;;) {
      let child = 2 * at + 1
      if (child >= heap.length) break
      if (child + 1 < heap.length && before(heap[child + 1]!, heap[child]!)) child += 1
      if (!before(heap[child]!, last)) break
      heap[at] = heap[child]!
      at = child
    }
    heap[at] = last
    return first
  }

  return {
    get nowMs() {
      return nowMs
    },
    after(ms, action) {
      const due: Due = { atMs: nowMs + Math.max(0, Math.ceil(ms)), order: order++, action }
      push(due)
      return () => {
        due.action = null
      }
    },
    async drive(done, limitMs) {
      const endMs = nowMs + limitMs
      for (;;) {
        await quiet()
        if (done()) return
        let next = pop()
        while (next && next.action === null) next = pop()
        if (!next) throw new Error('nothing is left that could happen')
        if (next.atMs > endMs) throw new Error(`not done after ${limitMs} ms of virtual time`)
        nowMs = next.atMs
        next.action!()
      }
    },
  }
}

/**
 * A clock on virtual time. What it shows may be off, and may jump; how long it waits is not affected, as on a real machine.
 * @param alive  once false, whoever waits waits for ever: the process is gone
 */
export function createVirtualClock(time: VirtualTime, offsetMs: () => number, alive: () => boolean): Clock {
  return {
    now: () => time.nowMs + offsetMs(),
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
        const cancel = time.after(ms, () => {
          signal?.removeEventListener('abort', onAbort)
          if (alive()) resolve()
        })
        signal?.addEventListener('abort', onAbort, { once: true })
      })
    },
    timeout(ms) {
      const controller = new AbortController()
      time.after(ms, () => {
        if (alive()) controller.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError'))
      })
      return controller.signal
    },
  }
}
