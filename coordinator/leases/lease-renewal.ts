import type { EventOf } from '../ledger/events.js'
import type { RunState } from '../ledger/run-state.js'
import type { FirstLeases } from './first-leases.js'
import { exemptLeases } from './lease-admission.js'
import { LONGEST_DURATIONS } from './lease-fit.js'
import { keepsPlace } from './unproven-capacity.js'

/** Smallest part of the duration by which a renewal moves a deadline. Each renewal is a permanent record. */
const LEAST_EXTENSION = 1 / 4

/**
 * Returns the renewal of a lease that `node` still works on; null: the lease keeps its deadline. Without renewals, a slow node
 * would begin the same lease again and again. A lease that is too stale to be trained on is not renewed.
 */
export function renewalOf(
  state: RunState,
  node: string,
  leaseId: string,
  { firstLeases, nowMs }: { readonly firstLeases: FirstLeases; readonly nowMs: number },
): EventOf<'renewed'> | null {
  const lease = state.openLeases.get(leaseId)
  if (lease?.node !== node || lease.deadlineMs <= nowMs) return null
  const { configuration } = state.roundOf(lease)
  if (state.current!.version - lease.version > configuration.maxStaleness) return null
  const isExcluded = state.orders.banned.has(node) || state.nodes.get(node)?.reputation.isQuarantined(nowMs)
  if (isExcluded || !keepsPlace(state, configuration, lease, exemptLeases(firstLeases, state))) return null
  const { durationMs } = configuration.leases
  const deadlineMs = Math.min(nowMs + durationMs, lease.atMs + LONGEST_DURATIONS * durationMs)
  const isLater = deadlineMs - lease.deadlineMs >= LEAST_EXTENSION * durationMs
  return isLater ? { type: 'renewed', atMs: nowMs, leaseId, deadlineMs } : null
}
