import { CodedError } from '../../common/errors/index.js'
import type { OfferedTool } from '../../servers/kernel/index.js'

/** Any JSON value. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }
export type JsonObject = { readonly [key: string]: Json }

/** One call of the ground truth. */
export interface GroundTruthCall {
  readonly name: string
  readonly arguments: JsonObject
  /** Indices of the prerequisite calls, each smaller than this call's own index. */
  readonly after: readonly number[]
  /** Index of the user turn that asks for the call. Undefined: the call is never early or late. */
  readonly turn?: number
}

/** One entry of a rollout's call log, in the order of the calls. */
export type LoggedCall =
  | {
      readonly malformed?: false
      readonly name: string
      readonly arguments: JsonObject
      /** Whether the call was executed without an error of the environment. */
      readonly ok: boolean
      /** Whether the tool was offered only in a later turn. */
      readonly early?: true
    }
  | {
      /** The policy wrote a call block that cannot be parsed. */
      readonly malformed: true
      readonly raw: string
    }

/** The example against which a rollout is scored. */
export interface ScoredExample {
  /** The tools exactly as shown to the policy, including those of later turns. */
  readonly offered: readonly OfferedTool[]
  /** Empty when the right answer is no call (abstention, clarification). */
  readonly groundTruth: readonly GroundTruthCall[]
  /** The system message. */
  readonly system?: string
  /** The user's turns. Undefined: one unknown turn. */
  readonly turns?: readonly string[]
  /** The facts that answers must state. */
  readonly asked?: readonly AskedFact[]
  /** Whether the user asks a question that no tool answers: an answer may then contain numbers from general knowledge. */
  readonly isGeneral?: boolean
}

/** A value of a result that a user asked for. */
export interface AskedFact {
  /** Index of the user turn whose answer must state the value. */
  readonly turn: number
  /** The value in the result; a number in JavaScript's notation. */
  readonly value: string
}

/** The five components of the paper's reward (section 3.3). Efficiency is never positive; the others lie in [0, 1]. */
export type RewardComponents = {
  readonly validity: number
  readonly coverage: number
  readonly efficiency: number
  readonly name: number
  readonly arg: number
}

/** Digests of one environment's canonical state: at the start, after the ground truth, after the rollout. */
export interface StateDigests {
  readonly initial: string
  readonly expected: string
  readonly actual: string
}

/** Facts of a rollout besides its calls. */
export interface RolloutFacts {
  /** State digests of every environment of the task. */
  readonly states: readonly StateDigests[]
  /** Index of the user turn of each logged call. */
  readonly turns: readonly number[]
  /** The environment's answer to each logged call: JSON. */
  readonly results: readonly string[]
  readonly said: readonly AssistantText[]
}

/** Text of an assistant's message for its user. */
export interface AssistantText {
  /** Index of the user turn before the message. */
  readonly turn: number
  /** Number of logged calls before the message. */
  readonly calls: number
  /** Whether the message makes no call, and so ends the assistant's turn. */
  readonly isAnswer: boolean
  readonly text: string
}

export interface RewardBreakdown {
  readonly total: number
  /** Components by name, in the preset's order. `null` when the ground truth is empty: the reward is then 1 for no call and 0 for any. */
  readonly components: Readonly<Record<string, number>> | null
  /** Index of the logged call bound to each ground-truth call, or `null`. */
  readonly alignment: readonly (number | null)[]
  /** Whether each ground-truth call is aligned after all its prerequisites. */
  readonly covered: readonly boolean[]
}

export type ExampleErrorCode = 'duplicate_tool' | 'forward_edge' | 'call_not_offered' | 'call_does_not_fit'

/** Error of an invalid example, for which no reward is defined. */
export class ExampleError extends CodedError<ExampleErrorCode> {}
