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
  'paused',
])
/** A node that has not asked for so long has gone: the longest that it waits without news is less. */
const GONE_MS = 120_000

export function createIdleNodes(clock: Pick<Clock, 'elapsedMs'>): IdleNodes {
  /** Whoever has not asked for longest comes first. */
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
