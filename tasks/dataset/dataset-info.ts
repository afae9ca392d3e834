import type { JsonObject } from '../../rollout/reward/index.js'
import type { Baselines } from './baselines.js'
import type { Drops } from './example.js'
import type { Profile } from './profile.js'

/** What a data set was made from, for its card and its manifest. */
export interface DatasetInfo {
  readonly title: string
  readonly profile: Profile
  readonly seed: number
  /** Everything else that fixes the examples: counts asked for, worlds held out. */
  readonly settings: JsonObject
  /** How it was made, one sentence each: program and version, command line, who put the words. */
  readonly provenance: readonly string[]
  /** The language model that put words, if one did. */
  readonly wordsBy?: string
  /** Measures of how varied the user's words are, by name. */
  diversity(userTurns: readonly string[]): Readonly<Record<string, number>>
  /** Asked for when the last example is written. */
  outcome(): Outcome | Promise<Outcome>
}

export interface Outcome {
  /** Candidates that each filter took. */
  readonly drops: Drops
  /** What policies of known worth earn: the reward must tell them apart. */
  readonly sanity?: readonly SanityResult[]
  /** What right, wrong and cunning ways of playing earn under each reward: a table in Markdown. */
  readonly probes?: string
  /** What matching words alone finds out. */
  readonly baselines?: Baselines
}

export interface SanityResult {
  /** `the teacher`, `random calls`. */
  readonly policy: string
  readonly examples: number
  readonly meanReward: number
  /** Share of the examples solved exactly. */
  readonly solved: number
}
