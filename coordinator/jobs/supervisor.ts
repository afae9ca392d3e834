import { setTimeout as sleep } from 'node:timers/promises'
import { TrainerError } from './errors.js'

/** How one life of what is supervised ended. */
export interface Ending {
  /** null: a signal ended it. */
  readonly code: number | null
  /** The last line it wrote to stderr. */
  readonly lastWords: string
  readonly lastedMs: number
}

export interface SupervisorOptions<E extends Ending> {
  /** One life, to its end; on the signal it is to end. @throws TrainerError when no other life can fare better */
  readonly live: (closing: AbortSignal) => Promise<E>
  /** Until the next life, after one that ended unasked. */
  readonly pauseMs: (ending: E) => number
  /** It ended, and nobody had asked it to. It is started again when this resolves. @throws TrainerError to give it up */
  readonly onEnd: (ending: E) => Promise<void> | void
  /** There will be no further life: it was given up or, with the code `closed`, closed. */
  readonly onOver?: (failure: TrainerError) => void
}

/** What is kept alive; what its deaths mean is its owner's. */
export interface Supervised {
  /** Starts it, once. */
  start(): void
  /** Why there will be no further life, once that is so. */
  readonly failure: TrainerError | null
  /** Asks it to end, and resolves when it is gone. */
  close(): Promise<void>
}

/** Lets something live again after a pause whenever it ends, until it is closed or its owner gives it up. */
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
