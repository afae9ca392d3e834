import { noiseOf } from './draw.js'
import type { Draw, Token, TokenEvidence } from './types.js'

/** Nats: scores are sums of float64 numbers, so a gap this small is none. */
const ROUNDING = 1e-9

/** What is known of a distribution: enough for the evidence on one of its tokens. */
export interface Glimpse {
  /** The token's own logit. */
  readonly logit: number
  /** The largest of all. */
  readonly topLogit: number
  /** Sum of exp(logit - topLogit) over the vocabulary. */
  readonly totalWeight: number
  /** The tokens that weigh something, and those that the draw can lift above all others. */
  readonly near: Iterable<readonly [Token, number]>
}

/** The total weight is a float32 sum: it may round to less than a part of it. */
export const logprobOf = ({ logit, topLogit, totalWeight }: Omit<Glimpse, 'near'>): number =>
  Math.min(0, logit - topLogit - Math.log(totalWeight))

/** Nats below the largest logit: beyond it the squares of a whole vocabulary of 150,000 add up to 6e-6 at most. */
export const EVIDENCE_REACH = 12

/**
 * What a distribution says of a token, by the definitions of docs/judging.md; the trainer's `evidence.py` computes the same.
 * @param draw  that is said to have selected the token; null: `repair` is NaN
 */
export function evidenceOf(token: Token, { near, ...known }: Glimpse, draw: Draw | null): TokenEvidence {
  const { logit, topLogit, totalWeight } = known
  const score = draw === null ? Number.NaN : logit + noiseOf(draw, token)
  let best = score
  let evidence = 1
  for (const [other, its] of near) {
    evidence -= (Math.exp(its - topLogit) / totalWeight) ** 2
    if (draw !== null) best = Math.max(best, its + noiseOf(draw, other))
  }
  const repair = best - score > ROUNDING ? (best - score) / 2 : 0
  return {
    logprob: logprobOf(known),
    evidence: Math.max(0, evidence),
    repair: draw === null ? Number.NaN : repair,
  }
}
