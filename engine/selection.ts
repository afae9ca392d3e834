import { type Ahead, type Distribution, LOGIT_ROUNDING, type Raised } from './distribution.js'
import { type DrawTable, GUESS, type Noise, selectAmong } from './draw.js'
import type { Token } from './types.js'

export interface Selected {
  readonly token: Token
  readonly logit: number
}

/**
 * What a draw asks of a distribution that it does not know yet: its loud tokens raised, and as far down as it takes where the
 * likeliest token has hardly less noise than none, or others weigh more than it.
 */
export function aheadOf(noise: Noise, { loudness }: Pick<DrawTable, 'loudness'>, temperature: number): Ahead {
  return { reach: Math.max(0, temperature * (loudness + LITTLE)), raised: raise(noise, loudness, temperature) }
}

/**
 * The token that a draw selects, exactly that of the rule in draw.ts, with as little of the distribution as it takes. With the
 * weight of all tokens it is known about how large the best score is (logit + noise), and so what another token needs for it:
 *
 * - Where all others together weigh too little for any noise to make up for, the likeliest token is it.
 * - Else those are looked at whose noise is large, and of the others those whose logit is: with the noise of the loud ones added
 *   to their logits, less the noise from which a token is loud, both kinds stand above the same line. Whatever stands below it,
 *   and below the largest of these sums by `reach`, scores less than that line and the loudness together.
 *
 * What was left out is less than what was found, or it is looked for again with what was found for a line.
 *
 * @param temperature  what the noise is multiplied by, which says the same as dividing the logits
 * @param raised       the draw's loud tokens, where they were asked for ahead
 */
export async function select(
  distribution: Distribution,
  noise: Noise,
  { loudness }: Pick<DrawTable, 'loudness'>,
  temperature = 1,
  raised?: Raised,
): Promise<Selected> {
  const { top, topLogit, totalWeight, vocabularySize } = distribution
  const likeliest = { token: top, logit: topLogit }
  if (temperature === 0) return likeliest
  const certain = temperature * noise.of(top)
  const farthest = temperature * noise.largest
  const others = totalWeight - 1 + vocabularySize * SUM_ROUNDING * totalWeight
  if (Math.log(others) < certain - farthest) return likeliest

  const among = raised ?? raise(noise, loudness, temperature)
  const line = temperature * loudness
  /** The best score less the largest logit, at least so; a guess until it is found. */
  const above = Math.max(certain, temperature * (Math.log(totalWeight) - GUESS))
  for (let reach = Math.max(0, line - above); ; ) {
    const sums = await distribution.near(reach, among)
    const scores = sums.map(([token, sum]) => sum + (noise.isLoud(token) ? line : temperature * noise.of(token)))
    const best = Math.max(...scores)
    const missing = sums[0]![1] + line - best - reach
    if (missing > 0) {
      reach += missing
      continue
    }
    // Sums are of float32: what they do not tell apart is looked at again.
    const close: [Token, number][] = []
    for (const [i, [token, sum]] of sums.entries())
      if (scores[i]! >= best - LOGIT_ROUNDING)
        close.push([token, noise.isLoud(token) ? await distribution.logitOf(token) : sum])
    const logits = new Map(close.sort(([, a], [, b]) => b - a))
    const token = selectAmong(noise, logits, temperature)
    return { token, logit: logits.get(token)! }
  }
}

/** Logit and noise together, by which tokens are chosen. */
export const scoreOf = ({ token, logit }: Selected, noise: Noise, temperature = 1): number =>
  logit + temperature * noise.of(token)

const raise = ({ loud, of }: Noise, loudness: number, temperature: number): Raised => ({
  tokens: loud,
  by: Float32Array.from(loud, (token) => temperature * (of(token) - loudness)),
})

/** Largest relative error of a sum of float32 numbers, for each of them (Higham, Accuracy and Stability of Numerical Algorithms, 4.2). */
const SUM_ROUNDING = 2 ** -24

/** Nats: the noise of one token in fifteen is less than minus this. */
const LITTLE = 1
