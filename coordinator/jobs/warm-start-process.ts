import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { z } from 'zod'
import { TrainerError } from './errors.js'
import { createPythonProcess } from './python-process.js'

const count = z.int().min(0)
const loss = z.object({ step: count, tokens: count, heldOutLoss: z.number() })

/** A line of `prove_trainer --warm-start` (docs/reference/trainer.md). Other lines are ignored. */
const warmStartEvent = z.discriminatedUnion('event', [
  /** Bytes that the training needs, and that this machine has free; null: unknown. */
  z.object({ event: z.literal('estimate'), bytes: count, available: count.nullable() }),
  z.object({ event: z.literal('ready'), step: count, steps: count, demonstrations: count, tokens: count, seen: count }),
  /** `loss`: nats per token of the assistant, before the step. */
  z.object({ event: z.literal('trained'), step: count, tokens: count, loss: z.number() }),
  z.object({ event: z.literal('held_out'), step: count, tokens: count, loss: z.number() }),
  z.object({
    event: z.literal('complete'),
    ...{ step: count, tokens: count, losses: z.array(loss) },
    /** A merged base: the largest difference (nats) on a canary from the trained one, and its hash. */
    merged: z.object({ gap: z.number(), sha256: z.string() }).nullable(),
    /** Record of the training, see `warmStartSchema`. */
    record: z.unknown(),
  }),
  z.object({ event: z.literal('error'), code: z.string(), message: z.string() }),
])
export type WarmStartEvent = z.output<typeof warmStartEvent>
export type WarmStartResult = Extract<WarmStartEvent, { event: 'complete' }>

export interface WarmStartProcessOptions {
  readonly python: string
  /** Folder of the `prove_trainer` package. */
  readonly packageFolder: string
  readonly jobs: string
  readonly base: string
  /** `trainer.json`. */
  readonly config: string
  /** Kind of work, and its folder: demonstrations with settings and checkpoint, or a finished warm start. */
  readonly work: { readonly kind: 'warm-start' | 'adopt'; readonly folder: string }
  /** Receives the stderr of the process. */
  readonly logFile: string
  readonly onEvent: (event: WarmStartEvent) => void
}

/** Time for the checkpoint of an interrupted warm start: a forward pass, then some files. */
const CLOSE_TIMEOUT_MS = 120_000

/**
 * Runs a warm start to its end. An abort saves a checkpoint, from which the next call continues.
 * @throws TrainerError with the reported reason; the signal's reason
 */
export async function runWarmStart(options: WarmStartProcessOptions, signal: AbortSignal): Promise<WarmStartResult> {
  const { python, packageFolder, jobs, base, config, work, logFile, onEvent } = options
  signal.throwIfAborted()
  const ended = Promise.withResolvers<WarmStartResult>()
  const log = createWriteStream(logFile, { flags: 'a' })
  let reported: { readonly code: string; readonly message: string } | null = null
  const child = createPythonProcess({
    python,
    packageFolder,
    args: ['-m', 'prove_trainer', '--jobs', jobs, '--base', base, '--config', config, `--${work.kind}`, work.folder],
    // Idle threads sleep instead of spinning, which would take the core from the thread that is awaited.
    env: { OMP_WAIT_POLICY: 'passive' },
    restartPauseMs: 0,
    closeTimeoutMs: CLOSE_TIMEOUT_MS,
    onLine(value) {
      const { data: event } = warmStartEvent.safeParse(value)
      if (event === undefined) return
      if (event.event === 'error') reported = event
      if (event.event === 'complete') ended.resolve(event)
      onEvent(event)
    },
    onStderr: (text) => void log.write(text),
    onEnd({ lastWords }) {
      throw new TrainerError(
        'trainer_failed',
        reported === null ? `${lastWords} (see ${logFile})` : `${reported.code}: ${reported.message}`,
      )
    },
    onOver: (failure) => ended.reject(failure),
  })
  const stop = (): void => void child.close()
  signal.addEventListener('abort', stop)
  try {
    child.start()
    return await ended.promise
  } catch (failure) {
    signal.throwIfAborted()
    throw failure
  } finally {
    signal.removeEventListener('abort', stop)
    await child.close()
    log.end()
    await once(log, 'close')
  }
}
