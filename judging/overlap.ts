import { createHash } from 'node:crypto'
import type { Rollout } from '../episode/index.js'

/** A group that was accepted for the same task, with the names of its completions. */
export interface EarlierGroup {
  readonly leaseId: string
  /** As `completionOf` names them. */
  readonly completions: readonly string[]
}

/** An overlap that independent sampling does not explain. */
export interface Overlap {
  readonly leaseId: string
  /** Rollouts that are in the earlier group too. */
  readonly rollouts: number
  /** ln of the odds that they were copied, after what chance explains. */
  readonly nats: number
}

/** How improbable an overlap must be, over all earlier groups together: one honest group in a million. */
const LEVEL = Math.log(1e6)

/** Names what a rollout says: a short hash of its tokens. */
export function completionOf({ tokens }: Pick<Rollout, 'tokens'>): string {
  return createHash('sha256').update(Int32Array.from(tokens)).digest('hex').slice(0, 16)
}

/**
 * The earlier group that this one repeats, if chance does not explain it (stage 4 of judging). Short answers of a certain
 * policy are legitimately equal, so each equal rollout counts by how improbable it was: the bet is that half of the
 * rollouts were drawn from the earlier group. Under independent sampling the expected stake of that bet is 1, so it exceeds
 * 10^6 times the number of earlier groups in less than one honest group in a million, whatever the policy.
 * @param logprobs  of each rollout as a whole, nats
 */
export function findOverlap(
  completions: readonly string[],
  logprobs: readonly number[],
  earlier: readonly EarlierGroup[],
): Overlap | null {
  let worst: Overlap | null = null
  for (const group of earlier) {
    const share = new Map<string, number>()
    for (const completion of group.completions)
      share.set(completion, (share.get(completion) ?? 0) + 1 / group.completions.length)
    let nats = -Math.log(earlier.length)
    let rollouts = 0
    for (const [i, completion] of completions.entries()) {
      const drawn = share.get(completion)
      if (drawn !== undefined) rollouts += 1
      nats += Math.log(0.5 + (drawn === undefined ? 0 : (0.5 * drawn) / Math.exp(Math.max(logprobs[i]!, -700))))
    }
    if (nats >= LEVEL && nats > (worst?.nats ?? 0)) worst = { leaseId: group.leaseId, rollouts, nats }
  }
  return worst
}
