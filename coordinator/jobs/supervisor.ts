import { setTimeout as sleep } from 'node:timers/promises'
import { TrainerError } from './errors.js'

/** End of one life of a supervised process. */
export interface Ending {
  /** null: a signal ended it. */
  readonly code: number | null
  /** Last line of stderr. */
  readonly lastWords: string
  readonly lastedMs: number
}

export interface SupervisorOptions<E extends Ending> {
  /** Runs one life to its end, and ends it on the signal. @throws TrainerError when another life would fail too */
  readonly live: (closing: AbortSignal) => Promise<E>
  /** Returns the pause (ms) before the next life, after one that ended without being asked. */
  readonly pauseMs: (ending: E) => number
  /** Called when a life ended without being asked. The next one starts when this resolves. @throws TrainerError to give up */
  readonly onEnd: (ending: E) => Promise<void> | void
  /** Called when there will be no further life: given up or, with the code `closed`, closed. */
  readonly onOver?: (failure: TrainerError) => void
}

/** A supervised process. */
export interface Supervised {
  /** Starts it, unless it was started already. */
  start(): void
  /** Why there will be no further life; null: there may be one. */
  readonly failure: TrainerError | null
  /** Asks it to end, and resolves when it has ended. */
  close(): Promise<void>
}

/** Restarts a process after a pause whenever it ends, until it is closed or given up. */
export function supervise<E extends Ending>({ live, pauseMs, onEnd, onOver }: SupervisorOptions<E>): Supervised {
  const closing = new AbortController()
  let running: Promise<void> | null = null
  let failure: TrainerError | null = null

  const run = async (): Promise<void> => {
    try {
      while (!closing.signal.aborted) {
        const ending = await live(closing.signal)
        if (closing.signal.aborted) break
        await onEnd(ending)
        await sleep(pauseMs(ending), undefined, { signal: closing.signal }).catch(() => undefined)
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
      running ??= run()
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
