import { CodedError } from '../../common/errors/index.js'
import type { OfferedTool } from '../../servers/kernel/index.js'

/** Any JSON value. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }
export type JsonObject = { readonly [key: string]: Json }

/** One call of the ground truth. */
export interface GroundTruthCall {
  readonly name: string
  readonly arguments: JsonObject
  /** Indices of the calls that must come first, each smaller than this call's own index. */
  readonly after: readonly number[]
  /** Index of the user turn that asks for the call. Not known: it is never early or late. */
  readonly turn?: number
}

/** One entry of a rollout's call log, in emission order. */
export type LoggedCall =
  | {
      readonly malformed?: false
      readonly name: string
      readonly arguments: JsonObject
      /** Executed, and the server reported no error. */
      readonly ok: boolean
      /** The tool came on offer later: when the call was made there was no such tool. */
      readonly early?: true
    }
  | {
      /** The policy opened a call block that cannot be read. */
      readonly malformed: true
      readonly raw: string
    }

/** What a rollout is scored against. */
export interface ScoredExample {
  /** The tools exactly as shown to the policy, those that came later included. */
  readonly offered: readonly OfferedTool[]
  /** Empty when the right answer is no call (abstention, clarification). */
  readonly groundTruth: readonly GroundTruthCall[]
  /** What the assistant is told before the first turn. */
  readonly system?: string
  /** What the user says, turn by turn. Not known: one turn of which nothing is known. */
  readonly turns?: readonly string[]
  /** What the user wants to hear. */
  readonly asked?: readonly AskedFact[]
  /** The user asks for nothing that a tool could tell: an answer may hold numbers of its own. */
  readonly isGeneral?: boolean
}

/** A value of a result that a user asked for. */
export interface AskedFact {
  /** Index of the user turn whose answer is to tell it. */
  readonly turn: number
  /** As the result has it; a number as JavaScript writes it. */
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

/** Digests of one world's canonical state: at the start, after the ground truth, after the rollout. */
export interface StateDigests {
  readonly initial: string
  readonly expected: string
  readonly actual: string
}

/** What is known of a rollout beside its calls. */
export interface RolloutFacts {
  /** Of every world of the task. */
  readonly states: readonly StateDigests[]
  /** Index of the user turn in which each logged call was made. */
  readonly turns: readonly number[]
  /** What each logged call was answered with: JSON. */
  readonly results: readonly string[]
  readonly said: readonly AssistantText[]
}

/** Words of the assistant that its user can read, in order. */
export interface AssistantText {
  /** Index of the user turn that they follow. */
  readonly turn: number
  /** Logged calls whose results were there before. */
  readonly calls: number
  /** Whether the message makes no call, and so ends the assistant's turn. */
  readonly isAnswer: boolean
  readonly text: string
}

export interface RewardBreakdown {
  readonly total: number
  /** By name, as the preset lists them. `null` when the ground truth is empty: the reward is then 1 for no call and 0 for any. */
  readonly components: Readonly<Record<string, number>> | null
  /** Index of the logged call bound to each ground-truth call, or `null`. */
  readonly alignment: readonly (number | null)[]
  /** Whether each ground-truth call is aligned after all its prerequisites. */
  readonly covered: readonly boolean[]
}

export type ExampleErrorCode = 'duplicate_tool' | 'forward_edge' | 'call_not_offered' | 'call_does_not_fit'

/** The example itself is wrong, so no reward can be given. */
export class ExampleError extends CodedError<ExampleErrorCode> {}
