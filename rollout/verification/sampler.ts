import { poissonTail } from './chances.js'
import { beyond, firstFault, type MeasuredGroup, nats, short } from './measured-group.js'
import type { GroupStatistics, TokenStatistics } from './sampled-token.js'
import { meanLogitError, type TokenLimits } from './thresholds.js'

/** Stage 6: the tokens are what the lease's seeds draw from the policy. */
export const samplerFault = (group: MeasuredGroup): string | null => firstFault(group, drawFault)

/** What stage 6 has measured of a group, in one sentence. */
export const samplerNumbers = ({ all }: GroupStatistics): string =>
  `${all.misses} tokens are not what their draws select, the worst by ${nats(all.logitErrors[0] ?? 0, 3)}; draws of another sampler would miss about ${short(all.expectedMismatch, 3)}`

function drawFault(tokens: TokenStatistics, limits: TokenLimits, level: number, where: string): string | null {
  const logitError = meanLogitError(tokens)
  if (logitError > limits.logitError) {
    return `${tokens.misses} of ${tokens.tokens} tokens${where} are not what their seeds draw, by ${nats(logitError)} per choice, ${nats(limits.logitError)} at most`
  }
  const chanceOfMisses = poissonTail(tokens.misses, limits.missRate * tokens.expectedMismatch)
  if (chanceOfMisses < level) {
    const usual = limits.missRate * tokens.expectedMismatch
    return `${tokens.misses} of ${tokens.tokens} tokens${where} are not what their seeds draw, up to ${short(usual)} are usual, chance ${short(chanceOfMisses)}`
  }
  const worst = tokens.logitErrors[0] ?? 0
  if (worst > limits.grossLogitError) {
    return `a token${where} is not what its seed draws, by ${nats(worst)} of the logits, no honest one by ${nats(limits.grossLogitError)}`
  }
  const far = beyond(tokens.logitErrors, limits.farLogitError)
  const chance = poissonTail(far, limits.farLogitErrorRate * tokens.expectedMismatch)
  if (chance >= level) return null
  return `${far} of ${tokens.tokens} tokens${where} are not what their seeds draw, by over ${nats(limits.farLogitError)}, chance ${short(chance)}`
}
