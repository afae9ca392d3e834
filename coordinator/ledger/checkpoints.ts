import type { SwarmLogger } from '../../swarm/index.js'
import type { ChainedLog } from './chained-log.js'
import { type Checkpoint, readCheckpoint, writeCheckpoint } from './checkpoint-file.js'
import type { LogHead } from './log-chain.js'
import { RunReducer } from './run-reducer.js'
import { CheckpointError, snapshotSize } from './state-snapshot.js'

/**
 * Events after which the state is written again. A start reads that many events in half a second. A larger state is written after as
 * many events as it has entries, so that writing takes a bounded share of the coordinator's time.
 */
const LEAST_EVENTS = 10_000

/**
 * Snapshots of the run state on disk, so that a start only reads the newest snapshot and the events after it. The log is the only
 * truth: a checkpoint that is damaged, of another log, or of another program version is ignored, which only costs time.
 */
export interface Checkpoints {
  /** Reads the newest checkpoint; null: it cannot be used, and the reason is logged. */
  read(): Promise<KeptSnapshots | null>
  /** Writes the state of the end of the log in the background, if enough events have happened. Never throws. */
  offer(state: RunReducer): void
  /** Waits for the write in progress, and writes the last state if a start would have many events to read. */
  close(state: RunReducer): Promise<void>
}

export interface KeptSnapshots {
  readonly at: LogHead
  /** Two equal, independent states. */
  readonly snapshots: readonly [RunReducer, RunReducer]
}

export interface CheckpointParts {
  readonly file: string
  readonly log: Pick<ChainedLog, 'end' | 'has'>
  readonly logger: Pick<SwarmLogger, 'info' | 'warn'>
  readonly leastEvents?: number
}

export function openCheckpoints({ file, log, logger, leastEvents = LEAST_EVENTS }: CheckpointParts): Checkpoints {
  /** Number of events before the newest checkpoint, or before the last attempt to write one. */
  let since = 0
  /** Number of entries of the newest checkpoint. */
  let size = 0
  let writing: Promise<void> | null = null

  const write = (state: RunReducer): void => {
    const checkpoint = { at: log.end, snapshot: state.snapshot }
    since = checkpoint.at.count
    size = snapshotSize(checkpoint.snapshot)
    writing = writeCheckpoint(file, checkpoint)
      .catch((error: unknown) => {
        logger.warn(
          { part: 'checkpoint', file, error },
          'the checkpoint could not be written; the next start takes longer',
        )
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
          throw new CheckpointError('elsewhere', `event ${checkpoint.at.count} of the log is another one`)
        const snapshots = [reducerOf(checkpoint), reducerOf(checkpoint)] as const
        since = checkpoint.at.count
        size = snapshotSize(checkpoint.snapshot)
        return { at: checkpoint.at, snapshots }
      } catch (error) {
        if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
        logger.warn(
          { part: 'checkpoint', file, error },
          'the checkpoint cannot be used; the log is read from its start',
        )
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

/** @throws CheckpointError for an inconsistent snapshot */
function reducerOf({ snapshot }: Checkpoint): RunReducer {
  try {
    return RunReducer.of(snapshot)
  } catch (cause) {
    if (cause instanceof CheckpointError) throw cause
    throw new CheckpointError('damaged', (cause as Error).message, { cause })
  }
}
