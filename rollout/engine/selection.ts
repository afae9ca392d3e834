import { type DistributionReader, LOGIT_ROUNDING, type Raised } from './distribution.js'
import { EngineError } from './errors.js'
import { type DrawTable, type Noise, selectAmong } from './gumbel-max.js'
import type { Token } from './types.js'

/** A token of a distribution. */
export interface Selected {
  readonly token: Token
  readonly logit: number
}

/** The result of a selection by a draw. */
export interface Selection {
  readonly token: Token
  /** The logit of the token and the largest logit, if the search has read both exactly, which is usual for a certain policy. */
  readonly logits: { readonly own: number; readonly top: number } | null
}

/** The search for the token of a draw, which is known before the logits. */
export interface Search {
  readonly noise: Noise
  /** Multiplies the noise, which is equivalent to dividing the logits. */
  readonly temperature: number
  /** Least noise of a candidate, times the temperature. */
  readonly baseline: number
  /** The candidates, whose logits are raised by their noise beyond the baseline. */
  readonly raised: Raised
  /**
   * Nats below the largest raised logit that the search reads first. It suffices unless the likeliest token has very small noise and
   * no other token compensates for it. It is smaller where the largest noise is hardly above the baseline: the whole vocabulary of a
   * policy without preference would be in reach.
   */
  readonly reach: number
}

export function searchOf(noise: Noise, { candidateNoise }: Pick<DrawTable, 'candidateNoise'>, temperature = 1): Search {
  const baseline = temperature * candidateNoise
  const reach = Math.max(
    0,
    Math.min(baseline + temperature * LOW_NOISE, temperature * (noise.largest - LOW_NOISE) - baseline),
  )
  return { noise, temperature, baseline: baseline, reach, raised: raise(noise, baseline, temperature) }
}

/**
 * Selects the token of a draw, exactly by the rule of gumbel-max.ts, with as little of the distribution as possible. It reads the
 * tokens whose noise is large, the candidates, and the other tokens whose logit is large. The noise of candidates, less the baseline,
 * is added to their logits, so that one bound applies to both kinds. A token that is `reach` below the largest sum scores at most that sum
 * minus `reach` plus the baseline. If that is more than the best score found, the search repeats with a larger reach.
 *
 * The read is requested before this returns, so that it can queue behind the decode of the logits.
 */
export async function select(looks: Pick<DistributionReader, 'near' | 'logitOf'>, search: Search): Promise<Selection> {
  const { noise, temperature, baseline, raised } = search
  for (let { reach } = search; ; ) {
    const sums = await looks.near(reach, raised)
    const scores = sums.map(
      ([token, sum]) => sum + (noise.isCandidate(token) ? baseline : temperature * noise.of(token)),
    )
    const best = scores.reduce((a, b) => Math.max(a, b))
    if (!Number.isFinite(best))
      throw new EngineError('engine_failed', 'llama.cpp returned logits that are not finite numbers')
    const missing = sums[0]![1] + baseline - best - reach
    if (missing > 0) {
      reach += missing
      continue
    }
    // Sums are float32: tokens with nearly equal scores are compared again by their exact logits.
    const close = sums.filter((_, i) => scores[i]! >= best - LOGIT_ROUNDING)
    if (close.length === 1) return withLogits(close[0]![0], sums, search)
    const logits: [Token, number][] = []
    for (const [token, sum] of close) logits.push([token, noise.isCandidate(token) ? await looks.logitOf(token) : sum])
    logits.sort(([, a], [, b]) => b - a)
    return withLogits(selectAmong(noise, logits, temperature), sums, search)
  }
}

/**
 * Adds the exact logits to a selection where they are known. The sum of a token that is no candidate is its logit. If there is such a
 * token, the likeliest token is among the sums too, since its sum is no less. It is the first one that is no candidate, unless a
 * candidate may have a larger logit, which is known only to float32's precision.
 */
function withLogits(
  token: Token,
  sums: readonly [Token, number][],
  { noise, temperature, baseline }: Search,
): Selection {
  const top = sums.find(([other]) => !noise.isCandidate(other))?.[1]
  if (top === undefined || noise.isCandidate(token)) return { token, logits: null }
  for (const [other, sum] of sums) {
    if (noise.isCandidate(other) && sum - (temperature * noise.of(other) - baseline) > top - LOGIT_ROUNDING)
      return { token, logits: null }
  }
  return { token, logits: { own: sums.find(([other]) => other === token)![1], top } }
}

/** Returns logit plus noise, by which tokens are selected. */
export const scoreOf = ({ token, logit }: Selected, noise: Noise, temperature = 1): number =>
  logit + temperature * noise.of(token)

function raise({ candidates, of }: Noise, baseline: number, temperature: number): Raised {
  const by = new Float32Array(candidates.length)
  for (let i = 0; i < candidates.length; i++) by[i] = temperature * of(candidates[i]!) - baseline
  return { tokens: candidates, by }
}

/** In nats: the noise of one token in fifteen is less than minus this. */
const LOW_NOISE = 1
