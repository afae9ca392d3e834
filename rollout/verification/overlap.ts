import { createHash } from 'node:crypto'
import type { Rollout } from '../episode/index.js'
import { hypergeometricTail } from './chances.js'
import { decodeSketch, encodeSketch, likeness, type Sketch, sketchOf } from './likeness.js'

/** Digests of a group's rollouts, in their order. */
export interface CompletionDigests {
  /** Hashes of the rollouts, see `completionOf`. */
  readonly completions: readonly string[]
  /** Claimed log-probability (nats) of each whole rollout. */
  readonly logprobs: readonly number[]
  /** Encoded sketches, see `encodeSketch`. */
  readonly sketches: readonly string[]
}

/** An earlier accepted group of the same task. */
export interface EarlierGroup extends CompletionDigests {
  readonly leaseId: string
}

/** An overlap that independent sampling does not explain. */
export interface Overlap {
  readonly leaseId: string
  /** Number of rollouts that the earlier group contains too, changed or not. */
  readonly rollouts: number
  /**
   * `equal`: token for token, beyond any chance. `alike`: more similar to the earlier group than its rollouts are to each other. That
   * happens to one honest group in a hundred, so the draws decide.
   */
  readonly kind: 'equal' | 'alike'
}

/** Level of the test for equality, over all earlier groups together: one honest group in a million. */
const LEVEL = Math.log(1e6)
/** Level of the test for likeness, which only leads to an audit. */
const ALIKE_LEVEL = 0.01

/** Returns a short hash of a rollout's tokens. */
export function completionOf({ tokens }: Pick<Rollout, 'tokens'>): string {
  return createHash('sha256').update(Int32Array.from(tokens)).digest('hex').slice(0, 16)
}

/** Computes the digests of a group's rollouts. */
export const completionDigests = (
  rollouts: readonly Pick<Rollout, 'tokens' | 'mask' | 'logprobs'>[],
): CompletionDigests => ({
  completions: rollouts.map(completionOf),
  logprobs: rollouts.map(({ logprobs }) => logprobs.reduce((sum, logprob) => sum + logprob, 0)),
  sketches: rollouts.map((rollout) => encodeSketch(sketchOf(rollout))),
})

/** Returns the earlier group that this one repeats, or nearly repeats, if chance does not explain it (check 4); null: none. */
export const findOverlap = (group: CompletionDigests, earlier: readonly EarlierGroup[]): Overlap | null =>
  findEqual(group, earlier) ?? findAlike(group, earlier)

/**
 * Tests for equal rollouts. Short answers of a certain policy may be equal, so each equal rollout counts by its improbability. The test
 * is a betting score for the hypothesis that half of the rollouts were copied from the earlier group. Under independent sampling its
 * expectation is 1, so it exceeds 10^6 times the number of earlier groups in less than one honest group in a million, for any policy.
 * Both groups claim log-probabilities, and a copier would claim too small ones in size: the smaller number counts.
 */
function findEqual({ completions, logprobs }: CompletionDigests, earlier: readonly EarlierGroup[]): Overlap | null {
  let worst: (Overlap & { readonly nats: number }) | null = null
  const own = new Set(completions)
  for (const group of earlier) {
    // Without an equal rollout the score can only fall, and most groups have none.
    if (!group.completions.some((completion) => own.has(completion))) continue
    const claims = new Map<string, { share: number; logprob: number }>()
    for (const [k, completion] of group.completions.entries()) {
      const share = (claims.get(completion)?.share ?? 0) + 1 / group.completions.length
      claims.set(completion, { share, logprob: group.logprobs[k]! })
    }
    let nats = -Math.log(earlier.length)
    let rollouts = 0
    for (const [i, completion] of completions.entries()) {
      const drawn = claims.get(completion)
      if (drawn !== undefined) rollouts += 1
      const logprob = Math.max(-700, Math.min(logprobs[i]!, drawn?.logprob ?? 0))
      nats += Math.log(0.5 + (0.5 * (drawn?.share ?? 0)) / Math.exp(logprob))
    }
    if (nats >= LEVEL && nats > (worst?.nats ?? 0)) worst = { leaseId: group.leaseId, rollouts, kind: 'equal', nats }
  }
  return worst && { leaseId: worst.leaseId, rollouts: worst.rollouts, kind: worst.kind }
}

/**
 * Tests for likeness. Rollouts of one policy and task resemble each other, the more so the more certain the policy is. The earlier group
 * shows how much: if both groups were sampled independently, its own rollouts would have neighbours in it as near as the rollouts of
 * the other group. The test uses no claims. Groups of four or fewer rollouts are too small for it.
 */
function findAlike({ sketches }: CompletionDigests, earlier: readonly EarlierGroup[]): Overlap | null {
  // The smallest possible probability, that all are nearer. With many earlier groups it must suffice.
  const least = hypergeometricTail(sketches.length, sketches.length, sketches.length, 2 * sketches.length)
  if (least > ALIKE_LEVEL) return null
  const own = sketches.map(decodeSketch)
  let worst: (Overlap & { readonly chance: number }) | null = null
  for (const group of earlier) {
    const others = group.sketches.map(decodeSketch)
    const within = others.map((one, k) => nearest(one, others.toSpliced(k, 1)))
    const across = own.map((one) => nearest(one, others))
    for (const bound of new Set(across)) {
      const [near, usual] = [across, within].map((values) => values.filter((value) => value >= bound).length)
      const chance = hypergeometricTail(near!, across.length, near! + usual!, across.length + within.length)
      const rollouts = near!
      if (chance < (worst?.chance ?? Number.POSITIVE_INFINITY))
        worst = { leaseId: group.leaseId, rollouts, kind: 'alike', chance }
    }
  }
  if (!worst) return null
  const { chance, ...overlap } = worst
  return chance <= Math.max(least, ALIKE_LEVEL / earlier.length) ? overlap : null
}

const nearest = (one: Sketch, others: readonly Sketch[]): number =>
  others.reduce((most, other) => Math.max(most, likeness(one, other)), 0)
