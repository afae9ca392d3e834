import type { LogitErrorSums } from '../../rollout/verification/logit-error-sums.js'
import { AGGRESSIVE_STRATEGIES, STEERING_STRATEGY_COUNT } from '../../rollout/verification/logit-error-tail.js'

/** Share by which an honest policy, which moves away from the calibrated one, may favour better rollouts. */
const LEANING = 0.1
/** Part of the odds that is bet on a logit error being in a better rollout. Betting all would lose everything with the first miss. */
const BET = 0.75
/**
 * Mean number of audited groups until an honest key is taken for one that steers, at least: with an audited group per minute, once in
 * 19 years.
 */
const GROUPS_PER_FALSE_ALARM = 1e7
/**
 * Lower level, for the bold ways of steering alone. It leads to no verdict, so false alarms may be more frequent. Simulated with all the
 * drift that calibrations allow, honest keys reach it once in 3,500 groups; without drift once in 167,000 groups.
 */
const GROUPS_PER_HOLD = 200

/** Natural logarithms of odds against honest work, each since the moment at which the odds were largest. */
export interface Steering {
  /** Odds that the logit errors are too frequent or too large: one for each way of steering that is distinguished. */
  readonly amounts: readonly number[]
  /** Odds that the logit errors are in better rollouts. */
  readonly direction: number
  /** Odds that the claims are those of other weights or caches. */
  readonly claims: number
  /** Whether its groups are held back: the bold ways have reached the lower level, and honest groups have not outweighed that yet. */
  readonly isHeldBack: boolean
}

export const UNSTEERED: Steering = {
  amounts: Array.from({ length: STEERING_STRATEGY_COUNT }, () => 0),
  direction: 0,
  claims: 0,
  isHeldBack: false,
}

/**
 * Adds an audited group. Each part is a CUSUM over factors whose mean is at most 1 for honest work. So the mean time to a false alarm is
 * at least the threshold (Lorden 1971). The factors of the amounts are likelihood ratios (`oddsOfSteering`). The factor of the direction is
 * a bet at the odds of the expected mismatch (Shafer 2021). The factor of the claims is bounded by Bernstein's inequality (`claimOdds`).
 */
export function afterLogitErrors(before: Steering, logitErrors: LogitErrorSums): Steering {
  const { logitError, odds, claimOdds = 0, betterLogitError, betterExpectedMismatch } = logitErrors
  const fair = Math.min(1, betterExpectedMismatch + LEANING)
  const isBet = logitError > 0 && betterExpectedMismatch > 0
  const won = isBet ? Math.log1p(BET * (betterLogitError / fair - 1)) : 0
  const amounts = before.amounts.map((nats, i) => Math.max(0, nats + (odds?.[i] ?? 0)))
  const bold = AGGRESSIVE_STRATEGIES.map((way) => amounts[way]!)
  const claims = Math.max(0, before.claims + claimOdds)
  const isUndone = bold.every((nats) => nats === 0) && claims === 0
  const isDoubtful = meanOdds(bold) >= GROUPS_PER_HOLD || Math.exp(claims) >= GROUPS_PER_HOLD
  return {
    amounts,
    direction: Math.max(0, before.direction + won),
    claims,
    isHeldBack: isDoubtful || (before.isHeldBack && !isUndone),
  }
}

export const isSteered = ({ amounts, direction, claims }: Steering): boolean =>
  meanOdds([...amounts, direction]) >= GROUPS_PER_FALSE_ALARM || Math.exp(claims) >= GROUPS_PER_FALSE_ALARM

/** Returns the mean of the odds. @param all  natural logarithms of odds */
const meanOdds = (all: readonly number[]): number => all.reduce((sum, nats) => sum + Math.exp(nats), 0) / all.length
