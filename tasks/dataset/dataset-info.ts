import type { JsonObject } from '../../rollout/reward/index.js'
import type { Baselines } from './baselines.js'
import type { Drops } from './example.js'
import type { Profile } from './profile.js'

/** Origin of a data set, for its card and its manifest. */
export interface DatasetInfo {
  readonly title: string
  readonly profile: Profile
  readonly seed: number
  /** All other settings that determine the examples, such as requested counts and held-out environments. */
  readonly settings: JsonObject
  /** Sentences about the origin: program, settings, author of the words. */
  readonly provenance: readonly string[]
  /** Name of the paraphraser, if any. */
  readonly wordsBy?: string
  /** Returns measures of the diversity of the user's words, by name. */
  diversity(userTurns: readonly string[]): Readonly<Record<string, number>>
  /** Called after the last example is written. */
  outcome(): Outcome | Promise<Outcome>
}

export interface Outcome {
  /** Number of candidates that each objection dropped. */
  readonly drops: Drops
  /** Objections by name, with what each protects. */
  readonly objections?: readonly { readonly name: string; readonly protects: string }[]
  /** Number of examples whose plan asked for more than any chain gave. */
  readonly gaveUp?: number
  /** Reasons for the small number of examples with a tool, by the name of the tool: `banking:freeze_card`. */
  readonly scarcity?: Readonly<Record<string, string>>
  /** Rewards of policies of known quality. */
  readonly sanity?: readonly SanityResult[]
  /** Markdown table with the rewards of right, wrong and exploiting probes. */
  readonly probes?: string
  /** Results of word matching. */
  readonly baselines?: Baselines
}

export interface SanityResult {
  /** Name, such as `reference solution` or `random calls`. */
  readonly policy: string
  readonly examples: number
  readonly meanReward: number
  /** Share of the examples solved exactly. */
  readonly solved: number
}
