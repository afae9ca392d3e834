import { noiseOf } from './draw.js'
import type { Draw, Token, TokenEvidence } from './types.js'

/** Nats: scores are sums of float64 numbers, so a gap this small is none. */
const ROUNDING = 1e-9

/**
 * What a distribution says of a token, by the definitions of docs/judging.md; the trainer's `evidence.py` computes the same.
 * @param logits  of the whole vocabulary
 * @param draw    that is said to have selected the token; null: `repair` is NaN
 */
export function evidenceOf(token: Token, logits: ReadonlyMap<Token, number>, draw: Draw | null): TokenEvidence {
  const own = logits.get(token)
  if (own === undefined) throw new RangeError(`token ${token} is outside the vocabulary of ${logits.size}`)
  let top = own
  for (const logit of logits.values()) if (logit > top) top = logit
  let total = 0
  for (const logit of logits.values()) total += Math.exp(logit - top)
  let evidence = 1
  for (const logit of logits.values()) evidence -= (Math.exp(logit - top) / total) ** 2
  return {
    logprob: own - top - Math.log(total),
    evidence: Math.max(0, evidence),
    repair: draw === null ? Number.NaN : repairOf(token, own, logits, draw),
  }
}

function repairOf(token: Token, own: number, logits: ReadonlyMap<Token, number>, draw: Draw): number {
  const score = own + noiseOf(draw, token)
  let best = score
  for (const [other, logit] of logits) best = Math.max(best, logit + noiseOf(draw, other))
  return best - score > ROUNDING ? (best - score) / 2 : 0
}
