import type { Clock } from '../../swarm/index.js'

/** Time that stands still while anything can run, and then jumps to whatever is due next. */
export interface VirtualTime {
  /** Milliseconds since 1970. */
  readonly nowMs: number
  /**
   * Calls back once, `ms` from now; what is due at the same instant keeps the order in which it was asked for.
   * @param owner  the machine on which it happens
   * @returns  cancels
   */
  after(ms: number, action: () => void, owner?: string): () => void
  /**
   * Runs everything that is due, in order, until `done`.
   * @throws Error when that would take longer than `limitMs`, or when nothing is left that could ever happen
   */
  drive(done: () => boolean, limitMs: number): Promise<void>
}

interface Due {
  readonly atMs: number
  readonly order: number
  readonly owner: string
  action: (() => void) | null
}

/** Called before something happens on a machine; what it returns is called when nothing can run any more. */
export type TurnMeter = (owner: string) => () => void

const START_MS = Date.UTC(2030, 0, 1)

const UNMETERED: TurnMeter = () => () => undefined

/** The same for all: most time limits are over when nobody waits any more, and each would pay for a trace of its own. */
const TIMED_OUT = new DOMException('The operation was aborted due to timeout', 'TimeoutError')

/** @param quiet  resolves when nothing can run before time moves on */
export function createVirtualTime(quiet: () => Promise<void>, meter: TurnMeter = UNMETERED): VirtualTime {
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
    after(ms, action, owner = '') {
      const due: Due = { atMs: nowMs + Math.max(0, Math.ceil(ms)), order: order++, owner, action }
      push(due)
      return () => {
        due.action = null
      }
    },
    async drive(done, limitMs) {
      const endMs = nowMs + limitMs
      await quiet()
      while (!done()) {
        let next = pop()
        while (next && next.action === null) next = pop()
        if (!next) throw new Error('nothing is left that could happen')
        if (next.atMs > endMs) throw new Error(`not done after ${limitMs} ms of virtual time`)
        nowMs = next.atMs
        const over = meter(next.owner)
        next.action!()
        await quiet()
        over()
      }
    },
  }
}

/**
 * A clock on virtual time. What it shows may be off, and may jump; how long it waits is not affected, as on a real machine.
 * @param alive  once false, whoever waits waits for ever: the process is gone
 * @param owner  the machine that it is on
 */
export function createVirtualClock(
  time: VirtualTime,
  offsetMs: () => number,
  alive: () => boolean,
  owner?: string,
): Clock {
  return {
    now: () => time.nowMs + offsetMs(),
    elapsedMs: () => time.nowMs,
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
        const wake = (): void => {
          signal?.removeEventListener('abort', onAbort)
          if (alive()) resolve()
        }
        const cancel = time.after(ms, wake, owner)
        signal?.addEventListener('abort', onAbort, { once: true })
      })
    },
    timeout(ms) {
      const controller = new AbortController()
      const end = (): void => {
        if (alive()) controller.abort(TIMED_OUT)
      }
      time.after(ms, end, owner)
      return controller.signal
    },
    after: (ms, action) =>
      time.after(
        ms,
        () => {
          if (alive()) action()
        },
        owner,
      ),
  }
}
