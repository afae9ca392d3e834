import { poissonTail } from './chances.js'
import { beyond, firstFault, type GroupEvidence, nats, short } from './group-audit.js'
import type { GroupStatistics, TokenStatistics } from './sampled-token.js'
import { meanRepair, type TokenLimits } from './thresholds.js'

/** Stage 6: the tokens are what the lease's seeds draw from the policy. */
export const samplerFault = (group: GroupEvidence): string | null => firstFault(group, drawFault)

/** What stage 6 has measured of a group, in one sentence. */
export const samplerNumbers = ({ all }: GroupStatistics): string =>
  `${all.misses} tokens are not what their draws select, the worst by ${nats(all.repairs[0] ?? 0, 3)}; draws of another sampler would miss about ${short(all.evidence, 3)}`

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
