import { type DistributionReader, LOGIT_ROUNDING, type Raised } from './distribution.js'
import { EngineError } from './errors.js'
import { type DrawTable, type Noise, selectAmong } from './gumbel-max.js'
import type { Token } from './types.js'

/** A token of a distribution. */
export interface Selected {
  readonly token: Token
  readonly logit: number
}

/** What a draw has selected. */
export interface Selection {
  readonly token: Token
  /** Its logit and the largest of all, if what was looked at tells both to the bit, as it mostly does of a sure policy. */
  readonly logits: { readonly own: number; readonly top: number } | null
}

/** What a draw asks of a distribution, which is known before the logits are there. */
export interface Search {
  readonly noise: Noise
  /** What the noise is multiplied by, which says the same as dividing the logits. */
  readonly temperature: number
  /** Noise that a loud token has at least, times the temperature. */
  readonly baseline: number
  /** Loud tokens count as larger by their noise beyond the baseline. */
  readonly raised: Raised
  /**
   * So far down as it takes unless the likeliest token has hardly any noise and no other one makes up for it; less where the loudest
   * token would stand hardly above all others of a policy that prefers nothing, whose whole vocabulary is in reach then.
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
 * The token that a draw selects, exactly that of the rule in draw.ts, by logit and noise, with as little of the distribution as
 * it takes: those tokens are looked at whose noise is large, and of the others those whose logit is. With the noise of the loud ones
 * added to their logits, less the baseline from which a token is loud, both kinds stand above the same baseline. Whatever stands below
 * the largest of these sums by `reach` scores less than that, and the baseline more. What was left out is less than what was found,
 * or it is looked for again with what was found for a baseline.
 *
 * The look is asked for before this returns, so it can be asked for behind the decode of the logits.
 */
export async function select(looks: Pick<DistributionReader, 'near' | 'logitOf'>, search: Search): Promise<Selection> {
  const { noise, temperature, baseline, raised } = search
  for (let { reach } = search; ; ) {
    const sums = await looks.near(reach, raised)
    const scores = sums.map(
      ([token, sum]) => sum + (noise.isCandidate(token) ? baseline : temperature * noise.of(token)),
    )
    const best = scores.reduce((a, b) => Math.max(a, b))
    if (!Number.isFinite(best)) throw new EngineError('engine_failed', 'llama.cpp gave logits that are no numbers')
    const missing = sums[0]![1] + baseline - best - reach
    if (missing > 0) {
      reach += missing
      continue
    }
    // Sums are of float32: what they do not tell apart is looked at again.
    const close = sums.filter((_, i) => scores[i]! >= best - LOGIT_ROUNDING)
    if (close.length === 1) return withLogits(close[0]![0], sums, search)
    const logits: [Token, number][] = []
    for (const [token, sum] of close) logits.push([token, noise.isCandidate(token) ? await looks.logitOf(token) : sum])
    logits.sort(([, a], [, b]) => b - a)
    return withLogits(selectAmong(noise, logits, temperature), sums, search)
  }
}

/**
 * A token that is not loud stands among the sums with its logit itself. If there is one, the likeliest token of all is there too,
 * for its sum is no less; and it is the first that is not loud, unless the logit of a loud one may be larger, which is known only
 * as far as float32 tells.
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

/** Logit and noise together, by which tokens are chosen. */
export const scoreOf = ({ token, logit }: Selected, noise: Noise, temperature = 1): number =>
  logit + temperature * noise.of(token)

function raise({ candidates, of }: Noise, baseline: number, temperature: number): Raised {
  const by = new Float32Array(candidates.length)
  for (let i = 0; i < candidates.length; i++) by[i] = temperature * of(candidates[i]!) - baseline
  return { tokens: candidates, by }
}

/** Nats: the noise of one token in fifteen is less than minus this. */
const LOW_NOISE = 1
