import { type ClaimLaw, claimOdds } from './claim-odds.js'
import { oddsOfSteering, steeringOdds } from './logit-error-tail.js'
import { measureGroup, type SampledToken } from './sampled-token.js'
import { type Calibration, CalibrationError, DRIFT, FAR, PRIOR } from './thresholds.js'

/**
 * The contribution of an audited group to the sums over all groups of its key. Choices among near ties stay below every limit of a
 * single group. In the sums they become visible, because honest logit errors average out and do not depend on the reward.
 */
export interface LogitErrorSums {
  /** Number of sampled tokens. */
  readonly tokens: number
  /** Sum of the logit errors of all tokens in nats, and its expectation for an honest group. */
  readonly logitError: number
  readonly expected: number
  /** Natural logarithms of the odds that the group's choices were steered, see `oddsOfSteering`; missing in logs of earlier versions. */
  readonly odds?: readonly number[] | undefined
  /** Natural logarithm of the odds that the claims are those of other weights, see `claimOdds`; missing in logs of earlier versions. */
  readonly claimOdds?: number | undefined
  /** Shares of the logit error and of the expected mismatch in rollouts whose reward is above the group's mean. */
  readonly betterLogitError: number
  readonly betterExpectedMismatch: number
}

/** The expected logit errors of honest groups. */
export interface LogitErrorExpectation {
  /** Upper bound of their mean, in nats per unit of expected mismatch. */
  readonly mean: number
  readonly steering: ReturnType<typeof steeringOdds>
  /** Law of honest claims. */
  readonly claims: ClaimLaw
}

/** Name of the honest groups' mean logit error in a calibration. */
const LOGIT_ERRORS = 'mean logit error, nats'

/**
 * Returns a calibration's expectation of honest logit errors. A calibration contains quantiles, and no group is worse than the quantile
 * above it. So the computed mean is never below the true one. Honest logit errors are rare, and a calibration without any must not
 * exclude them. So one more group is counted, with the largest logit error that the thresholds expect.
 * @throws CalibrationError `bad_calibration` for a calibration without these quantiles
 */
export function expectedLogitError({
  honest,
  groups,
  thresholds,
  logitErrorTail,
}: Pick<Calibration, 'honest' | 'groups' | 'thresholds' | 'logitErrorTail'>): LogitErrorExpectation {
  const steps = Object.entries(honest[LOGIT_ERRORS] ?? {})
    .map(([share, nats]) => ({ upTo: share === 'max' ? 1 : Number(share), nats }))
    .sort((a, b) => a.upTo - b.upTo)
  if (steps.at(-1)?.upTo !== 1)
    throw new CalibrationError(
      'bad_calibration',
      `the calibration has no quantiles of "${LOGIT_ERRORS}": calibrate again with this version`,
    )
  const measured = steps.reduce((sum, { upTo, nats }, i) => sum + (upTo - (steps[i - 1]?.upTo ?? 0)) * nats, 0)
  const further = thresholds.all.logitError / FAR
  return {
    mean: (groups * measured + further) / (groups + 1),
    steering: steeringOdds(logitErrorTail, DRIFT),
    claims: { ...thresholds.all.deviation, largest: thresholds.all.farClaim },
  }
}

/**
 * Sums the logit errors of an audited group.
 * @param tokens  the sampled tokens of all rollouts, in order
 * @param rollouts  number of sampled tokens and reward of each rollout
 */
export function sumLogitErrors(
  tokens: readonly SampledToken[],
  rollouts: readonly { readonly sampled: number; readonly reward: number }[],
  { mean, steering, claims }: LogitErrorExpectation,
): LogitErrorSums {
  const average = rollouts.reduce((sum, { reward }) => sum + reward, 0) / rollouts.length
  let at = 0
  const parts = rollouts.map(({ sampled, reward }) => {
    const own = tokens.slice(at, at + sampled)
    at += sampled
    return {
      isBetter: reward > average,
      logitError: own.reduce((sum, token) => sum + token.logitError, 0),
      expectedMismatch: own.reduce((sum, token) => sum + token.expectedMismatch, 0),
    }
  })
  const sum = (of: 'logitError' | 'expectedMismatch', among = parts): number =>
    among.reduce((total, part) => total + part[of], 0)
  const better = parts.filter(({ isBetter }) => isBetter)
  const shareOf = (of: 'logitError' | 'expectedMismatch'): number =>
    sum(of) > 0 ? Math.min(1, sum(of, better) / sum(of)) : 0
  // The calibration has the logit error per unit of expected mismatch including the prior, see `meanLogitError`.
  const units = sum('expectedMismatch') + PRIOR
  const { deviation, sensitivity } = measureGroup(tokens).all
  return {
    tokens: tokens.length,
    logitError: sum('logitError'),
    expected: mean * units,
    odds: oddsOfSteering(
      tokens.map((token) => token.logitError),
      sum('expectedMismatch'),
      steering,
    ),
    claimOdds: claimOdds(deviation, sensitivity, claims),
    betterLogitError: shareOf('logitError'),
    betterExpectedMismatch: shareOf('expectedMismatch'),
  }
}
