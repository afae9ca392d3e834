import { LRUCache } from 'lru-cache'
import { LIMITS } from '../proto/index.js'
import type { Clock } from './clock.js'

/** Token buckets, one per key. It forgets the keys unused for longest, so a flood of keys costs no memory. */
export interface RateLimit {
  /** Takes one token from the key's bucket. @returns  false if the bucket is empty */
  allow(key: string): boolean
  /** Tests whether the key's bucket has a token. */
  has(key: string): boolean
}

/**
 * Creates a rate limit.
 * @param perMinute  tokens added per minute
 * @param burst      size of a bucket
 */
export function createRateLimit(
  clock: Pick<Clock, 'elapsedMs'>,
  perMinute: number,
  burst = Math.max(1, Math.ceil(perMinute / 4)),
): RateLimit {
  const buckets = new LRUCache<string, { left: number; atMs: number }>({ max: LIMITS.trackedPeers.value })
  const left = (key: string): number => {
    const bucket = buckets.get(key)
    if (!bucket) return burst
    return Math.min(burst, bucket.left + ((clock.elapsedMs() - bucket.atMs) * perMinute) / 60_000)
  }
  return {
    allow(key) {
      const before = left(key)
      buckets.set(key, { left: before >= 1 ? before - 1 : before, atMs: clock.elapsedMs() })
      return before >= 1
    },
    has: (key) => left(key) >= 1,
  }
}
