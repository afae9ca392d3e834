import { open, stat } from 'node:fs/promises'
import { setInterval as ticks } from 'node:timers/promises'
import { execa } from 'execa'
import { BfclError } from './errors.js'

export interface WatchedProcess {
  readonly command: string
  readonly args: readonly string[]
  readonly cwd: string
  /** Added to the variables of this process. */
  readonly env: Readonly<Record<string, string>>
  /** File to which its output is appended. */
  readonly log: string
  /** Files that grow with its results. */
  readonly results: readonly string[]
  /** Longest time without a change of `results`. */
  readonly stallMs: number
  /** Called when `results` have changed. */
  readonly onChange: () => void
}

export interface Ended {
  readonly exitCode: number | undefined
  /** Status and last line of the output, for a message. */
  readonly said: string
}

/** Time between two looks at the results. */
const LOOK_MS = 1000
/** Time between SIGTERM and SIGKILL. */
const GRACE_MS = 5000
const TAIL_BYTES = 4000

/**
 * Runs a process that writes results into files, and ends it when they do not change any more.
 * @throws BfclError `bfcl_failed` after `stallMs` without a change; the signal's reason
 */
export async function runWatched(options: WatchedProcess, signal: AbortSignal): Promise<Ended> {
  const { command, args, cwd, env, log, stallMs } = options
  const stalled = new AbortController()
  const over = new AbortController()
  const output = { file: log, append: true }
  const child = execa(command, args, {
    ...{ cwd, env, stdin: 'pipe', stdout: output, stderr: output, buffer: false, reject: false },
    // It watches its standard input. execa's clean-up would end this process at a signal, before its last words.
    ...{ cancelSignal: AbortSignal.any([signal, stalled.signal]), forceKillAfterDelay: GRACE_MS, cleanup: false },
  })
  const looking = look(options, stalled, over.signal)
  try {
    const { exitCode, signal: killed, originalMessage } = await child
    signal.throwIfAborted()
    if (stalled.signal.aborted)
      throw new BfclError(
        'bfcl_failed',
        `no case was finished in ${Math.round(stallMs / 60_000)} minutes, see ${log}. The answers are kept: run the same command again, with a larger --case-minutes`,
      )
    const status = killed ?? (exitCode === undefined ? originalMessage : `status ${exitCode}`)
    return { exitCode, said: `${status}: ${await lastLine(log)} (see ${log})` }
  } finally {
    over.abort()
    await looking
  }
}

/** Looks at the results until `over`, and aborts `stalled` when they have not changed for too long. */
async function look(
  { results, stallMs, onChange }: WatchedProcess,
  stalled: AbortController,
  over: AbortSignal,
): Promise<void> {
  let before = await sizesOf(results)
  let since = performance.now()
  try {
    for await (const _ of ticks(LOOK_MS, undefined, { signal: over })) {
      const now = await sizesOf(results)
      if (now !== before) {
        before = now
        since = performance.now()
        onChange()
      } else if (performance.now() - since > stallMs) return stalled.abort()
    }
  } catch (error) {
    if (!over.aborted) throw error
  }
}

const sizesOf = async (paths: readonly string[]): Promise<string> =>
  (
    await Promise.all(
      paths.map((path) =>
        stat(path).then(
          ({ size }) => size,
          () => 0,
        ),
      ),
    )
  ).join()

async function lastLine(path: string): Promise<string> {
  const file = await open(path)
  try {
    const { size } = await file.stat()
    const { buffer, bytesRead } = await file.read(
      Buffer.alloc(TAIL_BYTES),
      0,
      TAIL_BYTES,
      Math.max(0, size - TAIL_BYTES),
    )
    return buffer.toString('utf8', 0, bytesRead).trimEnd().split('\n').at(-1)!.trim().slice(-300)
  } finally {
    await file.close()
  }
}
