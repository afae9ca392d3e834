import { stopSignal } from '../common/cli/index.js'

/**
 * Runs long work and prints its result. SIGINT or SIGTERM stops the work with one line on stderr and exit status 130. The same command
 * then resumes the work.
 * @param stopped  the line
 */
export async function resumable(
  work: (signal: AbortSignal) => Promise<string>,
  stopped = 'stopped; run the same command again to resume',
): Promise<void> {
  const { signal, release } = stopSignal(new Error('interrupted'))
  try {
    process.stdout.write(`${await work(signal)}\n`)
  } catch (error) {
    if (!signal.aborted) throw error
    process.stderr.write(`${stopped}\n`)
    process.exitCode = 130
  } finally {
    release()
  }
}
