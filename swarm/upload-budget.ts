import type { Pace } from './byte-stream.js'
import type { Clock } from './clock.js'

/** A limit on the bytes that a node sends to peers, shared by all of its services. */
export interface UploadBudget extends Pace {
  /** Counts bytes that are sent without waiting. Later transfers wait for them. */
  count(bytes: number): void
  /** Whether a new transfer would wait so long that the peer should ask another node. */
  readonly spent: boolean
}

/** Rate limits in both directions, as the machine's owner has set them. */
export interface Bandwidth {
  /** Returns B/s, called each time; `Infinity`: no limit. */
  readonly upload?: () => number
  /** Returns B/s, as above. Fetches arrive in chunks of 1 MiB, so the limit applies on average. */
  readonly download?: () => number
}

const LIMITED_SLICE_BYTES = 32 * 1024
const FREE_SLICE_BYTES = 256 * 1024
const SPENT_AFTER_MS = 2000

/** Creates a budget. @param rate  returns bytes per second, called each time; `Infinity`: no limit */
export function createUploadBudget(clock: Pick<Clock, 'elapsedMs' | 'sleep'>, rate: () => number): UploadBudget {
  const bytesPerSecond = (): number => {
    const found = rate()
    if (!(found > 0)) throw new RangeError(`a limit of ${found} B/s`)
    return found
  }
  bytesPerSecond()
  /** When all bytes granted so far will have been sent. */
  let freeAtMs = clock.elapsedMs()
  /** @returns  time (ms) until the bytes may be sent */
  const reserve = (bytes: number): number => {
    const nowMs = clock.elapsedMs()
    const startMs = Math.max(freeAtMs, nowMs)
    freeAtMs = startMs + (bytes / bytesPerSecond()) * 1000
    return startMs - nowMs
  }
  return {
    get sliceBytes() {
      return bytesPerSecond() === Number.POSITIVE_INFINITY ? FREE_SLICE_BYTES : LIMITED_SLICE_BYTES
    },
    get spent() {
      return freeAtMs - clock.elapsedMs() > SPENT_AFTER_MS
    },
    count: (bytes) => void reserve(bytes),
    async take(bytes, signal) {
      const waitMs = reserve(bytes)
      if (waitMs > 0) await clock.sleep(waitMs, signal)
    },
  }
}
