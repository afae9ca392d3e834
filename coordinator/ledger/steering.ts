import type { LogitErrorSums } from '../../rollout/verification/logit-error-sums.js'
import { AGGRESSIVE_STRATEGIES, STEERING_STRATEGY_COUNT } from '../../rollout/verification/logit-error-tail.js'

/** Honest policies move away from the one that was calibrated, and may favour rollouts that earn more by this share. */
const LEANING = 0.1
/** Part of what may be bet on a repair being in a better rollout: all of it would be lost with the first that is in none. */
const BET = 0.75
/**
 * An honest key is taken for one that steers once in so many audited groups on average, or more seldom: at a group a minute, every
 * one of them audited, once in 19 years.
 */
const GROUPS_PER_FALSE_ALARM = 1e7
/**
 * The lower level, of the bold ways alone: no verdict, so it may be reached a thousand times as often. Simulated with all the drift that
 * calibrations allow for, honest keys reach it once in 3,500 groups, and once in 167,000 as they were calibrated.
 */
const GROUPS_PER_HOLD = 200

/** Natural logarithms of odds against honest work, each from the moment that speaks most for it. */
export interface Steering {
  /** That so many choices were off, by so much: for each way of steering that is told from honest work. */
  readonly amounts: readonly number[]
  /** Whether they were off where it paid. */
  readonly direction: number
  /** Its groups wait: the bold ways have reached the lower level, and honest groups have not taken all of that back. */
  readonly isHeldBack: boolean
}

export const UNSTEERED: Steering = {
  amounts: Array.from({ length: STEERING_STRATEGY_COUNT }, () => 0),
  direction: 0,
  isHeldBack: false,
}

/**
 * Adds an audited group. Each part is a CUSUM over factors whose mean is at most 1 for honest work, so the time to a false alarm is
 * at least the threshold on average (Lorden 1971). Of the amounts the factors are likelihood ratios (`oddsOfSteering`), of the direction
 * a bet at the odds of the evidence (Shafer 2021).
 */
export function afterLogitErrors(before: Steering, logitErrors: LogitErrorSums): Steering {
  const { logitError, odds, betterLogitError, betterExpectedMismatch } = logitErrors
  const fair = Math.min(1, betterExpectedMismatch + LEANING)
  const isBet = logitError > 0 && betterExpectedMismatch > 0
  const won = isBet ? Math.log1p(BET * (betterLogitError / fair - 1)) : 0
  const amounts = before.amounts.map((nats, i) => Math.max(0, nats + (odds?.[i] ?? 0)))
  const bold = AGGRESSIVE_STRATEGIES.map((way) => amounts[way]!)
  const isUndone = bold.every((nats) => nats === 0)
  return {
    amounts,
    direction: Math.max(0, before.direction + won),
    isHeldBack: meanOdds(bold) >= GROUPS_PER_HOLD || (before.isHeldBack && !isUndone),
  }
}

export const isSteered = ({ amounts, direction }: Steering): boolean =>
  meanOdds([...amounts, direction]) >= GROUPS_PER_FALSE_ALARM

/** @param all  natural logarithms of odds */
const meanOdds = (all: readonly number[]): number => all.reduce((sum, nats) => sum + Math.exp(nats), 0) / all.length
