import { rewardPreset } from '../../rollout/reward/index.js'

/** Parameters of credit. docs/reference/protocol.md prints this table, "Credit". */
export const CREDIT = {
  perRollout: { value: 10, reason: 'most points for one rollout, of any length and duration' },
  zeroVarianceShare: {
    value: 0.05,
    reason: 'share of these points that a group with equal rewards earns, because it only shows which task to skip',
  },
  freshness: {
    value: 0.9,
    reason: 'factor for each version that the group is late, because the policy has changed',
  },
} as const

export interface CreditedGroup {
  /** Recomputed rewards, one for each rollout. */
  readonly rewards: readonly number[]
  /** Name of the reward preset. */
  readonly reward: string
  /** Number of versions published since the group's own. */
  readonly late: number
}

/**
 * Returns the credit of a verified and accepted group, in whole points. It is proportional to how much a policy gradient can use the
 * group. Advantages are rewards minus their mean, so the measure is their standard deviation; half the preset's maximum is the largest
 * that honest rewards reach. Tokens and time do not count: otherwise longer rollouts would earn more.
 * @throws PresetError
 */
export function creditFor({ rewards, reward, late }: CreditedGroup): number {
  const most = rewardPreset(reward).maximum.calls / 2
  const signal = Math.min(1, deviation(rewards) / most)
  const { perRollout, zeroVarianceShare, freshness } = CREDIT
  const share = zeroVarianceShare.value + (1 - zeroVarianceShare.value) * signal
  return Math.round(rewards.length * perRollout.value * share * freshness.value ** Math.max(0, late))
}

/** Returns the population standard deviation. */
function deviation(values: readonly number[]): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length)
}
