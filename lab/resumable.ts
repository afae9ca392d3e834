import { interruptible } from '../common/cli/index.js'

/**
 * Runs long work and prints its result.
 * @param kept  what an interruption leaves
 * @throws InterruptedError after SIGINT or SIGTERM
 */
export async function resumable(
  work: (signal: AbortSignal) => Promise<string>,
  kept = 'run the same command again to resume',
): Promise<void> {
  process.stdout.write(`${await interruptible(kept, work)}\n`)
}
