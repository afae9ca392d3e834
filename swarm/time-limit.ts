import { setMaxListeners } from 'node:events'
import type { Clock } from './clock.js'

/** A signal with a time limit. */
export interface TimeLimit {
  /** Fires with the outer signal, or with a `TimeoutError` when the time is over. */
  readonly signal: AbortSignal
  /** Ends the limit: the signal does not fire any more. Has to be called, or the outer signal keeps a listener. */
  end(): void
}

/** The same for all: a new one for each limit would cost a stack trace. */
const TIMED_OUT = new DOMException('The operation was aborted due to timeout', 'TimeoutError')

/**
 * Starts a time limit of one operation. For the thousands of operations of a server, it costs a third of `AbortSignal.any` with
 * `clock.timeout`, whose signals and timers live on after the operation.
 */
export function startTimeLimit(clock: Pick<Clock, 'after'>, ms: number, outer: AbortSignal): TimeLimit {
  // The signal of a server or a node limits many operations at once. Each removes its listener at its end.
  setMaxListeners(0, outer)
  const controller = new AbortController()
  const onAbort = (): void => controller.abort(outer.reason)
  if (outer.aborted) onAbort()
  else outer.addEventListener('abort', onAbort, { once: true })
  const stopTimer = clock.after(ms, () => controller.abort(TIMED_OUT))
  return {
    signal: controller.signal,
    end() {
      stopTimer()
      outer.removeEventListener('abort', onAbort)
    },
  }
}
