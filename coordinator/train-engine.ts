import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream, type WriteStream } from 'node:fs'
import { createInterface } from 'node:readline'
import type { Logger } from 'pino'
import { z } from 'zod'

const event = z.looseObject({
  event: z.string(),
  step: z.int().optional(),
  batchId: z.string().nullish(),
  code: z.string().optional(),
  message: z.string().optional(),
  reason: z.string().nullish(),
})
export type TrainerEvent = z.output<typeof event>

/** What became of a batch. */
export type BatchOutcome =
  | { readonly kind: 'trained'; readonly step: number; readonly skipped: boolean; readonly event: TrainerEvent }
  | { readonly kind: 'refused'; readonly code: string; readonly detail: string }

export class TrainerError extends Error {
  override readonly name = 'TrainerError'
  constructor(
    readonly code: 'trainer_unusable' | 'trainer_failed' | 'closed',
    message: string,
  ) {
    super(`${code}: ${message}`)
  }
}

/** The process that turns batches into steps. Batches travel through the spool; see docs/trainer.md. */
export interface TrainEngine {
  /** Resolves when the trainer stands at its newest complete step. */
  start(signal: AbortSignal): Promise<{ readonly step: number }>
  /** What becomes of a batch that lies in the spool. Idempotent: a batch that was trained before returns its step. */
  outcome(batchId: string, signal: AbortSignal): Promise<BatchOutcome>
  close(): Promise<void>
}

export interface TorchrunOptions {
  readonly python: string
  /** Folder of the `prove_trainer` package. */
  readonly packageFolder: string
  readonly spool: string
  readonly base: string
  readonly config: string
  readonly processes: number
  /** Receives the trainer's stderr. */
  readonly logFile: string
  /** Starts in a row without a step after which the batch in hand is given up. */
  readonly maxFailures: number
}

const RESTART_PAUSE_MS = 1000
const CLOSE_TIMEOUT_MS = 20_000

/** Supervises the trainer under torchrun: restarted when it dies, given up on a batch that kills it `maxFailures` times. */
export function createTorchrunEngine(options: TorchrunOptions, log: Logger): TrainEngine {
  let child: ChildProcess | undefined
  let closing = false
  let running: Promise<void> | undefined
  let failures = 0
  let ready = Promise.withResolvers<{ step: number }>()
  const outcomes = new Map<string, BatchOutcome>()
  const waiting = new Map<string, PromiseWithResolvers<BatchOutcome>>()

  const settle = (batchId: string, outcome: BatchOutcome): void => {
    outcomes.set(batchId, outcome)
    waiting.get(batchId)?.resolve(outcome)
    waiting.delete(batchId)
  }

  const onLine = (line: string): void => {
    const parsed = event.safeParse(parseJson(line))
    if (!parsed.success) {
      log.warn({ line: line.slice(0, 200) }, 'the trainer wrote something that is no event')
      return
    }
    const said = parsed.data
    log.debug(said, 'trainer')
    if (said.event === 'ready') ready.resolve({ step: said.step ?? 0 })
    if (said.batchId == null) return
    if (said.event === 'step' || said.event === 'skipped') {
      failures = 0
      settle(said.batchId, { kind: 'trained', step: said.step!, skipped: said.event === 'skipped', event: said })
    }
    if (said.event === 'rejected')
      settle(said.batchId, { kind: 'refused', code: said.code ?? 'rejected', detail: said.message ?? '' })
  }

  const runOnce = async (stderr: WriteStream): Promise<number | null> => {
    const launch = [
      '-m',
      'torch.distributed.run',
      '--standalone',
      '--nproc-per-node',
      String(options.processes),
      '-m',
      'prove_trainer',
    ]
    const args = [
      ...launch,
      '--spool',
      options.spool,
      '--base',
      options.base,
      '--config',
      options.config,
      '--parent-pid',
      String(process.pid),
    ]
    const env = {
      ...process.env,
      PYTHONPATH: options.packageFolder,
      OMP_NUM_THREADS: '1',
      TORCH_CPP_LOG_LEVEL: 'ERROR',
    }
    child = spawn(options.python, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
    child.stderr!.pipe(stderr, { end: false })
    createInterface({ input: child.stdout! }).on('line', onLine)
    const spawned = child
    return new Promise((resolve, reject) => {
      spawned.once('error', (cause) =>
        reject(new TrainerError('trainer_unusable', `${options.python}: ${cause.message}`)),
      )
      spawned.once('close', (code) => resolve(code))
    })
  }

  const supervise = async (): Promise<void> => {
    const stderr = createWriteStream(options.logFile, { flags: 'a' })
    try {
      while (!closing) {
        const code = await runOnce(stderr)
        child = undefined
        if (closing) break
        failures++
        log.warn({ code, failures }, 'the trainer ended; starting it again')
        if (failures >= options.maxFailures) {
          const error = new TrainerError(
            'trainer_failed',
            `it ended ${failures} times in a row; see ${options.logFile}`,
          )
          ready.reject(error)
          if (waiting.size === 0) throw error
          for (const batchId of [...waiting.keys()])
            settle(batchId, { kind: 'refused', code: error.code, detail: error.message })
          failures = 0
        }
        ready = Promise.withResolvers()
        ready.promise.catch(() => log.debug('nobody waits for this start of the trainer'))
        await new Promise((resolve) => setTimeout(resolve, RESTART_PAUSE_MS * failures))
      }
    } catch (cause) {
      const error = cause instanceof TrainerError ? cause : new TrainerError('trainer_failed', String(cause))
      ready.reject(error)
      for (const waiter of waiting.values()) waiter.reject(error)
      waiting.clear()
    } finally {
      stderr.end()
    }
  }

  return {
    start(signal) {
      running ??= supervise()
      return abortable(ready.promise, signal)
    },
    outcome(batchId, signal) {
      const known = outcomes.get(batchId)
      if (known) return Promise.resolve(known)
      const waiter = waiting.get(batchId) ?? Promise.withResolvers<BatchOutcome>()
      waiting.set(batchId, waiter)
      return abortable(waiter.promise, signal)
    },
    async close() {
      if (closing) return
      closing = true
      const ending = child
      if (ending && ending.exitCode === null) {
        const gone = once(ending, 'close')
        ending.kill('SIGTERM')
        const timer = setTimeout(() => ending.kill('SIGKILL'), CLOSE_TIMEOUT_MS)
        await gone
        clearTimeout(timer)
      }
      await running
      for (const waiter of waiting.values()) waiter.reject(new TrainerError('closed', 'the trainer was closed'))
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

/** The promise, or the signal's reason if that comes first. */
async function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted()
  const aborted = Promise.withResolvers<never>()
  const onAbort = (): void => aborted.reject(signal.reason)
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await Promise.race([promise, aborted.promise])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}
