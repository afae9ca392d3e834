import type { Task } from '../../rollout/episode/index.js'
import type { Split } from './profile.js'

/** Share of the needed values that the user states at first (paper, section 3.2). */
export type Information = 'complete' | 'missing' | 'minimal'

/** Recovery from a failed call: with corrected arguments, with another tool first, or none. */
export type Recovery = 'corrected' | 'other-tool' | 'gave-up'

/** Source of a ground-truth argument: a user turn, an earlier result, or the system message. */
export type Origin =
  | { readonly from: 'user'; readonly turn: number; readonly phrase: string }
  | {
      readonly from: 'result'
      readonly call: number
      readonly phrase: string
      /** Words of the user that refer to the value, with turn and position; absent if the user does not mention the value. */
      readonly said?: { readonly turn: number; readonly at: number; readonly words: string }
    }
  | { readonly from: 'context'; readonly phrase: string }

/** Outcomes of a declined request: the user names another value, insists once, or drops the request. */
export const DECLINED_OUTCOMES = ['amended', 'insisted', 'dropped'] as const
/** Outcomes of a confirmation: the user agrees, names a value without need for confirmation, or withdraws the request. */
export const CONFIRMED_OUTCOMES = ['agreed', 'amended', 'withdrawn'] as const

/** Role of the domain rules in a conversation. `abiding`: no rule applies to any request. */
export type DomainRuleRole =
  | { readonly role: 'abiding' }
  | (DomainRuleCase &
      (
        | { readonly role: 'declined'; readonly outcome: (typeof DECLINED_OUTCOMES)[number] }
        | { readonly role: 'confirmed'; readonly outcome: (typeof CONFIRMED_OUTCOMES)[number] }
      ))

/** A case to which a domain rule applies. */
interface DomainRuleCase {
  /** `banking:payment_above_400`. */
  readonly rule: string
  /** Index of the user turn whose answer declines or asks for confirmation. */
  readonly turn: number
  /** Requested call. */
  readonly call: Pick<ReferenceCall, 'environment' | 'name' | 'arguments'>
}

/** Call of the reference solution. */
export interface ReferenceCall {
  readonly environment: string
  readonly name: string
  readonly arguments: Task['groundTruth'][number]['arguments']
  /** JSON of the response, as a policy reads it. */
  readonly response: string
  readonly ok: boolean
  /** Index into the ground truth; `null` for a failed call. */
  readonly truth: number | null
}

/** One user turn with the calls and the answer of the reference solution. */
export interface Exchange {
  readonly user: string
  readonly calls: readonly ReferenceCall[]
  /** Answer of the assistant. */
  readonly assistant: string
}

/** A task with its reference conversation, and the sources of its ground-truth arguments. */
export interface Example {
  /** Index in the data set, from 0. */
  readonly index: number
  readonly split: Split
  readonly task: Task
  readonly information: Information
  readonly recovery: Recovery | null
  readonly persona: string
  /** Absent if the task has no domain rules. */
  readonly domainRules?: DomainRuleRole
  readonly exchanges: readonly Exchange[]
  /** Source of each argument, per ground-truth call. */
  readonly origins: readonly Readonly<Record<string, Origin>>[]
  /** Author of the texts. */
  readonly speech: 'plain' | 'natural' | 'paraphrased'
}

/** Number of candidates that each objection dropped, by its name, in the order of the objections. */
export type Drops = Readonly<Record<string, number>>
