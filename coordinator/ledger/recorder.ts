import type { LogHead } from '../../proto/index.js'
import type { Clock } from '../../swarm/index.js'
import { type EventLog, MOST_BEHIND } from './chained-log.js'
import type { Checkpoints } from './checkpoints.js'
import { parseEvent, type RunEvent } from './events.js'
import { RunReducer } from './run-reducer.js'
import type { RunState } from './run-state.js'
import { StoreError } from './store-error.js'
import { createWritePace } from './write-pace.js'

/** The log and the state computed from it. The state changes only through events that are on disk. */
export interface Recorder {
  readonly state: RunState
  /**
   * Appends the event that `decide` returns and applies it. Decisions are made one after the other, on the state to which their
   * event will be appended. That state may include events that are still being written. `null` records nothing.
   */
  record<E extends RunEvent>(decide: (state: RunState) => E | null): Promise<E | null>
  /** Calls back after every further event is on disk and applied. @returns  a function that unsubscribes */
  listen(listener: (event: RunEvent) => void): () => void
  /** Returns the head of the log, for signatures. */
  head(): LogHead
  /** Returns the head that the log had after its first `events` events, without verdicts; null: it never had as many. */
  headAt(events: number): Promise<Pick<LogHead, 'events' | 'logHash'> | null>
  /** Rejects when the log takes no more events. The run can only continue after a restart. */
  readonly failure: Promise<never>
  close(): Promise<void>
}

export interface RecorderOptions {
  /** Spaces the writes, see `WritePace`. Default: each write begins when the one before it has ended. */
  readonly clock?: Pick<Clock, 'elapsedMs' | 'after'>
  /** Writes snapshots of the state, so that a start need not read the whole log. */
  readonly checkpoints?: Checkpoints
}

/** A request to record an event. */
interface Waiting {
  readonly decide: (state: RunState) => RunEvent | null
  readonly done: PromiseWithResolvers<RunEvent | null>
}

/**
 * Opens a recorder. Requests that arrive during a write are decided when the write is over, and written together (group commit). A request
 * is answered only when its event is on disk. Decisions need the state with all earlier events, but readers must not see events that
 * are not on disk. So there are two reducers: one that includes the events being written, and one that readers see.
 *
 * @param onEvent  called after an event is on disk and applied
 * @throws StoreError of the log
 */
export async function openRecorder(
  log: EventLog,
  onEvent: (event: RunEvent) => void,
  { checkpoints, clock }: RecorderOptions = {},
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
  /** The error after which nothing is recorded any more, since `ahead` includes events that were not written. */
  let broken: { readonly why: unknown } | null = null
  let waiting: Waiting[] = []
  let working: Promise<void> | null = null

  /** @returns the event, which is applied to `ahead`; undefined: `decide` has thrown */
  const decideOn = ({ decide, done }: Waiting): RunEvent | null | undefined => {
    try {
      const event = decide(ahead)
      if (event === null) return null
      // An invalid event on disk would prevent every later start.
      if (!parseEvent(event)) throw new TypeError(`this event could not be read back: ${JSON.stringify(event)}`)
      ahead.apply(event)
      return event
    } catch (error) {
      done.reject(error)
      return undefined
    }
  }

  let closing = false
  const pace = clock && createWritePace(clock)

  const work = async (): Promise<void> => {
    while (waiting.length > 0) {
      if (!closing && waiting.length < MOST_BEHIND) await pace?.pause()
      const turn = waiting.slice(0, MOST_BEHIND)
      waiting = waiting.slice(MOST_BEHIND)
      const decided = turn.flatMap((one) => {
        const event = broken ? null : decideOn(one)
        return event === undefined ? [] : [{ event, done: one.done }]
      })
      try {
        if (broken) throw broken.why
        const events = decided.flatMap(({ event }) => event ?? [])
        if (events.length > 0) {
          pace?.note(events.length)
          await log.append(...events)
        }
      } catch (why) {
        broken ??= { why }
        for (const { done } of decided) done.reject(why)
        if (why instanceof StoreError) failure.reject(why)
        continue
      }
      // Requests without an event resolve only when the events that they were decided on are visible.
      for (const { event, done } of decided) {
        if (event !== null) {
          state.apply(event)
          for (const notify of listeners) notify(event)
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
      if (waiting.push({ decide, done }) >= MOST_BEHIND) pace?.endPause()
      // Not synchronously: a listener may record an event before other listeners got the current one.
      working ??= Promise.resolve().then(work)
      return done.promise as Promise<E | null>
    },
    head() {
      const { count, hash } = log.end
      return { events: count, logHash: hash, ...state.verdictTrees.head() }
    },
    async headAt(events) {
      const place = await log.headAt(events)
      return place && { events: place.count, logHash: place.hash }
    },
    listen(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    async close() {
      closing = true
      pace?.endPause()
      await working
      await checkpoints?.close(state)
      await log.close()
    },
  }
}
