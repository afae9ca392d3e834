import type { TokenInterval } from './types.js'

/** Nats; a draw that needs larger errors of the logits is as unexplained as can be. */
const MAX_REPAIR = 20
/** The sums round: a draw within rounding of a boundary is no miss. */
const ROUNDING = 1e-9
/** Halvings of MAX_REPAIR: down to 2e-11 nats. */
const BISECTIONS = 40

/**
 * A token's place in a distribution, by the definitions of docs/judging.md; the trainer's `audit.py` computes the same.
 * @param own     the token's logit
 * @param logits  of the whole vocabulary, in any order
 * @param draw    the uniform number that is said to have selected it; NaN: `repair` is NaN
 */
export function intervalOf(own: number, logits: readonly number[], draw: number): TokenInterval {
  let top = own
  for (const logit of logits) if (logit > top) top = logit
  let total = 0
  for (const logit of logits) total += Math.exp(logit - top)
  const logTotal = Math.log(total)
  let [low, entropy, square, evidence] = [0, 0, 0, 1]
  for (const logit of logits) {
    const logp = logit - top - logTotal
    const p = Math.exp(logp)
    // A forbidden token has logit -Infinity: 0 times its logarithm is 0 here.
    if (p === 0) continue
    if (logit > own) low += p
    entropy -= p * logp
    square += p * logp * logp
    evidence -= p * p
  }
  const logprob = own - top - logTotal
  const missed = !(low <= draw && draw < low + Math.exp(logprob))
  return {
    logprob,
    low,
    entropy,
    variance: Math.max(0, square - entropy * entropy),
    evidence: Math.max(0, evidence),
    repair: Number.isNaN(draw) ? draw : missed ? repair(own, logits, top + logTotal, draw) : 0,
  }
}

/**
 * By how much (nats) the logits would have to be off for the draw to select the token: with errors of up to e it may pass
 * tokens within 2e of it, and the mass M before a boundary changes to at most M exp(2e) / (M exp(2e) + 1 - M).
 */
function repair(own: number, logits: readonly number[], logTotal: number, draw: number): number {
  const explains = (e: number): boolean => {
    let [above, behind] = [0, 0]
    for (const logit of logits) {
      if (logit > own + 2 * e) above += Math.exp(logit - logTotal)
      else if (logit < own - 2 * e) behind += Math.exp(logit - logTotal)
    }
    const grow = Math.exp(2 * e)
    const low = above / (above + (1 - above) * grow)
    const high = 1 - behind / (behind + (1 - behind) * grow)
    return low <= draw && draw < high
  }
  if (explains(ROUNDING)) return 0
  let [left, right] = [0, MAX_REPAIR]
  for (let i = 0; i < BISECTIONS; i++) {
    const middle = (left + right) / 2
    if (explains(middle)) right = middle
    else left = middle
  }
  return right
}
