import { poissonTail } from './chances.js'
import { beyond, firstFault, type MeasuredGroup, nats, short } from './measured-group.js'
import type { GroupStatistics, TokenStatistics } from './sampled-token.js'
import { meanLogitError, type TokenLimits } from './thresholds.js'

/** Check 6: the lease's seeds draw these tokens from the policy. */
export const samplerFault = (group: MeasuredGroup): string | null => firstFault(group, drawFault)

/** Describes the measurements of check 6 in one sentence. */
export const samplerNumbers = ({ all }: GroupStatistics): string =>
  `the draws do not select ${all.misses} tokens, with a logit error of at most ${nats(all.logitErrors[0] ?? 0, 3)}; with another sampler they would miss about ${short(all.expectedMismatch, 3)}`

function drawFault(tokens: TokenStatistics, limits: TokenLimits, level: number, where: string): string | null {
  const logitError = meanLogitError(tokens)
  if (logitError > limits.logitError) {
    return `the seeds do not draw ${tokens.misses} of ${tokens.tokens} tokens${where}: the mean logit error is ${nats(logitError)}, the limit ${nats(limits.logitError)}`
  }
  const chanceOfMisses = poissonTail(tokens.misses, limits.missRate * tokens.expectedMismatch)
  if (chanceOfMisses < level) {
    const usual = limits.missRate * tokens.expectedMismatch
    return `the seeds do not draw ${tokens.misses} of ${tokens.tokens} tokens${where}: up to ${short(usual)} are expected, probability ${short(chanceOfMisses)}`
  }
  const worst = tokens.logitErrors[0] ?? 0
  if (worst > limits.grossLogitError) {
    return `the seed does not draw a token${where}: its logit error is ${nats(worst)}, the limit ${nats(limits.grossLogitError)}`
  }
  const far = beyond(tokens.logitErrors, limits.farLogitError)
  const chance = poissonTail(far, limits.farLogitErrorRate * tokens.expectedMismatch)
  if (chance >= level) return null
  return `the seeds do not draw ${far} of ${tokens.tokens} tokens${where}: their logit errors exceed ${nats(limits.farLogitError)}, probability ${short(chance)}`
}
