import type { DeliveryRate } from '../ledger/delivery-rate.js'
import type { LeaseRecord } from '../ledger/run-state.js'

/** A lease lasts no longer than this many times its duration, however often it is renewed. */
export const LONGEST_DURATIONS = 4
/** Groups differ: some take so many times what a usual one does. */
const SLACK = 1.5
/** With fewer groups one that was held up, by a line or a pause, may be what makes a pace look hopeless. */
const SURE_GROUPS = 4
/** A pace that was last seen longer ago is no reason any more: the machine may have been busy with something else. */
const RATE_KEPT_MS = 6 * 3_600_000

export interface Speed {
  /** As its deliveries have proved; null: there was none. */
  readonly deliveryRate: DeliveryRate | null
  /** As the node says; 0: it does not. */
  readonly reportedTokensPerSecond: number
}

/** How long a usual group of the run takes a node. */
export interface GroupTime {
  readonly ms: number
  /** Whether it has been seen, or is only told. */
  readonly isProven: boolean
  /** Whether work may be withheld for it. */
  readonly isSure: boolean
}

/**
 * What was seen counts before what is told. A node that tells more than is true gets what one gets that tells nothing; one that tells
 * less gets less work.
 * @param usualTokens  that a usual group samples; null: not known
 * @returns null: nobody knows
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
 * Whether a node would have a further group ready before its lease can last no longer, when it works off what it holds first.
 * @param held  its open leases
 * @param longestMs  a lease lasts, renewed
 * @returns `too_slow`: not even a single one
 */
export function fitOf(
  held: Iterable<Pick<LeaseRecord, 'atMs'>>,
  { ms, isSure }: GroupTime,
  longestMs: number,
  nowMs: number,
): 'fits' | 'too_many_leases' | 'too_slow' {
  if (ms > longestMs && isSure) return 'too_slow'
  let leftMs = ms
  // What was leased long enough ago is done, and waits for its verdict.
  for (const { atMs } of held) leftMs += Math.max(0, ms - Math.max(0, nowMs - atMs))
  return leftMs > longestMs && leftMs > ms ? 'too_many_leases' : 'fits'
}

/**
 * How long a lease lasts before it has to be renewed: longer for a node that has shown to need longer, which then need not depend on
 * the line each time half of it is over. Nobody waits for such a lease as for others (`OpenLeases`), and a node that leaves it lying is
 * doubtful afterwards.
 */
export function firstTermMs(durationMs: number, time: GroupTime | null): number {
  if (!time?.isProven) return durationMs
  return Math.min(LONGEST_DURATIONS * durationMs, Math.max(durationMs, Math.ceil(SLACK * time.ms)))
}

const minutes = (ms: number): string => (ms < 90_000 ? `${Math.ceil(ms / 1000)} s` : `${Math.ceil(ms / 60_000)} min`)

/** What the owner of a machine is told whose groups would come too late. */
export function tooSlowLine(usualTokens: number, { ms }: GroupTime, longestMs: number): string {
  return `a usual group samples ${Math.round(usualTokens)} tokens, which take this node ${minutes(ms)}; a lease lasts ${minutes(longestMs)} at most. It can serve adapters (all with --mirror), judge its groups (verify), or join a run of a smaller model`
}
