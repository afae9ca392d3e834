import type { Lease, LeaseRequest, ReturnReason } from '../../proto/index.js'
import { type Clock, requestLeases, type SwarmHost } from '../../swarm/index.js'

/** The source of a lease. */
export interface LeaseSource {
  readonly host: SwarmHost
  readonly coordinator: string
}

const REQUEST_TIMEOUT_MS = 15_000
const RETURN_TIMEOUT_MS = 2000

/**
 * Bounds on the interval between two renewals of a lease. The longest one is half of a usual lease, so a node whose clock is slow still
 * renews in time. With shorter intervals, half of the coordinator's messages would be renewals.
 */
const SHORTEST_RENEWAL_MS = 5000
const LONGEST_RENEWAL_MS = 90_000

/** A wait that takes so much longer than asked for was a sleep of the machine or of the process: a busy machine delays it by seconds. */
const SLEEP_MS = 20_000

/** Starts to measure time. The monotonic clock stands still while some machines sleep, so the longer time of both clocks counts. */
function startStopWatch(clock: Clock): () => number {
  const [now, elapsedMs] = [clock.now(), clock.elapsedMs()]
  return () => Math.max(clock.now() - now, clock.elapsedMs() - elapsedMs)
}

/** Adds the time limit of a request to a signal. */
export const within = (clock: Clock, signal: AbortSignal): AbortSignal =>
  AbortSignal.any([signal, clock.timeout(REQUEST_TIMEOUT_MS)])

/** Returns a lease to the coordinator, which otherwise waits for the deadline. A failure is ignored. */
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
 * Renews a lease each time half of its remaining time has passed, until the signal fires.
 * @param onLost  called when the coordinator no longer has this lease for the node, which also ends the renewals. `hasSlept`: the machine
 *                did not run for a part of the lease, so that the node could not renew it
 */
export async function keepLease(
  lease: Lease,
  { host, coordinator }: LeaseSource,
  signal: AbortSignal,
  onLost: (hasSlept: boolean) => void,
): Promise<void> {
  const { leaseId } = lease
  let { deadlineMs } = lease
  let hasSlept = false
  for (;;) {
    // The deadline is by the coordinator's clock, which may differ from this one.
    const halfMs = Math.min(LONGEST_RENEWAL_MS, Math.max(SHORTEST_RENEWAL_MS, (deadlineMs - host.clock.now()) / 2))
    const stopWatch = startStopWatch(host.clock)
    try {
      await host.clock.sleep(halfMs, signal)
      hasSlept ||= stopWatch() > halfMs + SLEEP_MS
      const request: LeaseRequest = { kind: 'renew', leaseIds: [leaseId] }
      const { renewed } = await requestLeases(host, coordinator, request, within(host.clock, signal))
      const kept = renewed.find((one) => one.leaseId === leaseId)
      if (!kept) return onLost(hasSlept)
      ;({ deadlineMs } = kept)
    } catch (error) {
      if (signal.aborted) return
      host.logger.child({ part: 'leases' }).debug({ lease: leaseId, error }, 'a lease could not be renewed yet')
    }
  }
}
