import type { DeliveryRate } from '../ledger/delivery-rate.js'
import type { LeaseRecord } from '../ledger/run-state.js'

/** A lease lasts no longer than this many times its duration, however often it is renewed. */
export const LONGEST_DURATIONS = 4
/** Groups differ: some take this many times as long as a usual one. */
const SLACK = 1.5
/** With fewer groups, one delay, by the connection or a pause, could make a node look too slow. */
const SURE_GROUPS = 4
/** An older measurement is not used: the machine may have been busy with something else. */
const RATE_KEPT_MS = 6 * 3_600_000

export interface Speed {
  /** Measured by the node's deliveries; null: it has delivered nothing. */
  readonly deliveryRate: DeliveryRate | null
  /** Reported by the node; 0: not reported. */
  readonly reportedTokensPerSecond: number
}

/** Time that a usual group of the run takes a node. */
export interface GroupTime {
  readonly ms: number
  /** Whether the time was measured, not reported by the node. */
  readonly isProven: boolean
  /** Whether the coordinator may refuse work because of it. */
  readonly isSure: boolean
}

/**
 * Estimates how long a usual group takes a node. A measured speed takes precedence over a reported one. A node that reports too
 * high a speed is treated like one that reports none. A node that reports too low a speed gets less work.
 * @param usualTokens  tokens that a usual group samples; null: unknown
 * @returns null: unknown
 */
export function groupTime(
  usualTokens: number | null,
  { deliveryRate, reportedTokensPerSecond }: Speed,
  nowMs: number,
): GroupTime | null {
  if (usualTokens === null) return null
  if (deliveryRate && nowMs - deliveryRate.atMs < RATE_KEPT_MS) {
    const ms = (usualTokens * deliveryRate.ms) / deliveryRate.tokens
    return { ms, isProven: true, isSure: deliveryRate.groups >= SURE_GROUPS }
  }
  const ms = (1000 * usualTokens) / reportedTokensPerSecond
  return reportedTokensPerSecond > 0 ? { ms, isProven: false, isSure: true } : null
}

/**
 * Whether a node would finish a further group before its lease reaches its longest duration, after the groups that it has.
 * @param held  open leases of the node
 * @param longestMs  longest duration of a lease, with renewals
 * @returns `too_slow`: the node could not finish a single group
 */
export function fitOf(
  held: Iterable<Pick<LeaseRecord, 'atMs'>>,
  { ms, isSure }: GroupTime,
  longestMs: number,
  nowMs: number,
): 'fits' | 'too_many_leases' | 'too_slow' {
  if (ms > longestMs && isSure) return 'too_slow'
  let leftMs = ms
  // A group that was leased long enough ago is finished and waits for its verdict.
  for (const { atMs } of held) leftMs += Math.max(0, ms - Math.max(0, nowMs - atMs))
  return leftMs > longestMs && leftMs > ms ? 'too_many_leases' : 'fits'
}

/**
 * Returns how long (ms) a lease lasts before it has to be renewed. It is longer for a node that has proved to need longer, so
 * that the node depends on its connection less often. Other leases do not wait for such a lease (`OpenLeases`). A node that
 * abandons one counts as doubtful afterwards.
 */
export function firstTermMs(durationMs: number, time: GroupTime | null): number {
  if (!time?.isProven) return durationMs
  return Math.min(LONGEST_DURATIONS * durationMs, Math.max(durationMs, Math.ceil(SLACK * time.ms)))
}

const minutes = (ms: number): string => (ms < 90_000 ? `${Math.ceil(ms / 1000)} s` : `${Math.ceil(ms / 60_000)} min`)

/** Returns the detail of a refusal as `too_slow`, for the owner of the machine. */
export function tooSlowLine(usualTokens: number, { ms }: GroupTime, longestMs: number): string {
  return `a usual group samples ${Math.round(usualTokens)} tokens, which take this node ${minutes(ms)}, and a lease lasts at most ${minutes(longestMs)}. The node can serve adapters (all of them with --mirror), verify its groups (prove-node verify-group), or join a run of a smaller model`
}
