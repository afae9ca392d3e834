import type { RefusalCode } from '../../proto/index.js'
import type { RunState } from '../ledger/run-state.js'

/** What only a newer version, or its owner, can change. */
const NEXT_VERSION_MS = 60_000
/** A round that is due opens at the coordinator's next look, and its manifest has to be signed and written. */
const OPENING_MS = 500
/** Longest time that the protocol can name. */
const FOR_EVER_MS = 2 ** 31 - 1

/** Earliest sensible time for another question (ms from now), where it follows from the reason alone. */
const BY_REASON: Partial<Record<RefusalCode, number>> = {
  // The node that asks loads the policy in force first, and asks again at once.
  wrong_policy: 0,
  // There may be room at any moment, and that is announced at most once a second.
  no_work: 1000,
  too_many_leases: 1000,
  // A batch has to be taken, or the others have to bring their part.
  influence_cap: 2000,
  // Twelve leases a minute are given again.
  rate_limited: 5000,
  complete: NEXT_VERSION_MS,
  banned: NEXT_VERSION_MS,
  uncalibrated: NEXT_VERSION_MS,
  too_slow: NEXT_VERSION_MS,
}

const OTHERWISE_MS = 5000

/**
 * When a node that gets no lease should ask again at the earliest, unless it hears that something has changed.
 * @param reason  why it gets none
 * @param registrationMs  age at which a round gives way to the next one, when keys wait for it
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
    // A clock that was set back opens the round at once.
    return (ageMs < 0 ? 0 : Math.max(0, registrationMs - ageMs)) + OPENING_MS
  }
  return BY_REASON[reason] ?? OTHERWISE_MS
}
