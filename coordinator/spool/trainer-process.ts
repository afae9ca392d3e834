import { type ChildProcess, spawn } from 'node:child_process'
import { createWriteStream, type WriteStream } from 'node:fs'
import { mkdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { z } from 'zod'
import { TrainerError } from './errors.js'

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
  | { readonly kind: 'trained'; readonly step: number }
  | { readonly kind: 'refused'; readonly code: string; readonly detail: string }

/** The process that turns batches into steps. Batches travel through the spool; see docs/trainer.md. */
export interface TrainEngine {
  /** Resolves when the trainer stands at its newest complete step. @throws TrainerError */
  start(signal: AbortSignal): Promise<{ readonly step: number }>
  /**
   * What becomes of a batch that lies in the spool. Idempotent: a batch that was trained before returns its step.
   * @throws TrainerError when there will be no outcome
   */
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
  /** Deaths with one batch in hand after which it is given up; starts in a row that fail after which the trainer is. */
  readonly maxFailures: number
  readonly onEvent: (event: TrainerEvent) => void
}

const RESTART_PAUSE_MS = 1000
const CLOSE_TIMEOUT_MS = 20_000
/** A trainer that idled for so long before it ended did start: someone ended it, or the machine ran short. */
const GOOD_START_MS = 60_000
const STDERR_TAIL_CHARS = 4000
/** Codes of `error` events that starting again cannot cure. */
const HOPELESS = /^(config|base|resume|device|step)_/

/** Goes into the log as it is. */
const refusalFile = z.looseObject({
  code: z.string().max(64),
  message: z.string().transform((text) => text.slice(0, 1000)),
})

/**
 * Supervises the trainer under torchrun. It is started again when it dies; a batch that kills it `maxFailures` times is
 * taken out of the spool and refused; a trainer that cannot start, or ends without a batch in hand as often, is given up.
 */
export function createTorchrunEngine(options: TorchrunOptions, log: Logger): TrainEngine {
  const { spool, logFile, maxFailures } = options
  const stopping = new AbortController()
  let child: ChildProcess | null = null
  let running: Promise<void> | null = null
  let closing: Promise<void> | null = null
  let failure: TrainerError | null = null
  const ready = Promise.withResolvers<{ step: number }>()
  const outcomes = new Map<string, BatchOutcome>()
  const waiting = new Map<string, PromiseWithResolvers<BatchOutcome>>()
  const deaths = new Map<string, number>()
  /** What this start of the trainer has said so far. */
  let said: { ready: boolean; batch: string | null; error: TrainerEvent | null; stderr: string } = NOTHING_SAID

  const settle = (batchId: string, outcome: BatchOutcome): void => {
    outcomes.set(batchId, outcome)
    deaths.delete(batchId)
    waiting.get(batchId)?.resolve(outcome)
    waiting.delete(batchId)
  }

  /** A refusal that is on disk already: the trainer reports each only once, and we may have been away. */
  const settleIfRefused = async (batchId: string): Promise<void> => {
    const text = await readFile(join(spool, 'batches', batchId, 'refused.json'), 'utf8').catch(() => null)
    const refused = refusalFile.safeParse(text === null ? null : parseJson(text))
    if (refused.success) settle(batchId, { kind: 'refused', code: refused.data.code, detail: refused.data.message })
  }

  const onLine = (line: string): void => {
    const parsed = event.safeParse(parseJson(line))
    if (!parsed.success) {
      log.warn({ line: line.slice(0, 200) }, 'the trainer wrote something that is no event')
      return
    }
    const news = parsed.data
    log.debug(news, 'trainer')
    if (news.event === 'ready') {
      said.ready = true
      ready.resolve({ step: news.step ?? 0 })
      for (const batchId of waiting.keys()) void settleIfRefused(batchId)
    }
    if (news.event === 'error') said.error = news
    if (news.batchId != null) {
      if (news.event === 'training' || news.event === 'error') said.batch = news.batchId
      if (news.event === 'step' || news.event === 'skipped') {
        said.batch = null
        settle(news.batchId, { kind: 'trained', step: news.step! })
      }
      if (news.event === 'rejected') {
        said.batch = null
        settle(news.batchId, {
          kind: 'refused',
          code: news.code ?? 'rejected',
          detail: (news.message ?? '').slice(0, 1000),
        })
      }
    }
    options.onEvent(news)
  }

  const runOnce = async (stderr: WriteStream): Promise<number | null> => {
    const torchrun = ['-m', 'torch.distributed.run', '--standalone', '--nproc-per-node', String(options.processes)]
    const worker = ['-m', 'prove_trainer', '--spool', spool, '--base', options.base, '--config', options.config]
    const args = [...torchrun, ...worker, '--parent-pid', String(process.pid)]
    const env = {
      ...process.env,
      PYTHONPATH: options.packageFolder,
      OMP_NUM_THREADS: '1',
      TORCH_CPP_LOG_LEVEL: 'ERROR',
    }
    said = { ...NOTHING_SAID }
    const spawned = spawn(options.python, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
    child = spawned
    spawned.stderr.setEncoding('utf8').on('data', (text: string) => {
      said.stderr = (said.stderr + text).slice(-STDERR_TAIL_CHARS)
      stderr.write(text)
    })
    createInterface({ input: spawned.stdout }).on('line', onLine)
    try {
      return await new Promise((resolve, reject) => {
        spawned.once('error', (cause) =>
          reject(new TrainerError('trainer_unusable', `${options.python}: ${cause.message}`, { cause })),
        )
        spawned.once('close', (code) => resolve(code))
      })
    } finally {
      child = null
    }
  }

  /** In which batch the trainer died: the one it named, or else the one that lay before it. */
  const blamed = (): string | null => said.batch ?? (said.ready ? ([...waiting.keys()][0] ?? null) : null)

  const giveUp = async (batchId: string): Promise<void> => {
    // Out of the trainer's sight, or the next start would take it again; kept for whoever wants to know why.
    const kept = join(spool, 'given-up', batchId)
    await rm(kept, { recursive: true, force: true })
    await mkdir(join(spool, 'given-up'), { recursive: true })
    await rename(join(spool, 'batches', batchId), kept)
    settle(batchId, { kind: 'refused', code: 'trainer_failed', detail: `the trainer died of it ${maxFailures} times` })
  }

  const supervise = async (): Promise<void> => {
    const stderr = createWriteStream(logFile, { flags: 'a' })
    stderr.on('error', (error) => log.error({ error }, 'the log of the trainer cannot be written'))
    let badStarts = 0
    try {
      while (!stopping.signal.aborted) {
        const startedAt = performance.now()
        const code = await runOnce(stderr)
        if (stopping.signal.aborted) break
        const batchId = blamed()
        const { error } = said
        const why = error ? `${error.code}: ${error.message}` : (said.stderr.trim().split('\n').at(-1) ?? '')
        log.warn({ code, batchId, why }, 'the trainer ended; starting it again')
        if (batchId === null) {
          badStarts = performance.now() - startedAt > GOOD_START_MS ? 1 : badStarts + 1
          if (badStarts >= maxFailures || (!said.ready && HOPELESS.test(error?.code ?? '')))
            throw new TrainerError('trainer_failed', `${why} (see ${logFile})`)
        } else {
          badStarts = 0
          const times = (deaths.get(batchId) ?? 0) + 1
          deaths.set(batchId, times)
          if (times >= maxFailures) await giveUp(batchId)
        }
        await sleep(RESTART_PAUSE_MS, undefined, { signal: stopping.signal }).catch(() => undefined)
      }
    } catch (cause) {
      failure =
        cause instanceof TrainerError ? cause : new TrainerError('trainer_failed', (cause as Error).message, { cause })
    } finally {
      stderr.end()
      failure ??= new TrainerError('closed', 'the trainer was closed')
      ready.reject(failure)
      for (const waiter of waiting.values()) waiter.reject(failure)
      waiting.clear()
    }
  }

  const stop = async (): Promise<void> => {
    stopping.abort()
    const ending = child
    const timer = setTimeout(() => ending?.kill('SIGKILL'), CLOSE_TIMEOUT_MS)
    ending?.kill('SIGTERM')
    await running
    clearTimeout(timer)
  }

  return {
    start(signal) {
      running ??= supervise()
      return abortable(ready.promise, signal)
    },
    async outcome(batchId, signal) {
      await settleIfRefused(batchId)
      const known = outcomes.get(batchId)
      if (known) return known
      if (failure) throw failure
      const waiter = waiting.get(batchId) ?? Promise.withResolvers<BatchOutcome>()
      waiting.set(batchId, waiter)
      return abortable(waiter.promise, signal)
    },
    close() {
      closing ??= stop()
      return closing
    },
  }
}

const NOTHING_SAID = { ready: false, batch: null, error: null, stderr: '' }

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

/** The promise, or the signal's reason if that comes first. */
async function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  // Whoever stops waiting must not turn a later failure into one that nobody handles.
  promise.catch(() => undefined)
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
