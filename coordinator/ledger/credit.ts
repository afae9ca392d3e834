import { rewardPreset } from '../../rollout/reward/index.js'

/** What credit is counted by. docs/protocol.md prints this table, "Credit". */
export const CREDIT = {
  perRollout: { value: 10, reason: 'the most for one: a group is worth no more, however long or far apart it is' },
  zeroVarianceShare: {
    value: 0.05,
    reason: 'of the most, for a group that was seen and teaches nothing but that its task rests',
  },
  freshness: {
    value: 0.9,
    reason: 'what each version that it is late leaves of it: the policy has moved on',
  },
} as const

export interface CreditedGroup {
  /** As recomputed, one for each rollout. */
  readonly rewards: readonly number[]
  /** Name of the preset that they were made by. */
  readonly reward: string
  /** Versions that were published since the group's own. */
  readonly late: number
}

/**
 * What an accepted group that somebody has seen earns its volunteer, in whole points. It follows how much a policy gradient can take from
 * the group: advantages are rewards less their mean, so that is their standard deviation, of which half the preset's maximum is the most
 * that honest rewards reach. Neither tokens nor the time they took enter: who writes on to the limit would be paid for it.
 * @throws PresetError
 */
export function creditFor({ rewards, reward, late }: CreditedGroup): number {
  const most = rewardPreset(reward).maximum.calls / 2
  const signal = Math.min(1, deviation(rewards) / most)
  const { perRollout, zeroVarianceShare, freshness } = CREDIT
  const share = zeroVarianceShare.value + (1 - zeroVarianceShare.value) * signal
  return Math.round(rewards.length * perRollout.value * share * freshness.value ** Math.max(0, late))
}

/** Of these values themselves, not of what they were drawn from. */
function deviation(values: readonly number[]): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length)
}
