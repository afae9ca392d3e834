import type { Pace } from './byte-stream.js'
import type { Clock } from './clock.js'

/** A bound on what a node sends for others, shared by everything it serves. */
export interface UploadBudget extends Pace {
  /** Whether a new transfer would have to wait so long that the other side had better ask elsewhere. */
  readonly spent: boolean
}

/** What may be moved in a second, both ways, by the wish of whoever owns the machine. */
export interface Bandwidth {
  /** In B/s, asked each time, `Infinity` for no limit. */
  readonly upload?: () => number
  /** In B/s, as above. What is fetched comes in pieces of 1 MiB, so it is kept to on average. */
  readonly download?: () => number
}

const LIMITED_SLICE_BYTES = 32 * 1024
const FREE_SLICE_BYTES = 256 * 1024
const SPENT_AFTER_MS = 2000

/** @param rate  bytes per second, asked each time; `Infinity` for no limit */
export function createUploadBudget(clock: Clock, rate: () => number): UploadBudget {
  const bytesPerSecond = (): number => {
    const found = rate()
    if (!(found > 0)) throw new RangeError(`a limit of ${found} B/s`)
    return found
  }
  bytesPerSecond()
  /** When everything that was granted so far will have been sent. */
  let freeAtMs = clock.elapsedMs()
  return {
    get sliceBytes() {
      return bytesPerSecond() === Number.POSITIVE_INFINITY ? FREE_SLICE_BYTES : LIMITED_SLICE_BYTES
    },
    get spent() {
      return freeAtMs - clock.elapsedMs() > SPENT_AFTER_MS
    },
    async take(bytes, signal) {
      const nowMs = clock.elapsedMs()
      const startMs = Math.max(freeAtMs, nowMs)
      freeAtMs = startMs + (bytes / bytesPerSecond()) * 1000
      if (startMs > nowMs) await clock.sleep(startMs - nowMs, signal)
    },
  }
}
