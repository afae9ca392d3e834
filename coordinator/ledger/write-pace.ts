import type { Clock } from '../../swarm/index.js'

/** Spaces the writes of the log. A write costs the same for many events as for one, so a busy run writes together what happens in a pause. */
export interface WritePace {
  /** Waits until the next write may begin. */
  pause(): Promise<void>
  /** Ends the current pause at once. */
  endPause(): void
  /** Notes that a write of this number of events begins. */
  note(events: number): void
}

/** Longest time between the beginnings of two writes. A run with few recent events waits for a millisecond for each. */
export const LONGEST_PAUSE_MS = 100
/** Time in which an event loses half of its weight in the count of recent events. */
const HALF_LIFE_MS = 1000

export function createWritePace(clock: Pick<Clock, 'elapsedMs' | 'after'>): WritePace {
  let wroteAtMs = Number.NEGATIVE_INFINITY
  let recentEvents = 0
  let endPause = (): void => undefined
  return {
    async pause() {
      const restMs = wroteAtMs + Math.min(LONGEST_PAUSE_MS, recentEvents) - clock.elapsedMs()
      if (restMs <= 0) return
      const { promise, resolve } = Promise.withResolvers<void>()
      const cancel = clock.after(restMs, resolve)
      endPause = () => {
        cancel()
        resolve()
      }
      await promise
    },
    endPause: () => endPause(),
    note(events) {
      const nowMs = clock.elapsedMs()
      recentEvents = recentEvents * 0.5 ** ((nowMs - wroteAtMs) / HALF_LIFE_MS) + events
      wroteAtMs = nowMs
    },
  }
}
