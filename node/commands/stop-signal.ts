import { NodeError } from '../report/errors.js'

/** Aborts when the user or the system wants the program to end. */
export function stopSignal(): AbortSignal {
  const stop = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM'] as const)
    process.once(name, () => stop.abort(new NodeError('stopped', 'ended by its user')))
  return stop.signal
}
