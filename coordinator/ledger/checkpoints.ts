import type { SwarmLogger } from '../../swarm/index.js'
import type { ChainedLog } from './chained-log.js'
import { type Checkpoint, readCheckpoint, writeCheckpoint } from './checkpoint-file.js'
import type { LogHead } from './log-chain.js'
import { RunReducer } from './run-reducer.js'
import { CheckpointError, snapshotSize } from './state-snapshot.js'

/**
 * Events after which the state is written again: a start reads so many in half a second, and a log of fewer is read whole. A larger
 * state is written after as many events as it has entries, so that writing takes no more of a coordinator's time than it is worth.
 */
const LEAST_EVENTS = 10_000

/**
 * The state of a run as it was at a place of the log, on disk, so that a start reads it and the events behind that place alone. The log
 * remains the truth: a checkpoint that is not whole, of another log or of another version of the program is passed over, which costs
 * nothing but time.
 */
export interface Checkpoints {
  /** The newest, if the log can be gone on with from there; why not is logged. */
  read(): Promise<KeptSnapshots | null>
  /** Writes the state, which is that of the end of the log, in the background when enough has happened. Nothing happens that could fail. */
  offer(state: RunReducer): void
  /** Waits for what is being written, and writes the last state when a start would have much to read. */
  close(state: RunReducer): Promise<void>
}

export interface KeptSnapshots {
  readonly at: LogHead
  /** Two that are alike, and of their own. */
  readonly snapshots: readonly [RunReducer, RunReducer]
}

export interface CheckpointParts {
  readonly file: string
  readonly log: Pick<ChainedLog, 'end' | 'has'>
  readonly logger: Pick<SwarmLogger, 'info' | 'warn'>
  readonly leastEvents?: number
}

export function openCheckpoints({ file, log, logger, leastEvents = LEAST_EVENTS }: CheckpointParts): Checkpoints {
  /** Events before the newest checkpoint, or before the last that could not be written. */
  let since = 0
  /** Entries of the newest. */
  let size = 0
  let writing: Promise<void> | null = null

  const write = (state: RunReducer): void => {
    const checkpoint = { at: log.end, snapshot: state.snapshot }
    since = checkpoint.at.count
    size = snapshotSize(checkpoint.snapshot)
    writing = writeCheckpoint(file, checkpoint)
      .catch((error: unknown) => {
        logger.warn({ part: 'checkpoint', file, error }, 'the state could not be written; the next start takes longer')
      })
      .finally(() => {
        writing = null
      })
  }
  const isDue = (events: number): boolean => writing === null && log.end.count - since >= events

  return {
    async read() {
      try {
        const checkpoint = await readCheckpoint(file)
        if (!(await log.has(checkpoint.at)))
          throw new CheckpointError('elsewhere', `the log has no such place: event ${checkpoint.at.count}`)
        const snapshots = [reducerOf(checkpoint), reducerOf(checkpoint)] as const
        since = checkpoint.at.count
        size = snapshotSize(checkpoint.snapshot)
        return { at: checkpoint.at, snapshots }
      } catch (error) {
        if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
        logger.warn({ part: 'checkpoint', file, error }, 'a checkpoint is of no use; the log is read from its start')
        return null
      }
    },
    offer(state) {
      if (isDue(Math.max(leastEvents, size))) write(state)
    },
    async close(state) {
      await writing
      if (isDue(leastEvents)) write(state)
      await writing
    },
  }
}

/** @throws CheckpointError for an image that does not hold together */
function reducerOf({ snapshot }: Checkpoint): RunReducer {
  try {
    return RunReducer.of(snapshot)
  } catch (cause) {
    if (cause instanceof CheckpointError) throw cause
    throw new CheckpointError('damaged', (cause as Error).message, { cause })
  }
}
