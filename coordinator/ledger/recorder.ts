import { type EventLog, MOST_BEHIND } from './chained-log.js'
import type { Checkpoints } from './checkpoints.js'
import { parseEvent, type RunEvent } from './events.js'
import { RunReducer } from './run-reducer.js'
import type { RunState } from './run-state.js'
import { StoreError } from './store-error.js'

/** The log and its fold, kept in step: state changes only through events that are on disk. */
export interface Recorder {
  readonly state: RunState
  /**
   * Appends what `decide` returns and applies it. Decisions are made one after the other, on the state in which their
   * event will be appended: that may hold events which are on their way to the disk. `null` records nothing.
   */
  record<E extends RunEvent>(decide: (state: RunState) => E | null): Promise<E | null>
  /** Calls back after every further event is on disk and applied. @returns  stops that */
  listen(listener: (event: RunEvent) => void): () => void
  /** Rejects when the log takes no more events: nothing can happen in this run before it is started again. */
  readonly failure: Promise<never>
  close(): Promise<void>
}

export interface RecorderOptions {
  /** Where the state is written now and then, so that a start need not read the whole log. */
  readonly checkpoints?: Checkpoints
}

/** Somebody who waits for an event to be on record. */
interface Waiting {
  readonly decide: (state: RunState) => RunEvent | null
  readonly done: PromiseWithResolvers<RunEvent | null>
}

/**
 * Whoever comes while a write is under way is decided on when it is over, and written with all others who came: a synced write
 * takes as long for many events as for one. Decisions need the state with the events before them, and nobody else may see what
 * is not on disk, so there are two folds: one that is ahead by the events being written, and the one that is shown.
 *
 * @param onEvent  called after an event is on disk and applied
 * @throws StoreError of the log
 */
export async function openRecorder(
  log: EventLog,
  onEvent: (event: RunEvent) => void,
  { checkpoints }: RecorderOptions = {},
): Promise<Recorder> {
  const kept = await checkpoints?.read()
  const [state, ahead] = kept?.snapshots ?? [new RunReducer(), new RunReducer()]
  for await (const event of log.replay(kept?.at)) {
    state.apply(event)
    ahead.apply(event)
  }
  checkpoints?.offer(state)
  const listeners = new Set<(event: RunEvent) => void>([onEvent])
  const failure = Promise.withResolvers<never>()
  failure.promise.catch(() => undefined)
  /** Why nothing is recorded any more: what could not be written is in the fold ahead all the same. */
  let broken: { readonly why: unknown } | null = null
  let waiting: Waiting[] = []
  let working: Promise<void> | null = null

  /** @returns the event, which the fold ahead has then */
  const decideOn = ({ decide, done }: Waiting): RunEvent | null | undefined => {
    try {
      const event = decide(ahead)
      if (event === null) return null
      // Once on disk it would keep the run from ever starting again.
      if (!parseEvent(event)) throw new TypeError(`an event that could not be read back: ${JSON.stringify(event)}`)
      ahead.apply(event)
      return event
    } catch (error) {
      done.reject(error)
      return undefined
    }
  }

  const work = async (): Promise<void> => {
    while (waiting.length > 0) {
      const turn = waiting.slice(0, MOST_BEHIND)
      waiting = waiting.slice(MOST_BEHIND)
      const decided = turn.flatMap((one) => {
        const event = broken ? null : decideOn(one)
        return event === undefined ? [] : [{ event, done: one.done }]
      })
      try {
        if (broken) throw broken.why
        const events = decided.flatMap(({ event }) => event ?? [])
        if (events.length > 0) await log.append(...events)
      } catch (why) {
        broken ??= { why }
        for (const { done } of decided) done.reject(why)
        if (why instanceof StoreError) failure.reject(why)
        continue
      }
      // Whoever asked for nothing new may go on only when what made it so is there for all to see.
      for (const { event, done } of decided) {
        if (event !== null) {
          state.apply(event)
          for (const hear of listeners) hear(event)
        }
        done.resolve(event)
      }
      checkpoints?.offer(state)
    }
    working = null
  }

  return {
    state,
    failure: failure.promise,
    record<E extends RunEvent>(decide: (state: RunState) => E | null): Promise<E | null> {
      const done = Promise.withResolvers<RunEvent | null>()
      waiting.push({ decide, done })
      // Not within this call: a listener may record something while others have not heard of the event.
      working ??= Promise.resolve().then(work)
      return done.promise as Promise<E | null>
    },
    listen(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    async close() {
      await working
      await checkpoints?.close(state)
      await log.close()
    },
  }
}
