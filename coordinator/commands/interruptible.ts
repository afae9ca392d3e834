import { BackupError } from '../backup/backup-error.js'

const SIGNALS = ['SIGINT', 'SIGTERM'] as const

/** Does work that Ctrl-C ends, so that it can clear away what it has begun. @throws BackupError `interrupted` */
export async function interruptible<T>(what: string, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const interrupted = new AbortController()
  const stop = (): void => interrupted.abort(new BackupError('interrupted', `${what} was interrupted`))
  for (const name of SIGNALS) process.once(name, stop)
  try {
    return await work(interrupted.signal)
  } catch (why) {
    // A stream that was cut short has an error of its own.
    throw interrupted.signal.aborted ? interrupted.signal.reason : why
  } finally {
    for (const name of SIGNALS) process.off(name, stop)
  }
}
