import { z } from 'zod'
import { poissonUpper } from './chances.js'
import { KEPT, type TokenStatistics } from './sampled-token.js'

/** Bin edges of logit errors in nats, by a factor of √2. Smaller errors are not counted: they are too common, and too weak to steer with. */
export const LOGIT_ERROR_EDGES = [
  ...[0.001, 0.0014, 0.002, 0.0028, 0.004, 0.00565, 0.008, 0.0113, 0.016, 0.0226],
  ...[0.032, 0.0453, 0.064, 0.0906, 0.128],
] as const
/** Confidence of the upper bounds of measured rates. */
const CONFIDENCE = 0.95

/**
 * Upper bounds of the number of honest logit errors per unit of expected mismatch, in descending order. There is one bound for each of
 * `LOGIT_ERROR_EDGES`, over the errors of at least that size.
 */
export const logitErrorTailSchema = z.array(z.number().positive()).length(LOGIT_ERROR_EDGES.length).readonly()
export type LogitErrorTail = z.output<typeof logitErrorTailSchema>

/**
 * Bounds the rate of honest logit errors in two ways and takes the lower bound. The first counts them. The second derives them from the
 * claims. A logit error is half of the difference between two logits' errors, and the disturbance of a claim shows such a difference.
 * Differences of `d` cause E[max(d - 2x, 0)] / 2 logit errors above x per unit of expected mismatch (docs/explain/verification.md). Claims give the
 * better bound for large logit errors, which are too rare to count.
 * @param groups  statistics over all sampled tokens of honest groups
 */
export function fitLogitErrorTail(groups: readonly TokenStatistics[]): LogitErrorTail {
  const sum = (of: (group: TokenStatistics) => number): number => groups.reduce((total, group) => total + of(group), 0)
  const [sensitivity, expectedMismatch] = [sum((group) => group.sensitivity), sum((group) => group.expectedMismatch)]
  const worst = groups.reduce((most, { claims }) => Math.max(most, claims[0] ?? 0), 0)
  let bound = Number.POSITIVE_INFINITY
  return LOGIT_ERROR_EDGES.map((edge) => {
    const found = sum(({ logitErrors }) => logitErrors.filter((logitError) => logitError >= edge).length)
    const counted = poissonUpper(found, CONFIDENCE) / expectedMismatch
    // Each claim counts with the full sensitivity. If a group's list ends above the edge, claims are missing, and the bound does not apply.
    const isCut = groups.some(({ claims }) => claims.length === KEPT && claims.at(-1)! > 2 * edge)
    const beyond = sum(({ claims }) => claims.reduce((total, claim) => total + Math.max(0, claim - 2 * edge), 0))
    // The sample may lack errors above the worst one. Their share is assumed to fall at least with the square of their size.
    const unseen = poissonUpper(0, CONFIDENCE) * worst * Math.min(1, worst / (2 * edge))
    const derived = isCut ? Number.POSITIVE_INFINITY : (beyond + unseen) / sensitivity / 2
    // The bound must not be below the counted rate.
    bound = Math.min(bound, counted, Math.max(derived, found / expectedMismatch))
    return bound
  })
}

/**
 * Strategies of steering: choosing among near ties for the reward. `share` is the share of ties that is chosen (there are 2r ties within a
 * logit error of r per unit of expected mismatch), `reach` the largest logit error, in nats. The first three use the limit of a single
 * group, more or less often. The last takes all cheap ties.
 */
const STEERING_STRATEGIES = [
  { share: 0.5, reach: 0.032 },
  { share: 0.1, reach: 0.032 },
  { share: 0.02, reach: 0.032 },
  { share: 1, reach: 0.008 },
] as const
/** Number of steering strategies that are tested against honest work. */
export const STEERING_STRATEGY_COUNT = STEERING_STRATEGIES.length
/** Indices of the strategies that choose so often that a few honest groups cancel the odds of an honest accident. */
export const AGGRESSIVE_STRATEGIES: readonly number[] = STEERING_STRATEGIES.flatMap(({ share }, way) =>
  share >= 0.5 ? [way] : [],
)

/** Log odds of one logit error by `LOGIT_ERROR_EDGES`, and their decrease per unit of expected mismatch. */
interface Odds {
  readonly gains: readonly number[]
  readonly cost: number
}

/** Returns the odds of each strategy. @param drift  factor by which honest logit errors of later policies may be larger, and more frequent */
export function steeringOdds(tail: LogitErrorTail, drift: number): readonly Odds[] {
  const rates = LOGIT_ERROR_EDGES.map((edge) => {
    const at = LOGIT_ERROR_EDGES.findLastIndex((one) => one <= edge / drift)
    // The rate of logit errors below the first edge is at most 1 per unit of expected mismatch.
    return drift * (at < 0 ? 1 : Math.min(1, tail[at]!))
  })
  return STEERING_STRATEGIES.map(({ share, reach }) => {
    let ratio = 1
    const ratios = LOGIT_ERROR_EDGES.map((edge, i) => {
      const chosen = 2 * share * Math.max(0, Math.min(LOGIT_ERROR_EDGES[i + 1] ?? reach, reach) - edge)
      // Two bounds may be equal, and then their difference is no rate.
      const honest = Math.max(rates[i]! - (rates[i + 1] ?? 0), rates[i]! / 4)
      // The odds never decrease with the logit error, so that the bounds of the rates bound the cost.
      ratio = Math.max(ratio, 1 + chosen / honest)
      return ratio
    })
    // Summation by parts: the rates are cumulative, of all logit errors beyond an edge.
    const cost = ratios.reduce((sum, ratio, i) => sum + (ratio - (ratios[i - 1] ?? 1)) * rates[i]!, 0)
    return { gains: ratios.map(Math.log), cost }
  })
}

/**
 * Returns the log odds that a group was steered, one for each strategy. For honest work the expectation of their exponential is at most
 * 1: honest logit errors are independent, as the draws are (Poisson).
 * @param logitErrors  nats
 */
export function oddsOfSteering(
  logitErrors: readonly number[],
  expectedMismatch: number,
  odds: readonly Odds[],
): number[] {
  return odds.map(({ gains, cost }) =>
    logitErrors.reduce((sum, logitError) => {
      const at = LOGIT_ERROR_EDGES.findLastIndex((edge) => edge <= logitError)
      return at < 0 ? sum : sum + gains[at]!
    }, -cost * expectedMismatch),
  )
}
