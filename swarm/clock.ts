import { setTimeout as sleep } from 'node:timers/promises'

/** The only source of time and of waiting. A simulation replaces it as a whole. */
export interface Clock {
  /** Milliseconds since 1970. May jump forwards and backwards, which does not affect waiting. */
  now(): number
  /** Milliseconds since a fixed instant of this process. Never jumps, so durations are measured with it. */
  elapsedMs(): number
  /** Waits. @throws the signal's reason if the signal fires first */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
  /** Returns a signal that fires after this time with a `TimeoutError`, like `AbortSignal.timeout`. */
  timeout(ms: number): AbortSignal
  /** Calls back once, after this time. Costs a tenth of a `sleep` that is aborted. @returns  cancels */
  after(ms: number, action: () => void): () => void
}

export const systemClock: Clock = {
  now: () => Date.now(),
  elapsedMs: () => performance.now(),
  async sleep(ms, signal) {
    try {
      await sleep(ms, undefined, { signal })
    } catch (why) {
      signal?.throwIfAborted()
      throw why
    }
  },
  timeout: (ms) => AbortSignal.timeout(ms),
  after(ms, action) {
    const timer = setTimeout(action, ms)
    return () => clearTimeout(timer)
  },
}
