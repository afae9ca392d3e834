import { z } from 'zod'
import { poissonUpper } from './chances.js'
import { KEPT, type TokenStatistics } from './sampled-token.js'

/** Nats: where repairs are told apart, by a factor of √2. Below the first they are too common, and buy too little, to be counted. */
export const LOGIT_ERROR_EDGES = [
  ...[0.001, 0.0014, 0.002, 0.0028, 0.004, 0.00565, 0.008, 0.0113, 0.016, 0.0226],
  ...[0.032, 0.0453, 0.064, 0.0906, 0.128],
] as const
/** Of the rates that are measured, the upper bound of this confidence is used. */
const CONFIDENCE = 0.95

/** For each of `REPAIR_EDGES` how many honest repairs of at least that size there are per unit of evidence: upper bounds, none above the one before. */
export const logitErrorTailSchema = z.array(z.number().positive()).length(LOGIT_ERROR_EDGES.length).readonly()
export type LogitErrorTail = z.output<typeof logitErrorTailSchema>

/**
 * Bounds the honest repairs from two sides and takes the lower bound. They are counted; and they follow from the claims, for a repair is
 * half of what two logits' errors differ by, such a difference is what a claim's disturbance shows, and differences of `d` bring
 * E[max(d - 2x, 0)] / 2 repairs of more than x per unit of evidence (docs/verification.md). Claims say more of large repairs, which are too
 * seldom to be counted.
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
    // Each counts as if it had all the room there can be. No group's list may end above the edge: what it leaves out would be missing.
    const isCut = groups.some(({ claims }) => claims.length === KEPT && claims.at(-1)! > 2 * edge)
    const beyond = sum(({ claims }) => claims.reduce((total, claim) => total + Math.max(0, claim - 2 * edge), 0))
    // Larger ones than the worst may have been missed. Their share is taken to fall at least with the square of their size.
    const unseen = poissonUpper(0, CONFIDENCE) * worst * Math.min(1, worst / (2 * edge))
    const derived = isCut ? Number.POSITIVE_INFINITY : (beyond + unseen) / sensitivity / 2
    // What has been seen is not to be argued away.
    bound = Math.min(bound, counted, Math.max(derived, found / expectedMismatch))
    return bound
  })
}

/**
 * Ways of choosing among near ties for the reward: the share of ties that is chosen (those within a repair of r are 2r per unit of evidence), and
 * up to which repair, in nats. Some go as far as the limits of a single group allow, more or less often; one takes all that cost little.
 */
const STEERING_STRATEGIES = [
  { share: 0.5, reach: 0.032 },
  { share: 0.1, reach: 0.032 },
  { share: 0.02, reach: 0.032 },
  { share: 1, reach: 0.008 },
] as const
/** How many ways of steering are told from honest work. */
export const STEERING_STRATEGY_COUNT = STEERING_STRATEGIES.length
/** Those that choose so much that a few honest groups take back what an honest mishap has said for them. */
export const AGGRESSIVE_STRATEGIES: readonly number[] = STEERING_STRATEGIES.flatMap(({ share }, way) =>
  share >= 0.5 ? [way] : [],
)

/** Odds of one repair, by `REPAIR_EDGES`, and what honest work takes back per unit of evidence; natural logarithms. */
interface Odds {
  readonly gains: readonly number[]
  readonly cost: number
}

/** For each way of steering. @param drift  honest repairs of policies that come may be so many times as large, and as many */
export function steeringOdds(tail: LogitErrorTail, drift: number): readonly Odds[] {
  const rates = LOGIT_ERROR_EDGES.map((edge) => {
    const at = LOGIT_ERROR_EDGES.findLastIndex((one) => one <= edge / drift)
    // Of repairs below the first edge there can be no more than there are tokens that could show one.
    return drift * (at < 0 ? 1 : Math.min(1, tail[at]!))
  })
  return STEERING_STRATEGIES.map(({ share, reach }) => {
    let ratio = 1
    const ratios = LOGIT_ERROR_EDGES.map((edge, i) => {
      const chosen = 2 * share * Math.max(0, Math.min(LOGIT_ERROR_EDGES[i + 1] ?? reach, reach) - edge)
      // Two bounds may be equal, and then say nothing of what is between them.
      const honest = Math.max(rates[i]! - (rates[i + 1] ?? 0), rates[i]! / 4)
      // A larger repair never speaks less against a group, so that the bounds of the rates bound the cost.
      ratio = Math.max(ratio, 1 + chosen / honest)
      return ratio
    })
    // Summed by parts: the rates are those of all repairs beyond an edge.
    const cost = ratios.reduce((sum, ratio, i) => sum + (ratio - (ratios[i - 1] ?? 1)) * rates[i]!, 0)
    return { gains: ratios.map(Math.log), cost }
  })
}

/**
 * Natural logarithms of the odds that a group was steered, one for each way, whose exponential is at most 1 on average for honest work:
 * its repairs come one by one and independently, as its draws do (Poisson).
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
