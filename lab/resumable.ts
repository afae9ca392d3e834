/**
 * Prints what long work comes to. Ctrl-C ends it with a line instead of an error, and status 130: the same command goes on from there.
 */
export async function resumable(work: (signal: AbortSignal) => Promise<string>): Promise<void> {
  const interrupted = new AbortController()
  const stop = (): void => interrupted.abort(new Error('interrupted'))
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, stop)
  try {
    process.stdout.write(`${await work(interrupted.signal)}\n`)
  } catch (error) {
    if (!interrupted.signal.aborted) throw error
    process.stderr.write('stopped; the same command goes on from here\n')
    process.exitCode = 130
  } finally {
    for (const name of ['SIGINT', 'SIGTERM'] as const) process.removeListener(name, stop)
  }
}
