import { poissonTail } from './chances.js'
import { beyond, firstFault, type MeasuredGroup, nats, short } from './measured-group.js'
import type { GroupStatistics, TokenStatistics } from './sampled-token.js'
import { sumLimit, type TokenLimits } from './thresholds.js'

/** Stage 5: the claimed log-probabilities are those of the announced policy. */
export const logprobFault = (group: MeasuredGroup): string | null => firstFault(group, claimFault)

/** What stage 5 has measured of a group, in one sentence. */
export const logprobNumbers = ({ all }: GroupStatistics): string =>
  `${all.tokens} tokens, claims ${nats(all.deviation / all.sensitivity, 3)} off on average, the worst ${nats(all.claims[0] ?? 0, 3)}`

function claimFault(tokens: TokenStatistics, limits: TokenLimits, level: number, where: string): string | null {
  const { deviation, bias, sensitivity } = tokens
  // Rounding of nothing is nothing: without room there is no mean.
  const per = (sum: number): string => nats(sensitivity > 0 ? sum / sensitivity : sum)
  const most = sumLimit(limits.deviation, sensitivity, limits.farClaim, level)
  if (deviation > most) {
    return `the ${tokens.tokens} log-probabilities${where} are ${per(deviation)} off on average, ${per(most)} at most for so many`
  }
  const mostBias = sumLimit(limits.bias, sensitivity, limits.farClaim, level)
  if (bias > mostBias) {
    return `the ${tokens.tokens} log-probabilities${where} are ${per(bias)} too high on average, ${per(mostBias)} at most for so many`
  }
  const worst = tokens.claims[0] ?? 0
  if (worst > limits.grossClaim) {
    return `a log-probability${where} needs logits ${nats(worst)} off, no honest one ${nats(limits.grossClaim)}`
  }
  const far = beyond(tokens.claims, limits.farClaim)
  const chance = poissonTail(far, limits.farClaimRate * tokens.sensitivity)
  if (chance >= level) return null
  return `${far} of ${tokens.tokens} log-probabilities${where} need logits over ${nats(limits.farClaim)} off, chance ${short(chance)}`
}
