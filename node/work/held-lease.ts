import type { Lease, LeaseRequest, ReturnReason } from '../../proto/index.js'
import { type Clock, requestLeases, type SwarmHost } from '../../swarm/index.js'

/** Where a lease comes from. */
export interface LeaseSource {
  readonly host: SwarmHost
  readonly coordinator: string
}

const REQUEST_TIMEOUT_MS = 15_000
const RETURN_TIMEOUT_MS = 2000

/** Between two renewals of a lease. */
const SHORTEST_RENEWAL_MS = 5000
const LONGEST_RENEWAL_MS = 60_000

/** The signal, or the end of the time that the coordinator has for an answer. */
export const within = (clock: Clock, signal: AbortSignal): AbortSignal =>
  AbortSignal.any([signal, clock.timeout(REQUEST_TIMEOUT_MS)])

/** A courtesy: without it the coordinator waits for the deadline. */
export async function giveBack(
  { leaseId }: Lease,
  reason: ReturnReason,
  { host, coordinator }: LeaseSource,
): Promise<void> {
  const request: LeaseRequest = { kind: 'return', leaseIds: [leaseId], reason }
  await requestLeases(host, coordinator, request, host.clock.timeout(RETURN_TIMEOUT_MS)).catch((error: unknown) =>
    host.logger.child({ part: 'leases' }).debug({ error }, 'the lease could not be given back'),
  )
}

/**
 * Tells the coordinator that a lease is still worked on, each time half of what is left of it is over, until the signal fires.
 * @param onLost  called when the coordinator says that the node does not hold it any more; then this is over, too
 */
export async function keepLease(
  lease: Lease,
  { host, coordinator }: LeaseSource,
  signal: AbortSignal,
  onLost: () => void,
): Promise<void> {
  const { leaseId } = lease
  let { deadlineMs } = lease
  for (;;) {
    // The deadline is by the coordinator's clock, and ours may be far from it.
    const halfMs = Math.min(LONGEST_RENEWAL_MS, Math.max(SHORTEST_RENEWAL_MS, (deadlineMs - host.clock.now()) / 2))
    try {
      await host.clock.sleep(halfMs, signal)
      const request: LeaseRequest = { kind: 'renew', leaseIds: [leaseId] }
      const { renewed } = await requestLeases(host, coordinator, request, within(host.clock, signal))
      const held = renewed.find((one) => one.leaseId === leaseId)
      if (!held) return onLost()
      ;({ deadlineMs } = held)
    } catch (error) {
      if (signal.aborted) return
      host.logger.child({ part: 'leases' }).debug({ lease: leaseId, error }, 'a lease could not be renewed yet')
    }
  }
}
