import { poissonTail, type Share, shareOf } from './chances.js'
import type { GroupStatistics, TokenStatistics } from './evidence.js'
import {
  fitThresholds,
  meanBias,
  meanDeviation,
  meanRepair,
  surpriseOf,
  type Thresholds,
  type TokenLimits,
} from './thresholds.js'

export type AuditRefusal = 'logprob_mismatch' | 'sampler_mismatch' | 'implausible_end'

export type AuditVerdict =
  | { readonly accepted: true }
  | {
      readonly accepted: false
      readonly code: AuditRefusal
      /** One sentence for the volunteer, with the numbers. */
      readonly detail: string
    }

export interface AuditOptions {
  /**
   * Whether the node's sampler is known to draw as ours: stage 6 is then judged by the draws. Otherwise by how likely the
   * tokens are, which shows only gross cheating.
   */
  readonly replay: boolean
}

/**
 * Stages 5 to 7 of the judging table, from a group's statistics alone. Of several faults the first counts: claims, then
 * the sampler, then ends; in each the whole group, then its argument tokens.
 */
export function judgeStatistics(
  group: GroupStatistics,
  thresholds: Thresholds,
  { replay }: AuditOptions,
): AuditVerdict {
  const { level } = thresholds
  const parts = [
    ['', group.all, thresholds.all],
    [' of tool-call arguments', group.arguments, thresholds.arguments],
  ] as const
  for (const [where, tokens, limits] of parts) {
    const detail = claimFault(tokens, limits, level, where)
    if (detail !== null) return { accepted: false, code: 'logprob_mismatch', detail }
  }
  for (const [where, tokens, limits] of parts) {
    const detail = replay ? drawFault(tokens, limits, level, where) : surpriseFault(tokens, limits, where)
    if (detail !== null) return { accepted: false, code: 'sampler_mismatch', detail }
  }
  const detail = endFault(group, level)
  return detail === null ? { accepted: true } : { accepted: false, code: 'implausible_end', detail }
}

function claimFault(tokens: TokenStatistics, limits: TokenLimits, level: number, where: string): string | null {
  const deviation = meanDeviation(tokens, limits.usualDeviation)
  if (deviation > limits.deviation) {
    return `the ${tokens.tokens} log-probabilities${where} are ${nats(deviation)} off on average, ${nats(limits.deviation)} at most`
  }
  const bias = meanBias(tokens)
  if (bias > limits.bias) {
    return `the ${tokens.tokens} log-probabilities${where} are ${nats(bias)} too high on average, ${nats(limits.bias)} at most`
  }
  const worst = tokens.claims[0] ?? 0
  if (worst > limits.grossClaim) {
    return `a log-probability${where} needs logits ${nats(worst)} off, no honest one ${nats(limits.grossClaim)}`
  }
  const far = beyond(tokens.claims, limits.farClaim)
  const chance = poissonTail(far, limits.farClaimRate * tokens.room)
  if (chance >= level) return null
  return `${far} of ${tokens.tokens} log-probabilities${where} need logits over ${nats(limits.farClaim)} off, chance ${short(chance)}`
}

function drawFault(tokens: TokenStatistics, limits: TokenLimits, level: number, where: string): string | null {
  const repair = meanRepair(tokens)
  if (repair > limits.repair) {
    return `${tokens.misses} of ${tokens.tokens} tokens${where} are not what their seeds draw, by ${nats(repair)} per choice, ${nats(limits.repair)} at most`
  }
  const chanceOfMisses = poissonTail(tokens.misses, limits.missRate * tokens.evidence)
  if (chanceOfMisses < level) {
    const usual = limits.missRate * tokens.evidence
    return `${tokens.misses} of ${tokens.tokens} tokens${where} are not what their seeds draw, up to ${short(usual)} are usual, chance ${short(chanceOfMisses)}`
  }
  const worst = tokens.repairs[0] ?? 0
  if (worst > limits.grossRepair) {
    return `a token${where} is not what its seed draws, by ${nats(worst)} of the logits, no honest one by ${nats(limits.grossRepair)}`
  }
  const far = beyond(tokens.repairs, limits.farRepair)
  const chance = poissonTail(far, limits.farRepairRate * tokens.evidence)
  if (chance >= level) return null
  return `${far} of ${tokens.tokens} tokens${where} are not what their seeds draw, by over ${nats(limits.farRepair)}, chance ${short(chance)}`
}

function surpriseFault(tokens: TokenStatistics, limits: TokenLimits, where: string): string | null {
  const surprise = surpriseOf(tokens)
  if (Math.abs(surprise) <= limits.surprise) return null
  const way = surprise > 0 ? 'unlikely' : 'likely'
  return `the ${tokens.tokens} tokens${where} are ${short(Math.abs(surprise))} standard deviations too ${way}, ${short(limits.surprise)} at most`
}

/**
 * That an end of probability p or less is sampled anywhere in n tokens has at most the chance n p, whatever the policy:
 * a bound that needs no calibration.
 */
function endFault({ all, leastEnd }: GroupStatistics, level: number): string | null {
  const chance = Math.min(1, all.tokens * leastEnd)
  if (chance >= level) return null
  return `a turn ended by a token of probability ${short(leastEnd)}, in ${all.tokens} tokens a chance of ${short(chance)}`
}

function beyond(descending: readonly number[], limit: number): number {
  const end = descending.findIndex((value) => value <= limit)
  return end < 0 ? descending.length : end
}

const short = (value: number): string => String(Number(value.toPrecision(2)))
const nats = (value: number): string => `${short(value)} nats`

export interface MeasuredRefusals {
  readonly measured: Share
  readonly byCode: Readonly<Record<string, number>>
  readonly withoutDraws: Share
}

/**
 * How many honest groups are refused. Each half of the groups is judged by thresholds that were fitted to the other half:
 * judged by their own, hardly any would fail, and the number would mean nothing.
 */
export function measureFalseRefusals(
  groups: readonly GroupStatistics[],
  goal: number,
  confidence: number,
): MeasuredRefusals {
  const refusals = (replay: boolean): AuditRefusal[] =>
    [0, 1].flatMap((parity) => {
      const others = groups.filter((_, i) => i % 2 !== parity)
      const thresholds = fitThresholds(others, goal)
      return groups.flatMap((group, i) => {
        if (i % 2 !== parity) return []
        const verdict = judgeStatistics(group, thresholds, { replay })
        return verdict.accepted ? [] : [verdict.code]
      })
    })
  const refused = refusals(true)
  const byCode: Record<string, number> = {}
  for (const code of refused) byCode[code] = (byCode[code] ?? 0) + 1
  return {
    measured: shareOf(refused.length, groups.length, confidence),
    byCode,
    withoutDraws: shareOf(refusals(false).length, groups.length, confidence),
  }
}
