import type { JsonObject } from '../../rollout/reward/index.js'
import type { DomainRule } from '../../servers/kernel/index.js'

/** A step to which a rule applies, as it was walked or with another value, which the user names at first. */
export interface RuledStep {
  readonly step: number
  readonly rule: DomainRule
  readonly args: JsonObject
  /** The argument that has another value than in the step. */
  readonly field?: string
}
