import { LRUCache } from 'lru-cache'
import { LIMITS } from '../proto/index.js'
import type { Clock } from './clock.js'

/** Token buckets, one per key. Of too many keys the longest unused are forgotten, so a flood of keys costs no memory. */
export interface RateLimit {
  /** Takes one from the key's bucket. @returns  false when it is empty */
  allow(key: string): boolean
}

/**
 * @param perMinute  refill
 * @param burst      most that may come at once
 */
export function createRateLimit(
  clock: Pick<Clock, 'now'>,
  perMinute: number,
  burst = Math.max(1, Math.ceil(perMinute / 4)),
): RateLimit {
  const buckets = new LRUCache<string, { left: number; atMs: number }>({ max: LIMITS.trackedPeers.value })
  return {
    allow(key) {
      const nowMs = clock.now()
      const bucket = buckets.get(key) ?? { left: burst, atMs: nowMs }
      // A clock that jumps back must not freeze the bucket.
      const elapsedMs = Math.max(0, nowMs - bucket.atMs)
      const left = Math.min(burst, bucket.left + (elapsedMs * perMinute) / 60_000)
      const allowed = left >= 1
      buckets.set(key, { left: allowed ? left - 1 : left, atMs: nowMs })
      return allowed
    },
  }
}
