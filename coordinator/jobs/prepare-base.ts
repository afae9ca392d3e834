import { rm } from 'node:fs/promises'
import { execa } from 'execa'
import { z } from 'zod'
import { TrainerError } from './errors.js'
import { createTail, parseJson, pythonEnvironment } from './python-process.js'

export interface BasePreparation {
  readonly python: string
  /** Folder of the `prove_trainer` package. */
  readonly packageFolder: string
  /** Published GGUF. */
  readonly source: string
  /** File to write; null: the source is only examined. */
  readonly out: string | null
  /** Types of the copy's tensors: float16, or as they are stored. */
  readonly kind: 'f16' | 'keep'
  /** File of another chat template. */
  readonly template?: string
  /** @param done  tensors written, of all */
  readonly onProgress: (done: number, of: number) => void
}

const bytes = z.int().min(0)
const costs = z.object({ baseBytes: bytes, adapterBytes: bytes, fixedBytes: bytes, bytesPerToken: bytes })

const event = z.discriminatedUnion('event', [
  z.object({ event: z.literal('progress'), done: z.int(), of: z.int() }),
  z.object({
    event: z.literal('prepared'),
    sha256: z.string().regex(/^[0-9a-f]{64}$/),
    bytes,
    types: z.record(z.string().max(32), z.int()),
    memory: z.object({ float32: costs, bfloat16: costs }),
  }),
  z.object({ event: z.literal('error'), code: z.string(), message: z.string() }),
  z.object({ event: z.literal('stopped'), reason: z.string() }),
])

/** The trainer's report on a base. */
export type PreparedBase = Omit<Extract<z.infer<typeof event>, { event: 'prepared' }>, 'event'>
/** Bytes of a training step: base, adapter with its optimizer, a fixed part, and a part for each token of a rollout, with checkpointing. */
export type TrainingCosts = z.infer<typeof costs>

/** Time without a sign of life: the largest matrix of a large model takes a minute on a slow machine. */
const SILENCE_MS = 10 * 60_000
const CLOSE_TIMEOUT_MS = 20_000

/**
 * Checks a GGUF as the trainer does, and writes a copy of it as the base of a run. The copy exists whole or not at all.
 * @throws TrainerError `base_refused` for a file that cannot be a base, `trainer_unusable`; the signal's reason
 */
export async function prepareBase(preparation: BasePreparation, signal: AbortSignal): Promise<PreparedBase> {
  const { python, packageFolder, source, out, kind, template, onProgress } = preparation
  const draft = out === null ? null : `${out}.${process.pid}.tmp`
  const silent = new AbortController()
  const watch = setTimeout(() => silent.abort(), SILENCE_MS)
  const tail = createTail()
  try {
    const child = execa(
      python,
      [
        ...['-m', 'prove_trainer.prepare_base', '--source', source, '--kind', kind],
        ...(out === null ? [] : ['--out', out, '--draft', draft!]),
        ...(template === undefined ? [] : ['--template', template]),
        ...['--parent-pid', String(process.pid)],
      ],
      {
        env: pythonEnvironment(packageFolder),
        stdin: 'ignore',
        buffer: false,
        reject: false,
        cancelSignal: AbortSignal.any([signal, silent.signal]),
        forceKillAfterDelay: CLOSE_TIMEOUT_MS,
      },
    )
    child.stderr.setEncoding('utf8').on('data', (text: string) => tail.add(text))
    let prepared: PreparedBase | null = null
    let refusal: TrainerError | null = null
    for await (const line of child.pid === undefined ? [] : child.iterable()) {
      watch.refresh()
      const parsed = event.safeParse(parseJson(line))
      if (!parsed.success) continue
      const { data } = parsed
      if (data.event === 'progress') onProgress(data.done, data.of)
      if (data.event === 'prepared') prepared = data
      if (data.event === 'error') refusal = new TrainerError('base_refused', `${source}: ${data.message}`)
    }
    const { code, originalMessage, failed } = await child
    signal.throwIfAborted()
    if (silent.signal.aborted)
      throw new TrainerError('trainer_unusable', `${python} did nothing for ${SILENCE_MS / 60_000} minutes: try again`)
    if (refusal) throw refusal
    if (code !== undefined) throw new TrainerError('trainer_unusable', `${python}: ${originalMessage}`)
    if (failed || prepared === null) throw new TrainerError('trainer_unusable', `${python}: ${tail.lastLine()}`)
    return prepared
  } finally {
    clearTimeout(watch)
    if (draft !== null) await rm(draft, { force: true })
  }
}
