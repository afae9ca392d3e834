import type { Distribution, Weights } from './distribution.js'
import { type DrawTable, type Noise, selectAmong } from './gumbel-max.js'
import { type Selected, scoreOf, searchOf, select } from './selection.js'
import type { Token, TokenScore } from './types.js'

/** In nats: scores are sums of float64 numbers, so a smaller gap is rounding. */
const ROUNDING = 1e-9

/** Returns the log-probability (nats) of a token with this logit. */
export const logprobOf = (
  logit: number,
  { topLogit, totalWeight }: Pick<Weights, 'topLogit' | 'totalWeight'>,
): number =>
  // The total weight is a float32 sum, which may round to less than one of its terms.
  Math.min(0, logit - topLogit - Math.log(totalWeight))

/**
 * Scores a token by a distribution, with the definitions of docs/explain/verification.md. The trainer's `token_scores.py` computes the same.
 * @param noise  of the draw that a node claims to have sampled the token with; null: `logitError` is NaN
 */
export async function tokenScoreOf(
  token: Token,
  distribution: Distribution,
  noise: Noise | null,
  table: Pick<DrawTable, 'candidateNoise'>,
): Promise<TokenScore> {
  const { top, topLogit, totalWeight } = distribution
  const claimed = { token, logit: await distribution.logitOf(token) }
  const logprob = logprobOf(claimed.logit, distribution)
  if (totalWeight > UNCERTAIN_WEIGHT) {
    return {
      logprob,
      expectedMismatch: Math.max(0, 1 - (await distribution.squaredWeight()) / totalWeight ** 2),
      logitError:
        noise === null
          ? Number.NaN
          : logitErrorOf(claimed, await selectedBy(noise, claimed, distribution, table), noise),
    }
  }
  const reach = Math.max(REACH, noise === null ? 0 : noise.largest - noise.of(top))
  const near = new Map(await distribution.near(reach))
  let squares = 0
  for (const logit of near.values()) squares += (Math.exp(logit - topLogit) / totalWeight) ** 2
  const among = (by: Noise): Selected => {
    const selected = selectAmong(by, near)
    return { token: selected, logit: near.get(selected)! }
  }
  return {
    logprob,
    expectedMismatch: Math.max(0, 1 - squares),
    logitError: noise === null ? Number.NaN : logitErrorOf(claimed, among(noise), noise),
  }
}

/** Returns the token that the draw selects. @param claimed  its logit is known, so it needs no further read */
async function selectedBy(
  noise: Noise,
  claimed: Selected,
  distribution: Distribution,
  table: Pick<DrawTable, 'candidateNoise'>,
): Promise<Selected> {
  const { token } = await select(distribution, searchOf(noise, table))
  return token === claimed.token ? claimed : { token, logit: await distribution.logitOf(token) }
}

function logitErrorOf(claimed: Selected, selected: Selected, noise: Noise): number {
  const behind = scoreOf(selected, noise) - scoreOf(claimed, noise)
  return behind > ROUNDING ? behind / 2 : 0
}

/** Total weight beyond which reading all tokens twice costs less than transferring the tokens near the likeliest one. */
const UNCERTAIN_WEIGHT = 4

/** Nats below the largest logit: beyond it, the squared probabilities of a vocabulary of 150,000 add up to 6e-6 at most. */
const REACH = 12
