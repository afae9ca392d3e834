import { stopSignal } from '../../common/cli/index.js'
import { BackupError } from '../backup/backup-error.js'

/** Runs work that Ctrl-C ends, so that the work can remove what it has begun. @throws BackupError `interrupted` */
export async function interruptible<T>(what: string, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const stop = stopSignal(new BackupError('interrupted', `${what} was interrupted`))
  try {
    return await work(stop.signal)
  } catch (why) {
    // A stream that was cut short throws its own error.
    throw stop.signal.aborted ? stop.signal.reason : why
  } finally {
    stop.release()
  }
}
