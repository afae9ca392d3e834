import type { JsonObject } from '../../../rollout/reward/index.js'
import type { DomainRule, Session, SpokenEnvironment } from '../../../servers/kernel/index.js'
import type { Node } from '../graph.js'
import type { Way } from '../way.js'
import type { Chain } from './split.js'

/** Opens the sessions of a task again, one per environment. */
export type Open = (environment: SpokenEnvironment) => Session

/** An argument that an earlier result supplies. */
export interface Binding {
  readonly field: string
  readonly value: string
  /** Index of the step whose result holds the value. */
  readonly source: number
  /** The entity's kind, or `undefined` for a common value. */
  readonly entity: string | undefined
  /** Ways to mean the value by that result, no matter what is said in between. */
  readonly ways: readonly Way[]
}

/** A call of the ground truth, as it was executed while the task was made. */
export interface Step extends Node {
  readonly args: JsonObject
  readonly output: JsonObject
  readonly bindings: readonly Binding[]
}

/** A chain as it was executed. */
export interface ExecutedChain {
  readonly chain: Chain
  readonly steps: readonly Step[]
  readonly open: Open
  /** Steps that take an earlier step back. They have to be asked for in a later turn. */
  readonly reversals: readonly Reversal[]
}

/** Two steps of a chain, by index, of which the later takes back what the earlier did. */
export interface Reversal {
  readonly earlier: number
  readonly later: number
}

/** A step whose references are settled: one way for each. */
export interface StatedStep extends Omit<Step, 'bindings'> {
  readonly bindings: readonly StatedBinding[]
}

/** Which steps are asked for in which turn. */
export type Parts = readonly (readonly number[])[]

export interface StatedBinding extends Omit<Binding, 'ways'> {
  readonly way: Way
}

/** A step to which a rule applies, as it was walked or with another value, which the user names at first. */
export interface RuledStep {
  readonly step: number
  readonly rule: DomainRule
  readonly args: JsonObject
  /** The argument that has another value than in the step. */
  readonly field?: string
}
