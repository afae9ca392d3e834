import { LRUCache } from 'lru-cache'
import { LIMITS } from '../proto/index.js'
import type { Clock } from './clock.js'

/** Token buckets, one per key. Of too many keys the longest unused are forgotten, so a flood of keys costs no memory. */
export interface RateLimit {
  /** Takes one from the key's bucket. @returns  false when it is empty */
  allow(key: string): boolean
  /** Whether it would. */
  has(key: string): boolean
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
  const left = (key: string): number => {
    const bucket = buckets.get(key)
    if (!bucket) return burst
    // A clock that jumps back must not freeze the bucket.
    const elapsedMs = Math.max(0, clock.now() - bucket.atMs)
    return Math.min(burst, bucket.left + (elapsedMs * perMinute) / 60_000)
  }
  return {
    allow(key) {
      const before = left(key)
      buckets.set(key, { left: before >= 1 ? before - 1 : before, atMs: clock.now() })
      return before >= 1
    },
    has: (key) => left(key) >= 1,
  }
}
