import { execa } from 'execa'
import { TrainerError } from './errors.js'
import { type Ending, type Supervised, supervise } from './supervisor.js'

export interface PythonProcessOptions {
  readonly python: string
  /** Folder of the `prove_trainer` package. */
  readonly packageFolder: string
  /** For the interpreter. `--parent-pid`, by which the process notices that we are gone, is added. */
  readonly args: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly restartPauseMs: number
  /** From asking it to end to killing it. */
  readonly closeTimeoutMs: number
  /** Another life begins. */
  readonly onStart?: () => void
  /** @param value  a line of stdout as JSON; undefined when it is none */
  readonly onLine: (value: unknown, line: string) => void
  readonly onStderr?: (text: string) => void
  /** It ended, and nobody had asked it to. It is started again when this resolves. @throws TrainerError to give it up */
  readonly onEnd: (ending: Ending) => Promise<void> | void
  /** There will be no further life: it was given up or, with the code `closed`, closed. */
  readonly onOver?: (failure: TrainerError) => void
}

/** What the interpreter is told wherever it runs. */
export const pythonEnvironment = (packageFolder: string): Readonly<Record<string, string>> => ({
  PYTHONPATH: packageFolder,
  OMP_NUM_THREADS: '1',
})

/** Supervises a Python child: started again after a pause whenever it ends, until it is closed or its owner gives it up. */
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
      // It runs for weeks: nothing it writes may pile up.
      buffer: false,
      reject: false,
      // It watches us by itself, and also when we are killed.
      cleanup: false,
      cancelSignal: AbortSignal.any([closing, fault.signal]),
      forceKillAfterDelay: closeTimeoutMs,
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      tail.add(text)
      onStderr?.(text)
    })
    // One that could not even be tried has no lines to read.
    for await (const line of child.pid === undefined ? [] : child.iterable()) {
      try {
        onLine(parseJson(line), line)
      } catch (error) {
        // Leaving the loop waits for the child, to which nobody listens any more.
        fault.abort()
        throw error
      }
    }
    const { exitCode, code, originalMessage } = await child
    // Errors of the operating system have a name; a process that did run has none.
    if (code !== undefined && !closing.aborted)
      throw new TrainerError('trainer_unusable', `${python}: ${originalMessage}`)
    return { code: exitCode ?? null, lastWords: tail.lastLine(), lastedMs: performance.now() - startedAt }
  }

  return supervise({ live, pauseMs: () => restartPauseMs, onEnd, ...(onOver ? { onOver } : {}) })
}

const STDERR_TAIL_CHARS = 4000

/** The end of what somebody writes. */
export function createTail() {
  let tail = ''
  return {
    add(text: string): void {
      tail = (tail + text).slice(-STDERR_TAIL_CHARS)
    },
    lastLine: (): string => tail.trim().split('\n').at(-1) ?? '',
  }
}

/** A line as JSON; undefined when it is none. */
export function parseJson(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
