import type { Task } from '../../rollout/episode/index.js'
import type { Split } from './profile.js'

/** How much of what is needed the user says at first (paper, section 3.2). */
export type Information = 'complete' | 'missing' | 'minimal'

/** How the assistant gets over a failed call: with other arguments, with another tool first, or not at all. */
export type Recovery = 'corrected' | 'other-tool' | 'gave-up'

/** Where the value of a ground-truth argument can be read: what a user said, an earlier result, or the system message. */
export type Origin =
  | { readonly from: 'user'; readonly turn: number; readonly phrase: string }
  | {
      readonly from: 'result'
      readonly call: number
      readonly phrase: string
      /** The words by which the user means it, and where in which turn; absent where nobody speaks of it. */
      readonly said?: { readonly turn: number; readonly at: number; readonly words: string }
    }
  | { readonly from: 'context'; readonly phrase: string }

/** What becomes of what a rule forbids: the user names another value, insists once, or leaves it. */
export const DECLINED_OUTCOMES = ['amended', 'insisted', 'dropped'] as const
/** What becomes of what a rule wants confirmed: the user agrees, names a value that needs no asking, or takes it back. */
export const CONFIRMED_OUTCOMES = ['agreed', 'amended', 'withdrawn'] as const

/** How the policies of a task bear on its conversation. `abiding`: no rule applies to anything that is asked for. */
export type DomainRuleRole =
  | { readonly role: 'abiding' }
  | (DomainRuleCase &
      (
        | { readonly role: 'declined'; readonly outcome: (typeof DECLINED_OUTCOMES)[number] }
        | { readonly role: 'confirmed'; readonly outcome: (typeof CONFIRMED_OUTCOMES)[number] }
      ))

/** A rule that applies. */
interface DomainRuleCase {
  /** `banking:payment_above_400`. */
  readonly rule: string
  /** Index of the user turn in which the assistant declines or asks. */
  readonly turn: number
  /** What the user asked for in it. */
  readonly call: Pick<ReferenceCall, 'environment' | 'name' | 'arguments'>
}

/** A call of the conversation as the teacher made it. */
export interface ReferenceCall {
  readonly environment: string
  readonly name: string
  readonly arguments: Task['groundTruth'][number]['arguments']
  /** The JSON that the policy would read. */
  readonly response: string
  readonly ok: boolean
  /** Index into the ground truth; `null` for a call that failed and was made good. */
  readonly truth: number | null
}

/** One user turn and what the teacher did about it. */
export interface Exchange {
  readonly user: string
  readonly calls: readonly ReferenceCall[]
  /** The teacher's closing words. */
  readonly assistant: string
}

/** A task with the conversation that a good assistant has about it, and the evidence for its ground truth. */
export interface Example {
  /** Place in the data set, from 0. */
  readonly index: number
  readonly split: Split
  readonly task: Task
  readonly information: Information
  readonly recovery: Recovery | null
  readonly persona: string
  /** Absent where the task has no policies. */
  readonly domainRules?: DomainRuleRole
  readonly exchanges: readonly Exchange[]
  /** Per ground-truth call, where each of its arguments comes from. */
  readonly origins: readonly Readonly<Record<string, Origin>>[]
  /** Who put the user's and the assistant's words. */
  readonly speech: 'plain' | 'natural' | 'paraphrased'
}

/** Why a candidate was not kept; the data set's card reports how many each took. */
export const DROP_REASONS = [
  'no_chain',
  'no_walk',
  'errand',
  'look_up',
  'undone',
  'no_script',
  'no_words',
  'words',
  'replay',
  'reward',
  'provenance',
  'necessity',
  'reference',
  'domain_rules',
  'solvable',
  'duplicate',
] as const
export type DropReason = (typeof DROP_REASONS)[number]
export type Drops = Partial<Record<DropReason, number>>

/** The filters in their order, without that of policies where it took nothing, as where no task has any. */
export const filtersOf = (drops: Drops): DropReason[] =>
  DROP_REASONS.filter((reason) => reason !== 'domain_rules' || drops.domain_rules !== undefined)
