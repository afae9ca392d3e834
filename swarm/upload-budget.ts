import type { Pace } from './byte-stream.js'
import type { Clock } from './clock.js'

/** A bound on what a node sends for others, shared by everything it serves. */
export interface UploadBudget extends Pace {
  /** Whether a new transfer would have to wait so long that the other side had better ask elsewhere. */
  readonly spent: boolean
}

const LIMITED_SLICE_BYTES = 32 * 1024
const SPENT_AFTER_MS = 2000

/** @param bytesPerSecond  `Infinity` for no limit */
export function createUploadBudget(clock: Clock, bytesPerSecond: number): UploadBudget {
  if (!(bytesPerSecond > 0)) throw new RangeError(`an upload limit of ${bytesPerSecond} B/s`)
  if (bytesPerSecond === Number.POSITIVE_INFINITY) return { sliceBytes: 256 * 1024, spent: false, take: async () => {} }
  /** When everything that was granted so far will have been sent. */
  let freeAtMs = clock.now()
  return {
    sliceBytes: LIMITED_SLICE_BYTES,
    get spent() {
      return freeAtMs - clock.now() > SPENT_AFTER_MS
    },
    async take(bytes, signal) {
      const nowMs = clock.now()
      const startMs = Math.max(freeAtMs, nowMs)
      freeAtMs = startMs + (bytes / bytesPerSecond) * 1000
      if (startMs > nowMs) await clock.sleep(startMs - nowMs, signal)
    },
  }
}
