import { setTimeout as sleep } from 'node:timers/promises'
import { execa } from 'execa'
import { TrainerError } from './errors.js'

/** How one life of the process ended. */
export interface Ending {
  /** null: a signal ended it. */
  readonly code: number | null
  /** The last line it wrote to stderr. */
  readonly lastWords: string
  readonly lastedMs: number
}

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

/** A Python child that is kept alive; what it says and what its deaths mean is its owner's. */
export interface PythonProcess {
  /** Starts it, once. */
  start(): void
  /** Why there will be no further life, once that is so. */
  readonly failure: TrainerError | null
  /** Asks the child to end, kills it when it does not, and resolves when it is gone. */
  close(): Promise<void>
}

const STDERR_TAIL_CHARS = 4000

/** Supervises a Python child: started again after a pause whenever it ends, until it is closed or its owner gives it up. */
export function createPythonProcess(options: PythonProcessOptions): PythonProcess {
  const { python, packageFolder, args, env, restartPauseMs, closeTimeoutMs } = options
  const { onStart, onLine, onStderr, onEnd, onOver } = options
  const closing = new AbortController()
  let running: Promise<void> | null = null
  let failure: TrainerError | null = null

  const live = async (): Promise<Ending> => {
    const startedAt = performance.now()
    let tail = ''
    onStart?.()
    const child = execa(python, [...args, '--parent-pid', String(process.pid)], {
      env: { PYTHONPATH: packageFolder, OMP_NUM_THREADS: '1', ...env },
      stdin: 'ignore',
      // It runs for weeks: nothing it writes may pile up.
      buffer: false,
      reject: false,
      // It watches us by itself, and also when we are killed.
      cleanup: false,
      cancelSignal: closing.signal,
      forceKillAfterDelay: closeTimeoutMs,
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      tail = (tail + text).slice(-STDERR_TAIL_CHARS)
      onStderr?.(text)
    })
    for await (const line of child.iterable()) {
      try {
        onLine(parseJson(line), line)
      } catch (fault) {
        // Leaving the loop waits for the child, to which nobody listens any more.
        closing.abort()
        throw fault
      }
    }
    const { exitCode, code, originalMessage } = await child
    // Errors of the operating system have a name; a process that did run has none.
    if (code !== undefined && !closing.signal.aborted)
      throw new TrainerError('trainer_unusable', `${python}: ${originalMessage}`)
    return {
      code: exitCode ?? null,
      lastWords: tail.trim().split('\n').at(-1) ?? '',
      lastedMs: performance.now() - startedAt,
    }
  }

  const supervise = async (): Promise<void> => {
    try {
      while (!closing.signal.aborted) {
        const ending = await live()
        if (closing.signal.aborted) break
        await onEnd(ending)
        await sleep(restartPauseMs, undefined, { signal: closing.signal }).catch(() => undefined)
      }
      failure = new TrainerError('closed', 'the process was closed')
    } catch (cause) {
      failure =
        cause instanceof TrainerError ? cause : new TrainerError('trainer_failed', (cause as Error).message, { cause })
    }
    onOver?.(failure)
  }

  return {
    start() {
      running ??= supervise()
    },
    get failure() {
      return failure
    },
    async close() {
      closing.abort()
      if (!running) failure = new TrainerError('closed', 'the process was closed')
      await running
    },
  }
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
