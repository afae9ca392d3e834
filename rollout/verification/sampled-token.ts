/** One sampled token: the node's claim, and the policy's scores (in nats). */
export interface SampledToken {
  /** Log-probability that the node claims. */
  readonly claimed: number
  /** Log-probability under the announced policy. */
  readonly logp: number
  /** 1 - sum p^2: the probability that an unrelated draw selects another token, and the density of near ties (docs/explain/verification.md). */
  readonly expectedMismatch: number
  /** Minimal error of any logit with which the seed's draw selects this token; 0: the draw selects it. */
  readonly logitError: number
  /** The token is part of a tool call's arguments. */
  readonly argument: boolean
  /** The token ends its turn. */
  readonly end: boolean
}

/**
 * Added to a token's sensitivity, so that a claim may be slightly off where the policy was certain. Float32 rounds a thousand times finer.
 */
const FLOOR = 1e-3
/** Number of the largest disturbances that are kept one by one: the limits on single ones depend on fewer. */
export const KEPT = 48

/** Sums over tokens, without thresholds, by which groups of any length can be compared. */
export interface TokenStatistics {
  readonly tokens: number
  /**
   * Sum of 1 - p over the tokens, plus a floor for each. It says by how many nats a disturbance of all logits by 1 nat can change their
   * log-probabilities together.
   */
  readonly sensitivity: number
  /** Sum of |claimed - recomputed|, in nats. Divided by `sensitivity`: the typical disturbance of the logits. */
  readonly deviation: number
  /** Sum of claimed - recomputed, in nats. Divided by `sensitivity`: the disturbance that does not cancel. */
  readonly bias: number
  /** Disturbances of the logits (nats) that explain single claims, largest first. */
  readonly claims: readonly number[]
  /** Sum of the tokens' expected mismatches: the misses that unrelated draws would cause. */
  readonly expectedMismatch: number
  /** Number of tokens that their draw does not select. */
  readonly misses: number
  /** Sum of their logit errors (nats). */
  readonly logitError: number
  /** Their logit errors (nats), largest first. */
  readonly logitErrors: readonly number[]
}

export interface GroupStatistics {
  readonly all: TokenStatistics
  /** Only the tokens of tool-call arguments: they are few, and a cheater would change them. */
  readonly arguments: TokenStatistics
  /** Probability of the least likely token that ended a turn; 1 if no token did. */
  readonly leastEnd: number
}

/**
 * Computes the statistics of a group over all sampled tokens of all rollouts. A token's weight is its sensitivity: a token of
 * probability 0.999 is almost insensitive to noise, and hardly ever contradicts its draw.
 */
export function measureGroup(tokens: readonly SampledToken[]): GroupStatistics {
  return {
    all: measureTokens(tokens),
    arguments: measureTokens(tokens.filter(({ argument }) => argument)),
    leastEnd: tokens.reduce((least, { end, logp }) => (end ? Math.min(least, Math.exp(logp)) : least), 1),
  }
}

function measureTokens(tokens: readonly SampledToken[]): TokenStatistics {
  let [sensitivity, deviation, bias, expectedMismatch, logitError] = [0, 0, 0, 0, 0]
  const claims: number[] = []
  const logitErrors: number[] = []
  for (const token of tokens) {
    const own = sensitivityOf(token)
    const difference = token.claimed - token.logp
    sensitivity += own
    deviation += Math.abs(difference)
    bias += difference
    claims.push(Math.abs(difference) / own)
    expectedMismatch += token.expectedMismatch
    if (token.logitError > 0) logitErrors.push(token.logitError)
    logitError += token.logitError
  }
  return {
    tokens: tokens.length,
    sensitivity,
    deviation,
    bias,
    claims: largest(claims),
    expectedMismatch,
    misses: logitErrors.length,
    logitError,
    logitErrors: largest(logitErrors),
  }
}

/** Returns a token's sensitivity: an error of e in the logits changes the log-probability of a token of probability p by about e (1 - p) at most. */
function sensitivityOf({ logp }: SampledToken): number {
  return -Math.expm1(Math.min(0, logp)) + FLOOR
}

function largest(values: number[]): number[] {
  return values.sort((a, b) => b - a).slice(0, KEPT)
}
