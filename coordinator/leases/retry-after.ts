import type { RefusalCode } from '../../proto/index.js'
import type { RunState } from '../ledger/run-state.js'

/** Only a newer version, or the node's owner, can change these reasons. */
const NEXT_VERSION_MS = 60_000
/** The coordinator opens a due round at its next check, and has to sign and write the manifest. */
const OPENING_MS = 500
/** Longest time that the protocol can express. */
const FOR_EVER_MS = 2 ** 31 - 1

/** Earliest sensible time for another request (ms from now), where it follows from the reason alone. */
const BY_REASON: Partial<Record<RefusalCode, number>> = {
  // The node first loads the policy in force and then asks again at once.
  wrong_policy: 0,
  // Capacity can become free at any moment; the coordinator announces it at most once a second.
  no_work: 1000,
  too_many_leases: 1000,
  // Another batch has to be formed, or other keys have to supply their part.
  influence_cap: 2000,
  // One key may take 12 abandoned leases again per minute.
  rate_limited: 5000,
  complete: NEXT_VERSION_MS,
  banned: NEXT_VERSION_MS,
  uncalibrated: NEXT_VERSION_MS,
  too_slow: NEXT_VERSION_MS,
}

const OTHERWISE_MS = 5000

/**
 * Returns when a node that gets no lease should ask again at the earliest, unless an announcement reports a change.
 * @param reason  why the node gets no lease
 * @param registrationMs  age (ms) at which a round gives way to the next one, when keys wait for it
 * @returns ms from `nowMs`
 */
export function retryAfterMs(
  reason: RefusalCode,
  state: RunState,
  node: string,
  registrationMs: number,
  nowMs: number,
): number {
  if (reason === 'quarantined') {
    const untilMs = state.nodes.get(node)?.reputation.quarantinedUntilMs ?? null
    return untilMs === null ? FOR_EVER_MS : Math.min(FOR_EVER_MS, Math.max(0, Math.ceil(untilMs - nowMs)))
  }
  if (reason === 'not_registered') {
    const ageMs = nowMs - (state.round?.openedAtMs ?? nowMs)
    // After the clock was set back, the coordinator opens the round at once.
    return (ageMs < 0 ? 0 : Math.max(0, registrationMs - ageMs)) + OPENING_MS
  }
  return BY_REASON[reason] ?? OTHERWISE_MS
}
