import { InterruptedError } from '../errors/index.js'

const SIGNALS = ['SIGINT', 'SIGTERM'] as const

/** A listener for the signals by which a user or the system ends a program. */
export interface StopSignal {
  /** Aborts with `reason` at the first SIGINT or SIGTERM. */
  readonly signal: AbortSignal
  /** Stops listening: from then on a signal ends the process at once, as Node.js does by default. */
  release(): void
}

/**
 * Listens for the first SIGINT or SIGTERM. A second signal ends the process at once.
 * @param reason  the abort reason of the signal, with which an interrupted command fails
 */
export function stopSignal(reason: Error = new InterruptedError()): StopSignal {
  const stop = new AbortController()
  const release = (): void => {
    for (const name of SIGNALS) process.off(name, onSignal)
  }
  const onSignal = (): void => {
    release()
    stop.abort(reason)
  }
  for (const name of SIGNALS) process.once(name, onSignal)
  return { signal: stop.signal, release }
}
