import { LRUCache } from 'lru-cache'
import { type LeaseResponse, LIMITS, type RefusalCode } from '../../proto/index.js'
import type { Clock } from '../../swarm/index.js'

/** Nodes that wait for work, as far as the coordinator knows. */
export interface IdleNodes {
  /** Takes note of how a question for leases was answered. */
  answered(node: string, answer: Pick<LeaseResponse, 'leases' | 'reason'>): void
  /** How many were sent away without a lease and would take one. */
  count(): number
}

/** Refusals that room for leases or a further round can end. */
const WAITING: ReadonlySet<RefusalCode> = new Set([
  'no_work',
  'influence_cap',
  'too_many_leases',
  'rate_limited',
  'not_registered',
])
/** A node that has not asked for so long has gone: the longest that it waits without news is less. */
const GONE_MS = 120_000

export function createIdleNodes(clock: Pick<Clock, 'now'>): IdleNodes {
  const askedAt = new LRUCache<string, number>({ max: LIMITS.trackedPeers.value })
  return {
    answered(node, { leases, reason }) {
      if (leases.length === 0 && reason !== null && WAITING.has(reason)) askedAt.set(node, clock.now())
      else askedAt.delete(node)
    },
    count() {
      const now = clock.now()
      // One that seems to have asked in the future did so before the clock was set back.
      for (const [node, atMs] of [...askedAt]) if (atMs > now || now - atMs > GONE_MS) askedAt.delete(node)
      return askedAt.size
    },
  }
}
