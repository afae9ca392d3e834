import { oddsOfSteering, steeringOdds } from './logit-error-tail.js'
import type { SampledToken } from './sampled-token.js'
import { type Calibration, CalibrationError, DRIFT, FAR, PRIOR } from './thresholds.js'

/**
 * What an audited group adds to the sums over all groups of its key. Choices among near ties stay below every limit of a single
 * group; added up they stand out, because honest repairs average out and are blind to the reward.
 */
export interface LogitErrorSums {
  /** Sampled tokens. */
  readonly tokens: number
  /** Nats: the repairs of all tokens, and what an honest group needs on average. */
  readonly logitError: number
  readonly expected: number
  /** Logarithms of the odds that its choices were steered, see `oddsOfSteering`; left out by earlier versions. */
  readonly odds?: readonly number[] | undefined
  /** Of `repair` the share, and of the evidence, in rollouts that earned more than the group's mean. */
  readonly betterLogitError: number
  readonly betterExpectedMismatch: number
}

/** What is expected of the repairs of honest groups. */
export interface LogitErrorExpectation {
  /** Nats per unit of evidence: a bound of their mean. */
  readonly mean: number
  readonly steering: ReturnType<typeof steeringOdds>
}

/** Name of the honest groups' `meanRepair` in a calibration. */
const LOGIT_ERRORS = 'mean logit error, nats'

/**
 * What a calibration says of honest repairs. It holds quantiles, and no group is worse than the quantile above it: so the mean
 * that they bound is never below the true one. Honest repairs are few, and none at all would promise that there will be
 * none: so one group more is counted, whose repair is the worst that the thresholds foresee.
 * @throws CalibrationError `bad_calibration` for one without these quantiles
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
    throw new CalibrationError('bad_calibration', `it has no quantiles of "${LOGIT_ERRORS}"`)
  const measured = steps.reduce((sum, { upTo, nats }, i) => sum + (upTo - (steps[i - 1]?.upTo ?? 0)) * nats, 0)
  const further = thresholds.all.logitError / FAR
  return { mean: (groups * measured + further) / (groups + 1), steering: steeringOdds(logitErrorTail, DRIFT) }
}

/**
 * @param tokens  the sampled ones of all rollouts, in order
 * @param rollouts  how many of them each has, and what it earned
 */
export function sumLogitErrors(
  tokens: readonly SampledToken[],
  rollouts: readonly { readonly sampled: number; readonly reward: number }[],
  { mean, steering }: LogitErrorExpectation,
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
  // Calibrated is the repair per unit of evidence with so much more that needs none, see `meanRepair`.
  const units = sum('expectedMismatch') + PRIOR
  return {
    tokens: tokens.length,
    logitError: sum('logitError'),
    expected: mean * units,
    odds: oddsOfSteering(
      tokens.map((token) => token.logitError),
      sum('expectedMismatch'),
      steering,
    ),
    betterLogitError: shareOf('logitError'),
    betterExpectedMismatch: shareOf('expectedMismatch'),
  }
}
