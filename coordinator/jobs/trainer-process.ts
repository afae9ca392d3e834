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
const CLOSE_TIMEOUT_MS = 20_000

/** What one life of the trainer has said so far. */
interface Said {
  ready: boolean
  /** The batch in its hands. */
  batch: string | null
  error: Fault | null
}

/**
 * Supervises the trainer: the worker itself, or under torchrun where it has several ranks. It is started again when it dies; a batch that kills it `maxFailures` times is
 * taken out of the spool and refused; a trainer that cannot start, or ends without a batch in hand as often, is given up.
 */
export function createTrainerProcess(options: TrainerProcessOptions, log: Logger): TrainEngine {
  const { python, packageFolder, jobs, base, config, processes, launch, logFile, maxFailures, onEvent } = options
  const ready = Promise.withResolvers<{ step: number }>()
  const outcomes = createBatchOutcomes(jobs)
  const deaths = new TrainerDeaths({ maxFailures, onMachines: launch !== undefined })
  let said: Said = { ready: false, batch: null, error: null }
  let stderr: WriteStream | null = null

  const note = (news: TrainerEvent): void => {
    if (news.event === 'ready') {
      said.ready = true
      deaths.noteReady()
      ready.resolve({ step: news.step ?? 0 })
      outcomes.lookForRefusals()
    }
    if (news.event === 'error') said.error = news
    if (news.batchId == null) return
    if (news.event === 'training' || news.event === 'error') said.batch = news.batchId
    if (news.event === 'measured') outcomes.tell(news.batchId, { kind: 'measured' })
    if (news.event === 'step' || news.event === 'skipped') {
      said.batch = null
      deaths.forget(news.batchId)
      outcomes.settle(news.batchId, { kind: 'trained', step: news.step! })
    }
    if (news.event === 'rejected') {
      said.batch = null
      deaths.forget(news.batchId)
      const detail = (news.message ?? '').slice(0, 1000)
      outcomes.settle(news.batchId, { kind: 'refused', code: news.code ?? 'rejected', detail })
    }
  }

  const giveUp = async (batchId: string, times: number): Promise<void> => {
    // Out of the trainer's sight, or the next start would take it again; kept for whoever wants to know why.
    const kept = join(jobs, 'given-up', batchId)
    await rm(kept, { recursive: true, force: true })
    await mkdir(join(jobs, 'given-up'), { recursive: true })
    await rename(batchFolder(jobs, batchId), kept)
    deaths.forget(batchId)
    const detail = `the trainer died of it ${times} times`
    outcomes.settle(batchId, { kind: 'refused', code: 'trainer_failed', detail })
  }

  const onEnd = async ({ code, lastWords, lastedMs, errors }: Ending & Partial<ClusterEnding>): Promise<void> => {
    const fault = toBlame([...(said.error ? [said.error] : []), ...(errors ?? [])])
    // Who died in no batch it named died in the one that lay before it, if it ever got so far.
    const batchId = said.batch ?? (said.ready ? outcomes.firstAwaited() : null)
    const why = fault ? `${fault.code}: ${fault.message}` : lastWords
    log.warn({ code, batchId, why }, 'the trainer ended; starting it again')
    const consequence = deaths.note({ batchId, fault, lastedMs, wasReady: said.ready })
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
      said = { ready: false, batch: null, error: null }
      stderr ??= createWriteStream(logFile, { flags: 'a' }).on('error', (error) =>
        log.error({ error }, 'the log of the trainer cannot be written'),
      )
    },
    onLine(value: unknown, line: string): void {
      const parsed = trainerEvent.safeParse(value)
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
