import { type LeaseResponse, LIMITS, type RefusalCode } from '../../proto/index.js'
import type { Clock } from '../../swarm/index.js'

/** Nodes that wait for work. */
export interface IdleNodes {
  /** Notes the answer to a request for leases. */
  answered(node: string, answer: Pick<LeaseResponse, 'leases' | 'reason'>): void
  /** Number of nodes that got no lease and would take one. */
  count(): number
}

/** Refusals that end with more capacity for leases or a further round. */
const WAITING: ReadonlySet<RefusalCode> = new Set([
  'no_work',
  'influence_cap',
  'too_many_leases',
  'rate_limited',
  'not_registered',
  'paused',
])
/** Time after which a node that has not asked counts as gone. Nodes wait for a shorter time without news. */
const GONE_MS = 120_000

export function createIdleNodes(clock: Pick<Clock, 'elapsedMs'>): IdleNodes {
  /** Times of the last requests, the earliest first. */
  const askedAt = new Map<string, number>()
  return {
    answered(node, { leases, reason }) {
      askedAt.delete(node)
      if (leases.length > 0 || reason === null || !WAITING.has(reason)) return
      askedAt.set(node, clock.elapsedMs())
      const [first] = askedAt.keys()
      if (askedAt.size > LIMITS.coordinatorConnections.value) askedAt.delete(first!)
    },
    count() {
      const now = clock.elapsedMs()
      for (const [node, atMs] of askedAt) {
        if (now - atMs <= GONE_MS) break
        askedAt.delete(node)
      }
      return askedAt.size
    },
  }
}
