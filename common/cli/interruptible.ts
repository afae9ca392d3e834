import { InterruptedError } from '../errors/index.js'
import { stopSignal } from './stop-signal.js'

/**
 * Runs work that Ctrl-C or SIGTERM interrupts, so that the work can remove what it has begun.
 * @param kept  what an interruption leaves, or how to continue, for the message
 * @throws InterruptedError after a signal, in place of the error of the work
 */
export async function interruptible<T>(kept: string, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const stop = stopSignal(new InterruptedError(kept))
  try {
    return await work(stop.signal)
  } catch (why) {
    // A stream that was cut short throws its own error.
    throw stop.signal.aborted ? stop.signal.reason : why
  } finally {
    stop.release()
  }
}
