/** What is known of one sampled token: the claim that came with it, and the policy's own numbers (nats). */
export interface SampledToken {
  /** Log-probability as reported by the node. */
  readonly claimed: number
  /** Log-probability under the announced policy. */
  readonly logp: number
  /** 1 - sum p^2: how probably an unrelated draw selects another token, and how densely near ties lie (docs/verification.md). */
  readonly expectedMismatch: number
  /** By how much the logits would have to be off for the seed's draw to select this token; 0: it does. */
  readonly logitError: number
  /** The token is part of a tool call's arguments. */
  readonly argument: boolean
  /** The token ends its turn. */
  readonly end: boolean
}

/**
 * Added to a token's room: what a claim may be off where the policy was certain. Float32 rounds at a thousandth of it.
 */
const FLOOR = 1e-3
/** Largest disturbances that are kept one by one; with more of them than this no group is doubtful. */
export const KEPT = 48

/** Sums over tokens, without any threshold. Two groups can be compared by them, however long they are. */
export interface TokenStatistics {
  readonly tokens: number
  /** Sum of 1 - p over the tokens, plus a little: how much a disturbance of the logits can move their log-probabilities. */
  readonly sensitivity: number
  /** Sum of |claimed - recomputed|. Divided by `room`: the typical disturbance of the logits, in nats. */
  readonly deviation: number
  /** Sum of claimed - recomputed. Divided by `room` it is the part that does not cancel. */
  readonly bias: number
  /** The disturbances (nats) that single claims need, largest first. */
  readonly claims: readonly number[]
  /** Sum of the tokens' evidence: the misses that unrelated draws would make. */
  readonly expectedMismatch: number
  /** Tokens which their draw does not select. */
  readonly misses: number
  /** Sum of their repairs (nats). */
  readonly logitError: number
  /** Their repairs (nats), largest first. */
  readonly logitErrors: readonly number[]
}

export interface GroupStatistics {
  readonly all: TokenStatistics
  /** The tokens of tool-call arguments alone: few, and what a lie would be about. */
  readonly arguments: TokenStatistics
  /** Probability of the least likely token that ended a turn; 1 without one. */
  readonly leastEnd: number
}

/**
 * Statistics of a group over all sampled tokens of all its rollouts. Weights follow from what a token can show: one of
 * probability 0.999 leaves almost no room for noise, and hardly ever contradicts a draw.
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

/** An error of e in the logits moves the log-probability of a token of probability p by about e (1 - p) at most. */
function sensitivityOf({ logp }: SampledToken): number {
  return -Math.expm1(Math.min(0, logp)) + FLOOR
}

function largest(values: number[]): number[] {
  return values.sort((a, b) => b - a).slice(0, KEPT)
}
