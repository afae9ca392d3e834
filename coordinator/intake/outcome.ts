import { detailForWire, type RefusalCode } from '../../proto/index.js'
import type { LogitErrorSums } from '../../rollout/verification/index.js'
import type { Audit } from '../ledger/events.js'
import type { JudgedGroup } from '../ledger/run-state.js'
import type { ReplayedGroup } from './body-judge.js'

/** Rewards that differ by less count as equal. */
export const ZERO_VARIANCE = 1e-8

/** The part of a verdict that does not depend on its lease. */
export type Outcome = Omit<
  JudgedGroup,
  'type' | 'atMs' | 'leaseId' | 'node' | 'version' | 'bodySha256' | 'addressBlock' | 'tookMs'
>

const ACCEPTED: Outcome = {
  accepted: true,
  code: null,
  detail: '',
  credit: 0,
  rewards: [],
  zeroVariance: false,
  audit: 'none',
  logitErrors: null,
  completions: [],
  logprobs: [],
  sketches: [],
  sampledTokens: 0,
  calls: 0,
  solved: 0,
}

export const isZeroVariance = (rewards: readonly number[]): boolean =>
  Math.max(...rewards) - Math.min(...rewards) < ZERO_VARIANCE

/** Returns the verdict on a group that was accepted without verification for having no reward variance. It earns no credit. */
export const acceptedUnseen = (rewards: readonly number[]): Outcome => ({ ...ACCEPTED, rewards, zeroVariance: true })

/**
 * Returns the verdict on a group that passed.
 * @param logitErrors  of its audit; null: not audited
 * @param creditOf  returns the credit for rewards
 */
export function accepted(
  { rollouts, completions, logprobs, sketches, sampled }: ReplayedGroup,
  logitErrors: LogitErrorSums | null,
  creditOf: (rewards: readonly number[]) => number,
): Outcome {
  const rewards = rollouts.map(({ reward }) => reward.total)
  return {
    ...ACCEPTED,
    credit: creditOf(rewards),
    rewards,
    zeroVariance: isZeroVariance(rewards),
    audit: logitErrors ? 'passed' : 'none',
    logitErrors,
    completions,
    logprobs,
    sketches,
    sampledTokens: sampled,
    calls: rollouts.reduce((sum, { calls }) => sum + calls.length, 0),
    solved: rollouts.filter(({ solved }) => solved).length,
    ...partsOf(rollouts),
  }
}

/** Returns the mean reward components. Groups of tasks without calls have none. */
function partsOf(rollouts: ReplayedGroup['rollouts']): Pick<Outcome, 'rewardParts'> {
  const parts = rollouts.flatMap(({ reward }) => (reward.components ? [reward.components] : []))
  const [first] = parts
  if (!first) return {}
  const mean = (name: string): number => parts.reduce((sum, part) => sum + part[name]!, 0) / parts.length
  return { rewardParts: Object.fromEntries(Object.keys(first).map((name) => [name, mean(name)])) }
}

export const refused = (code: RefusalCode, detail: string, audit: Audit = 'none'): Outcome => ({
  ...ACCEPTED,
  accepted: false,
  code,
  detail: detailForWire(detail),
  audit,
})
