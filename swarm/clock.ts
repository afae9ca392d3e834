import { setTimeout as sleep } from 'node:timers/promises'

/** The only source of time and of waiting: whoever replaces it replaces all of both. */
export interface Clock {
  /** Milliseconds since 1970. May jump, forwards and backwards; waiting does not follow it. */
  now(): number
  /** Milliseconds since some instant, the same for as long as the process lives. Never jumps: by it is measured what has passed. */
  elapsedMs(): number
  /** @throws the signal's reason when that fires first */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
  /** Fires after that time, with a `TimeoutError` as `AbortSignal.timeout` has it. */
  timeout(ms: number): AbortSignal
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
}
