import type { RepairSums } from '../../judging/repair-sums.js'

/**
 * Honest policies move away from the one that was calibrated, so they may need more repair by this factor, and favour
 * rollouts that earn more by this share.
 */
const DRIFT = 2
const LEANING = 0.1
/** Part of what may be bet on a repair being in a better rollout: all of it would be lost with the first that is in none. */
const BET = 0.75
/**
 * An honest key is taken for one that steers once in so many audited groups on average, or more seldom: at a group a minute, every
 * one of them audited, once in 190 years.
 */
const GROUPS_PER_FALSE_ALARM = 1e8

/** Natural logarithms of two odds against honest work, each from the moment that speaks most for it. */
export interface Steering {
  /** By how much the choices were off in all. */
  readonly amount: number
  /** Whether they were off where it paid. */
  readonly direction: number
}

export const UNSTEERED: Steering = { amount: 0, direction: 0 }

/**
 * Adds an audited group. Each part is a CUSUM over factors whose mean is at most 1 for honest work, so the time to a false alarm is
 * at least the threshold on average (Lorden 1971). Of the amount the factor is e^(repair / largest) over what Bennett's
 * inequality (1962) allows for, of the direction a bet at the odds of the evidence (Shafer 2021).
 */
export function afterRepairs({ amount, direction }: Steering, repairs: RepairSums): Steering {
  const { repair, expected, largest, variance, betterRepair, betterEvidence } = repairs
  const allowed = (DRIFT * expected) / largest + ((Math.E - 2) * DRIFT * variance) / largest ** 2
  const fair = Math.min(1, betterEvidence + LEANING)
  const isBet = repair > 0 && betterEvidence > 0
  const won = isBet ? Math.log1p(BET * (betterRepair / fair - 1)) : 0
  return {
    amount: Math.max(0, amount + repair / largest - allowed),
    direction: Math.max(0, direction + won),
  }
}

export const isSteered = ({ amount, direction }: Steering): boolean =>
  (Math.exp(amount) + Math.exp(direction)) / 2 >= GROUPS_PER_FALSE_ALARM
