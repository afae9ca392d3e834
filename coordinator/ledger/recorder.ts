import { type EventLog, StoreError } from './event-log.js'
import type { RunEvent } from './events.js'
import { RunFold } from './run-fold.js'
import type { RunState } from './run-state.js'

/** The log and its fold, kept in step: state changes only through events that are on disk. */
export interface Recorder {
  readonly state: RunState
  /**
   * Appends what `decide` returns and applies it. Decisions are made one after the other, on the state in which their
   * event will be appended; `null` records nothing.
   */
  record<E extends RunEvent>(decide: (state: RunState) => E | null): Promise<E | null>
  /** Calls back after every further event is on disk and applied. @returns  stops that */
  listen(listener: (event: RunEvent) => void): () => void
  /** Rejects when the log takes no more events: nothing can happen in this run before it is started again. */
  readonly failure: Promise<never>
  close(): Promise<void>
}

/** @param onEvent  called after an event is on disk and applied */
export async function openRecorder(log: EventLog, onEvent: (event: RunEvent) => void): Promise<Recorder> {
  const state = new RunFold()
  for await (const event of log.replay()) state.apply(event)
  const listeners = new Set<(event: RunEvent) => void>([onEvent])
  let last: Promise<unknown> = Promise.resolve()
  let fail: (why: StoreError) => void
  const failure = new Promise<never>((_, reject) => {
    fail = reject
  })
  failure.catch(() => undefined)
  return {
    state,
    failure,
    record(decide) {
      const recorded = last.then(async () => {
        const event = decide(state)
        if (event === null) return null
        await log.append(event)
        state.apply(event)
        for (const hear of listeners) hear(event)
        return event
      })
      last = recorded.catch((error: unknown) => {
        if (error instanceof StoreError) fail(error)
      })
      return recorded
    },
    listen(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    async close() {
      await last
      await log.close()
    },
  }
}
