import type { Distribution, Weights } from './distribution.js'
import { type DrawTable, type Noise, selectAmong } from './gumbel-max.js'
import { type Selected, scoreOf, searchOf, select } from './selection.js'
import type { Token, TokenScore } from './types.js'

/** Nats: scores are sums of float64 numbers, so a gap this small is none. */
const ROUNDING = 1e-9

/**
 * The logarithm of a token's probability.
 * @param logit  its own
 */
export const logprobOf = (
  logit: number,
  { topLogit, totalWeight }: Pick<Weights, 'topLogit' | 'totalWeight'>,
): number =>
  // The total weight is a float32 sum: it may round to less than a part of it.
  Math.min(0, logit - topLogit - Math.log(totalWeight))

/**
 * What a distribution says of a token, by the definitions of docs/verification.md; the trainer's `evidence.py` computes the same.
 * @param noise  of the draw that is said to have selected the token; null: `repair` is NaN
 */
export async function tokenScoreOf(
  token: Token,
  distribution: Distribution,
  noise: Noise | null,
  table: Pick<DrawTable, 'candidateNoise'>,
): Promise<TokenScore> {
  const { top, topLogit, totalWeight } = distribution
  const said = { token, logit: await distribution.logitOf(token) }
  const logprob = logprobOf(said.logit, distribution)
  if (totalWeight > UNCERTAIN_WEIGHT) {
    return {
      logprob,
      expectedMismatch: Math.max(0, 1 - (await distribution.squaredWeight()) / totalWeight ** 2),
      logitError:
        noise === null ? Number.NaN : logitErrorOf(said, await selectedBy(noise, said, distribution, table), noise),
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
    logitError: noise === null ? Number.NaN : logitErrorOf(said, among(noise), noise),
  }
}

/** @param said  whose logit is known: that of any other token is a look more */
async function selectedBy(
  noise: Noise,
  said: Selected,
  distribution: Distribution,
  table: Pick<DrawTable, 'candidateNoise'>,
): Promise<Selected> {
  const { token } = await select(distribution, searchOf(noise, table))
  return token === said.token ? said : { token, logit: await distribution.logitOf(token) }
}

function logitErrorOf(said: Selected, selected: Selected, noise: Noise): number {
  const behind = scoreOf(selected, noise) - scoreOf(said, noise)
  return behind > ROUNDING ? behind / 2 : 0
}

/** Weight beyond which looking at all tokens twice costs less than handing over those near the likeliest one. */
const UNCERTAIN_WEIGHT = 4

/** Nats below the largest logit: beyond it the squares of a whole vocabulary of 150,000 add up to 6e-6 at most. */
const REACH = 12
