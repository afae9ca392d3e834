import { createWriteStream, type WriteStream } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { abortable, createBatchOutcomes } from './batch-outcomes.js'
import { type ClusterEnding, liveOnCluster, type RankState } from './cluster.js'
import { TrainerError } from './errors.js'
import { batchFolder } from './layout.js'
import { createPythonProcess } from './python-process.js'
import { type Ending, supervise } from './supervisor.js'
import { type TrainerLaunch, torchrun } from './torchrun.js'
import type { TrainEngine } from './train-engine.js'
import { type Fault, GOOD_START_MS, TrainerDeaths, toBlame } from './trainer-deaths.js'
import { type TrainerEvent, trainerEvent } from './trainer-events.js'

export interface TrainerProcessOptions {
  readonly python: string
  /** Folder of the `prove_trainer` package. */
  readonly packageFolder: string
  readonly jobs: string
  readonly base: string
  readonly config: string
  /** Ranks per machine. */
  readonly processes: number
  /** Default: all ranks are on this machine. */
  readonly launch?: TrainerLaunch | undefined
  /** Receives the trainer's stderr. */
  readonly logFile: string
  /** Deaths with one batch after which the batch is given up, and consecutive failed starts after which the trainer is. */
  readonly maxFailures: number
  readonly onEvent: (event: TrainerEvent) => void
}

const RESTART_PAUSE_MS = 1000
/** Longest pause between starts. A lost machine may take hours to return, and a start every minute is no load. */
const LONGEST_PAUSE_MS = 60_000
const CLOSE_TIMEOUT_MS = 20_000

/** Reports of one life of the trainer so far. */
interface Life {
  ready: boolean
  /** Batch that it works on. */
  batch: string | null
  error: Fault | null
}

/**
 * Supervises the trainer: the worker itself, or torchrun with several ranks. Restarts it when it dies. A batch that kills it `maxFailures`
 * times is removed from the job directory and refused. A trainer that cannot start, or ends as often without a batch, is given up.
 */
export function createTrainerProcess(options: TrainerProcessOptions, log: Logger): TrainEngine {
  const { python, packageFolder, jobs, base, config, processes, launch, logFile, maxFailures, onEvent } = options
  const ready = Promise.withResolvers<{ step: number }>()
  const outcomes = createBatchOutcomes(jobs)
  const deaths = new TrainerDeaths({ maxFailures, onMachines: launch !== undefined })
  let life: Life = { ready: false, batch: null, error: null }
  let stderr: WriteStream | null = null

  const note = (event: TrainerEvent): void => {
    if (event.event === 'ready') {
      life.ready = true
      deaths.noteReady()
      ready.resolve({ step: event.step ?? 0 })
      outcomes.lookForRefusals()
    }
    if (event.event === 'error') life.error = event
    if (event.batchId == null) return
    if (event.event === 'training' || event.event === 'error') life.batch = event.batchId
    if (event.event === 'measured') outcomes.report(event.batchId, { kind: 'measured' })
    if (event.event === 'step' || event.event === 'skipped') {
      life.batch = null
      deaths.forget(event.batchId)
      outcomes.settle(event.batchId, { kind: 'trained', step: event.step! })
    }
    if (event.event === 'rejected') {
      life.batch = null
      deaths.forget(event.batchId)
      const detail = (event.message ?? '').slice(0, 1000)
      outcomes.settle(event.batchId, { kind: 'refused', code: event.code ?? 'rejected', detail })
    }
  }

  const giveUp = async (batchId: string, times: number): Promise<void> => {
    // Moved away, so that the next start does not use it again, and kept for inspection.
    const kept = join(jobs, 'given-up', batchId)
    await rm(kept, { recursive: true, force: true })
    await mkdir(join(jobs, 'given-up'), { recursive: true })
    await rename(batchFolder(jobs, batchId), kept)
    deaths.forget(batchId)
    const detail = `the trainer died ${times} times while it worked on this batch`
    outcomes.settle(batchId, { kind: 'refused', code: 'trainer_failed', detail })
  }

  const onEnd = async ({ code, lastWords, lastedMs, errors }: Ending & Partial<ClusterEnding>): Promise<void> => {
    const fault = toBlame([...(life.error ? [life.error] : []), ...(errors ?? [])])
    // A trainer that was ready and named no batch died in the first batch that is awaited.
    const batchId = life.batch ?? (life.ready ? outcomes.firstAwaited() : null)
    const why = fault ? `${fault.code}: ${fault.message}` : lastWords
    log.warn({ code, batchId, why }, 'the trainer ended; restarting it')
    const consequence = deaths.note({ batchId, fault, lastedMs, wasReady: life.ready })
    if (consequence.kind === 'end') throw new TrainerError('trainer_failed', `${why} (see ${logFile})`)
    if (consequence.kind === 'without-batch') await giveUp(consequence.batchId, consequence.times)
  }

  const program = {
    python,
    packageFolder,
    args: ['-m', 'prove_trainer', '--jobs', jobs, '--base', base, '--config', config],
    env: { TORCH_CPP_LOG_LEVEL: 'ERROR' },
    closeTimeoutMs: CLOSE_TIMEOUT_MS,
    onStart(): void {
      life = { ready: false, batch: null, error: null }
      stderr ??= createWriteStream(logFile, { flags: 'a' }).on('error', (error) =>
        log.error({ error }, 'the log file of the trainer cannot be written'),
      )
    },
    onLine(value: unknown, line: string): void {
      const parsed = trainerEvent.safeParse(value)
      if (!parsed.success) {
        log.warn({ line: line.slice(0, 200) }, 'the trainer wrote a line that is no event')
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
        live: (closing) => liveOnCluster({ ...program, launch, jobs, processes, onRanks }, closing),
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
