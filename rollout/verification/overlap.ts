import { createHash } from 'node:crypto'
import type { Rollout } from '../episode/index.js'
import { hypergeometricTail } from './chances.js'
import { decodeSketch, encodeSketch, likeness, type Sketch, sketchOf } from './likeness.js'

/** What a group's rollouts say, in their order. */
export interface CompletionDigests {
  /** As `completionOf` names them. */
  readonly completions: readonly string[]
  /** Nats: the claimed log-probability of each as a whole. */
  readonly logprobs: readonly number[]
  /** As `encodeSketch` writes them. */
  readonly sketches: readonly string[]
}

/** A group that was accepted for the same task. */
export interface EarlierGroup extends CompletionDigests {
  readonly leaseId: string
}

/** An overlap that independent sampling does not explain. */
export interface Overlap {
  readonly leaseId: string
  /** Rollouts that are in the earlier group too, changed or not. */
  readonly rollouts: number
  /**
   * `equal`: token for token, beyond any chance. `alike`: nearer to the earlier group than its rollouts are to each other, which
   * one honest group in a hundred is; the draws have to decide.
   */
  readonly kind: 'equal' | 'alike'
}

/** How improbable an overlap must be, over all earlier groups together: one honest group in a million. */
const LEVEL = Math.log(1e6)
/** The same for likeness, which accuses nobody. */
const ALIKE_LEVEL = 0.01

/** Names what a rollout says: a short hash of its tokens. */
export function completionOf({ tokens }: Pick<Rollout, 'tokens'>): string {
  return createHash('sha256').update(Int32Array.from(tokens)).digest('hex').slice(0, 16)
}

export const completionDigests = (
  rollouts: readonly Pick<Rollout, 'tokens' | 'mask' | 'logprobs'>[],
): CompletionDigests => ({
  completions: rollouts.map(completionOf),
  logprobs: rollouts.map(({ logprobs }) => logprobs.reduce((sum, logprob) => sum + logprob, 0)),
  sketches: rollouts.map((rollout) => encodeSketch(sketchOf(rollout))),
})

/** The earlier group that this one repeats, or almost repeats, if chance does not explain it (stage 4 of judging). */
export const findOverlap = (group: CompletionDigests, earlier: readonly EarlierGroup[]): Overlap | null =>
  findEqual(group, earlier) ?? findAlike(group, earlier)

/**
 * Short answers of a certain policy are legitimately equal, so each equal rollout counts by how improbable it was: the bet is that
 * half of the rollouts were drawn from the earlier group. Under independent sampling the expected stake of that bet is 1, so it
 * exceeds 10^6 times the number of earlier groups in less than one honest group in a million, whatever the policy. How improbable
 * the tokens were both groups have claimed, and whoever has copied would claim too little: the smaller number counts.
 */
function findEqual({ completions, logprobs }: CompletionDigests, earlier: readonly EarlierGroup[]): Overlap | null {
  let worst: (Overlap & { readonly nats: number }) | null = null
  const own = new Set(completions)
  for (const group of earlier) {
    // Without an equal rollout the stake can only be lost, and of most groups there is none.
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
 * Rollouts of one policy and task resemble each other, more the more certain it is; how much, the earlier group itself shows. Were
 * both drawn alike, its own rollouts would find as near a neighbour in it as those of the other group do. No claim enters. Groups
 * of four or fewer are too small to tell.
 */
function findAlike({ sketches }: CompletionDigests, earlier: readonly EarlierGroup[]): Overlap | null {
  // Nothing is less likely than that all are nearer; among many earlier groups that has to do.
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
