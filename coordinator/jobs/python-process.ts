import { execa } from 'execa'
import { TrainerError } from './errors.js'
import { type Ending, type Supervised, supervise } from './supervisor.js'

export interface PythonProcessOptions {
  readonly python: string
  /** Folder of the `prove_trainer` package. */
  readonly packageFolder: string
  /** Arguments of the interpreter. `--parent-pid`, by which the process notices the end of its parent, is added. */
  readonly args: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly restartPauseMs: number
  /** Time from asking the process to end until it is killed. */
  readonly closeTimeoutMs: number
  /** Called before each start. */
  readonly onStart?: () => void
  /** @param value  a line of stdout as JSON; undefined: not JSON */
  readonly onLine: (value: unknown, line: string) => void
  readonly onStderr?: (text: string) => void
  /** Called when the process ended without being asked. It is restarted when this resolves. @throws TrainerError to give it up */
  readonly onEnd: (ending: Ending) => Promise<void> | void
  /** Called when there will be no further start: the process was given up or, with the code `closed`, closed. */
  readonly onOver?: (failure: TrainerError) => void
}

/** Returns the environment variables of the interpreter. */
export const pythonEnvironment = (packageFolder: string): Readonly<Record<string, string>> => ({
  PYTHONPATH: packageFolder,
  OMP_NUM_THREADS: '1',
})

/** Supervises a Python process: restarts it after a pause whenever it ends, until it is closed or given up. */
export function createPythonProcess(options: PythonProcessOptions): Supervised {
  const { python, packageFolder, args, env, restartPauseMs, closeTimeoutMs } = options
  const { onStart, onLine, onStderr, onEnd, onOver } = options

  const live = async (closing: AbortSignal): Promise<Ending> => {
    const startedAt = performance.now()
    const fault = new AbortController()
    const tail = createTail()
    onStart?.()
    const child = execa(python, [...args, '--parent-pid', String(process.pid)], {
      env: { ...pythonEnvironment(packageFolder), ...env },
      stdin: 'ignore',
      // It runs for weeks, so its output must not be collected.
      buffer: false,
      reject: false,
      // It watches its parent itself, also when the parent is killed.
      cleanup: false,
      cancelSignal: AbortSignal.any([closing, fault.signal]),
      forceKillAfterDelay: closeTimeoutMs,
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      tail.add(text)
      onStderr?.(text)
    })
    // A process that could not be started has no output.
    for await (const line of child.pid === undefined ? [] : child.iterable()) {
      try {
        onLine(parseJson(line), line)
      } catch (error) {
        // Leaving the loop waits for the process, whose output is not read any more.
        fault.abort()
        throw error
      }
    }
    const { exitCode, code, originalMessage } = await child
    // Only errors of the operating system have a code.
    if (code !== undefined && !closing.aborted)
      throw new TrainerError('trainer_unusable', `${python}: ${originalMessage}`)
    return { code: exitCode ?? null, lastWords: tail.lastLine(), lastedMs: performance.now() - startedAt }
  }

  return supervise({ live, pauseMs: () => restartPauseMs, onEnd, ...(onOver ? { onOver } : {}) })
}

const STDERR_TAIL_CHARS = 4000

/** Keeps the end of a text that is written piece by piece. */
export function createTail() {
  let tail = ''
  return {
    add(text: string): void {
      tail = (tail + text).slice(-STDERR_TAIL_CHARS)
    },
    lastLine: (): string => tail.trim().split('\n').at(-1) ?? '',
  }
}

/** Parses a line as JSON; undefined: not JSON. */
export function parseJson(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
