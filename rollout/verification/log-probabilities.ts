import { poissonTail } from './chances.js'
import { beyond, firstFault, type MeasuredGroup, nats, short } from './measured-group.js'
import type { GroupStatistics, TokenStatistics } from './sampled-token.js'
import { sumLimit, type TokenLimits } from './thresholds.js'

/** Check 5: the claimed log-probabilities are those of the announced policy. */
export const logprobFault = (group: MeasuredGroup): string | null => firstFault(group, claimFault)

/** Describes the measurements of check 5 in one sentence. */
export const logprobNumbers = ({ all }: GroupStatistics): string =>
  `${all.tokens} tokens, claimed log-probabilities ${nats(all.deviation / all.sensitivity, 3)} off on average, the worst ${nats(all.claims[0] ?? 0, 3)}`

function claimFault(tokens: TokenStatistics, limits: TokenLimits, level: number, where: string): string | null {
  const { deviation, bias, sensitivity } = tokens
  // Without tokens the sensitivity is 0, and there is no mean.
  const per = (sum: number): string => nats(sensitivity > 0 ? sum / sensitivity : sum)
  const most = sumLimit(limits.deviation, sensitivity, limits.farClaim, level)
  if (deviation > most) {
    return `the ${tokens.tokens} log-probabilities${where} are ${per(deviation)} off on average, the limit for as many tokens is ${per(most)}`
  }
  const mostBias = sumLimit(limits.bias, sensitivity, limits.farClaim, level)
  if (bias > mostBias) {
    return `the ${tokens.tokens} log-probabilities${where} are ${per(bias)} too high on average, the limit for as many tokens is ${per(mostBias)}`
  }
  const worst = tokens.claims[0] ?? 0
  if (worst > limits.grossClaim) {
    return `a log-probability${where} needs logits that are ${nats(worst)} off, the limit is ${nats(limits.grossClaim)}`
  }
  const far = beyond(tokens.claims, limits.farClaim)
  const chance = poissonTail(far, limits.farClaimRate * tokens.sensitivity)
  if (chance >= level) return null
  return `${far} of ${tokens.tokens} log-probabilities${where} need logits that are over ${nats(limits.farClaim)} off, which has probability ${short(chance)} in honest groups`
}
