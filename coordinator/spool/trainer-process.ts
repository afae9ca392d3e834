import { createWriteStream, type WriteStream } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { z } from 'zod'
import { awaitsFindings } from './batch-folder.js'
import { type ClusterEnding, liveOnCluster, type RankState } from './cluster.js'
import { TrainerError } from './errors.js'
import { batchFolder } from './layout.js'
import { createPythonProcess } from './python-process.js'
import { type Refusal, readRefusal } from './refusal-file.js'
import { type Ending, supervise } from './supervisor.js'
import { type TrainerLaunch, torchrun } from './torchrun.js'

const event = z.looseObject({
  event: z.string(),
  step: z.int().optional(),
  batchId: z.string().nullish(),
  code: z.string().optional(),
  message: z.string().optional(),
  reason: z.string().nullish(),
})
/** `ranks` is the one event that we say: which ranks on other machines have reported. */
export type TrainerEvent = z.output<typeof event> & { readonly ranks?: unknown }

/** Whether it says which ranks there are. Only what we say ourselves does. */
export const isOfRanks = (
  news: TrainerEvent,
): news is TrainerEvent & { readonly event: 'ranks'; readonly ranks: readonly RankState[] } =>
  news.event === 'ranks' && Array.isArray(news.ranks)

/** What became of a batch. */
export type BatchOutcome =
  | { readonly kind: 'trained'; readonly step: number }
  /** Its evidence lies beside it: the trainer waits for findings. */
  | { readonly kind: 'measured' }
  | ({ readonly kind: 'refused' } & Refusal)

/** The process that turns batches into steps. Batches travel through the spool; see docs/trainer.md. */
export interface TrainEngine {
  /** Resolves when the trainer stands at its newest complete step. @throws TrainerError */
  start(signal: AbortSignal): Promise<{ readonly step: number }>
  /**
   * What becomes of a batch that lies in the spool. Idempotent: a batch that was trained before returns its step. `measured`
   * is no end: who hears it writes findings and asks again, and may hear it once more when the trainer was started anew.
   * @throws TrainerError when there will be no outcome
   */
  outcome(batchId: string, signal: AbortSignal): Promise<BatchOutcome>
  close(): Promise<void>
}

export interface TrainerProcessOptions {
  readonly python: string
  /** Folder of the `prove_trainer` package. */
  readonly packageFolder: string
  readonly spool: string
  readonly base: string
  readonly config: string
  /** Ranks of a machine. */
  readonly processes: number
  /** Default: all ranks are on this machine. */
  readonly launch?: TrainerLaunch | undefined
  /** Receives the trainer's stderr. */
  readonly logFile: string
  /** Deaths with one batch in hand after which it is given up; starts in a row that fail after which the trainer is. */
  readonly maxFailures: number
  readonly onEvent: (event: TrainerEvent) => void
}

const RESTART_PAUSE_MS = 1000
/** A machine that is gone may take hours to come back; asking it every minute is no load. */
const LONGEST_PAUSE_MS = 60_000
/** Losses of a rank with one batch in hand. That machines fail so often on one batch is no chance any more. */
const MAX_LOSSES = 20
const CLOSE_TIMEOUT_MS = 20_000
/** A trainer that idled for so long before it ended did start: someone ended it, or the machine ran short. */
const GOOD_START_MS = 60_000
/** Codes of `error` events that starting again cannot cure. */
const HOPELESS = /^(config|base|resume|device|step)_/
/** Of a service that the trainer depends on, whenever it is said: no batch is to blame, and the operator has to see to it. */
const UNSERVED = /^service_/
/** Of machines that have trained: one that is back before its devices are will have them. */
const HOPELESS_FOR_ALL = /^(config|base|resume|step)_/
/** Codes of ranks to which nothing happened but that another one is gone, or has been taken for gone. */
const BLAMELESS: readonly string[] = ['peer_lost', 'overtaken']

/** What one life of the trainer has said so far. */
interface Said {
  ready: boolean
  /** The batch in its hands. */
  batch: string | null
  error: { readonly code?: string | undefined; readonly message?: string | undefined } | null
}

/**
 * Supervises the trainer: the worker itself, or under torchrun where it has several ranks. It is started again when it dies; a batch that kills it `maxFailures` times is
 * taken out of the spool and refused; a trainer that cannot start, or ends without a batch in hand as often, is given up.
 */
export function createTrainerProcess(options: TrainerProcessOptions, log: Logger): TrainEngine {
  const { python, packageFolder, spool, base, config, processes, launch, logFile, maxFailures, onEvent } = options
  const ready = Promise.withResolvers<{ step: number }>()
  const outcomes = createOutcomes(spool)
  const deaths = new Map<string, number>()
  const losses = new Map<string, number>()
  let badStarts = 0
  let hasBeenReady = false
  let said: Said = { ready: false, batch: null, error: null }
  let stderr: WriteStream | null = null

  const forget = (batchId: string): void => {
    deaths.delete(batchId)
    losses.delete(batchId)
  }

  const note = (news: TrainerEvent): void => {
    if (news.event === 'ready') {
      said.ready = true
      hasBeenReady = true
      ready.resolve({ step: news.step ?? 0 })
      outcomes.lookForRefusals()
    }
    if (news.event === 'error') said.error = news
    if (news.batchId == null) return
    if (news.event === 'training' || news.event === 'error') said.batch = news.batchId
    if (news.event === 'measured') outcomes.tell(news.batchId, { kind: 'measured' })
    if (news.event === 'step' || news.event === 'skipped') {
      said.batch = null
      forget(news.batchId)
      outcomes.settle(news.batchId, { kind: 'trained', step: news.step! })
    }
    if (news.event === 'rejected') {
      said.batch = null
      forget(news.batchId)
      const detail = (news.message ?? '').slice(0, 1000)
      outcomes.settle(news.batchId, { kind: 'refused', code: news.code ?? 'rejected', detail })
    }
  }

  const giveUp = async (batchId: string, times: number): Promise<void> => {
    // Out of the trainer's sight, or the next start would take it again; kept for whoever wants to know why.
    const kept = join(spool, 'given-up', batchId)
    await rm(kept, { recursive: true, force: true })
    await mkdir(join(spool, 'given-up'), { recursive: true })
    await rename(batchFolder(spool, batchId), kept)
    forget(batchId)
    const detail = `the trainer died of it ${times} times`
    outcomes.settle(batchId, { kind: 'refused', code: 'trainer_failed', detail })
  }

  const onEnd = async ({ code, lastWords, lastedMs, errors }: Ending & Partial<ClusterEnding>): Promise<void> => {
    // The first rank may know no more than that another one is gone.
    const faults = [...(said.error ? [said.error] : []), ...(errors ?? [])]
    said.error = faults.find((fault) => !BLAMELESS.includes(fault.code ?? '')) ?? faults[0] ?? null
    // Who died in no batch it named died in the one that lay before it, if it ever got so far.
    const batchId = said.batch ?? (said.ready ? outcomes.firstAwaited() : null)
    const { error } = said
    const why = error ? `${error.code}: ${error.message}` : lastWords
    log.warn({ code, batchId, why }, 'the trainer ended; starting it again')
    if (UNSERVED.test(error?.code ?? '')) throw new TrainerError('trainer_failed', `${why} (see ${logFile})`)
    if (batchId === null) {
      badStarts = lastedMs > GOOD_START_MS ? 1 : badStarts + 1
      // A machine that does not come back is waited for, once it is known that all of it has worked.
      const isPatient = launch !== undefined && hasBeenReady
      const isHopeless = !said.ready && (isPatient ? HOPELESS_FOR_ALL : HOPELESS).test(error?.code ?? '')
      if ((badStarts >= maxFailures && !isPatient) || isHopeless)
        throw new TrainerError('trainer_failed', `${why} (see ${logFile})`)
    } else {
      badStarts = 0
      // Machines are lost, and a batch is not to blame for it: what it does to a rank, that rank says.
      const isLoss = launch !== undefined && (error === null || BLAMELESS.includes(error.code ?? ''))
      const counted = isLoss ? losses : deaths
      const times = (counted.get(batchId) ?? 0) + 1
      counted.set(batchId, times)
      if (times >= (isLoss ? MAX_LOSSES : maxFailures)) await giveUp(batchId, times)
    }
  }

  const program = {
    python,
    packageFolder,
    args: ['-m', 'prove_trainer', '--spool', spool, '--base', base, '--config', config],
    env: { TORCH_CPP_LOG_LEVEL: 'ERROR' },
    closeTimeoutMs: CLOSE_TIMEOUT_MS,
    onStart(): void {
      said = { ready: false, batch: null, error: null }
      stderr ??= createWriteStream(logFile, { flags: 'a' }).on('error', (error) =>
        log.error({ error }, 'the log of the trainer cannot be written'),
      )
    },
    onLine(value: unknown, line: string): void {
      const parsed = event.safeParse(value)
      if (!parsed.success) {
        log.warn({ line: line.slice(0, 200) }, 'the trainer wrote something that is no event')
        return
      }
      log.debug(parsed.data, 'trainer')
      note(parsed.data)
      onEvent(parsed.data)
    },
    onStderr: (text: string) => void stderr?.write(text),
  }
  const onOver = (failure: TrainerError): void => {
    stderr?.end()
    ready.reject(failure)
    outcomes.end(failure)
  }
  const onRanks = (ranks: readonly RankState[]): void => onEvent({ event: 'ranks', ranks })
  let shortLives = 0
  const child = launch
    ? supervise<ClusterEnding>({
        live: (closing) => liveOnCluster({ ...program, launch, spool, processes, onRanks }, closing),
        pauseMs({ lastedMs }) {
          shortLives = lastedMs > GOOD_START_MS ? 0 : shortLives + 1
          return Math.min(LONGEST_PAUSE_MS, RESTART_PAUSE_MS * 2 ** Math.max(0, shortLives - 1))
        },
        onEnd,
        onOver,
      })
    : createPythonProcess({
        ...program,
        args: [...torchrun(processes), ...program.args],
        restartPauseMs: RESTART_PAUSE_MS,
        onEnd,
        onOver,
      })

  return {
    start(signal) {
      child.start()
      return abortable(ready.promise, signal)
    },
    outcome: (batchId, signal) => outcomes.of(batchId, signal),
    close: () => child.close(),
  }
}

/** What became of batches, and who waits for it. */
function createOutcomes(spool: string) {
  const known = new Map<string, BatchOutcome>()
  const awaited = new Map<string, PromiseWithResolvers<BatchOutcome>>()
  let failure: TrainerError | null = null

  const tell = (batchId: string, outcome: BatchOutcome): void => {
    awaited.get(batchId)?.resolve(outcome)
    awaited.delete(batchId)
  }

  const settle = (batchId: string, outcome: BatchOutcome): void => {
    known.set(batchId, outcome)
    tell(batchId, outcome)
  }

  const waiterFor = (batchId: string): PromiseWithResolvers<BatchOutcome> => {
    const waiter = awaited.get(batchId) ?? Promise.withResolvers<BatchOutcome>()
    awaited.set(batchId, waiter)
    // The trainer may be over before anybody listens.
    waiter.promise.catch(() => undefined)
    return waiter
  }

  /** A refusal that is on disk already: the trainer reports each only once, and we may have been away. */
  const settleIfRefused = async (batchId: string): Promise<void> => {
    const refusal = await readRefusal(batchFolder(spool, batchId))
    if (refusal) settle(batchId, { kind: 'refused', ...refusal })
  }

  return {
    tell,
    settle,
    firstAwaited: (): string | null => awaited.keys().next().value ?? null,
    lookForRefusals(): void {
      for (const [batchId, waiter] of awaited) settleIfRefused(batchId).catch(waiter.reject)
    },
    async of(batchId: string, signal: AbortSignal): Promise<BatchOutcome> {
      await settleIfRefused(batchId)
      const outcome = known.get(batchId)
      if (outcome) return outcome
      if (failure) throw failure
      const { promise } = waiterFor(batchId)
      // Said before anybody listened, or by a trainer that has ended since. Looked for now that no word of it can be missed.
      if (await awaitsFindings(spool, batchId)) tell(batchId, { kind: 'measured' })
      return abortable(promise, signal)
    },
    end(why: TrainerError): void {
      failure = why
      for (const waiter of awaited.values()) waiter.reject(why)
      awaited.clear()
    },
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
