import type { Task } from '../../../rollout/episode/index.js'
import type { Json } from '../../../rollout/reward/index.js'
import {
  SESSION_START,
  type SeededRandom,
  type SeedStateCache,
  type SpokenEnvironment,
} from '../../../servers/kernel/index.js'
import type { DropReason, Drops, Example } from '../../dataset/example.js'
import type { Profile, Split } from '../../dataset/profile.js'
import type { Moment, Persona, Speech } from '../wording/speech.js'
import type { Node, ToolGraph } from './graph.js'

/** Context that all examples of a data set share. */
export interface SynthesisContext {
  readonly environments: readonly SpokenEnvironment[]
  readonly catalogue: ReadonlyMap<string, SpokenEnvironment>
  readonly graph: ToolGraph
  readonly seedStates: SeedStateCache
  readonly profile: Profile
  readonly speech: Speech
  readonly seed: number
  readonly heldOutEnvironments: ReadonlySet<string>
  /** Share of the tasks whose system message contains the domain rules of the offered environments. */
  readonly domainRules: number
  drawPersona(random: SeededRandom): Persona
  /** Returns the same person, with an occupation that fits these environments. */
  inEnvironments(persona: Persona, environments: readonly string[]): Persona
  /** Requests of the demo's vocabulary that belong to no environment. */
  smallTalk(random: SeededRandom): { readonly topic: string; readonly text: string }
  denotes(phrase: string, value: Json, today: string): boolean
}

/** Which example is wanted: everything about it follows from this and the context. */
export interface Assignment {
  readonly index: number
  readonly split: Split
  readonly kind: Task['kind']
  /** The tool that the example is about. */
  readonly target: Node
  /** 0 at first; counts up when what came out was not kept. */
  readonly round: number
}

export interface Made {
  readonly example: Example | null
  readonly drops: Drops
}

/**
 * Makes one candidate of its kind.
 * @returns  the example, or why it is missing; `other_split`: the drawn chain belongs to another split, which is no fault of the chain
 */
export type Maker = (
  assignment: Assignment,
  environmentSeed: number,
  context: SynthesisContext,
  random: SeededRandom,
) => Example | DropReason | 'other_split'

/** The day on which every conversation takes place, YYYY-MM-DD. */
export const TODAY = SESSION_START.slice(0, 10)

/** Returns all that a speaker of this example knows in all of its turns. */
export const momentOf = (
  { split }: Assignment,
  { profile }: SynthesisContext,
  persona: Persona,
  random: SeededRandom,
): Omit<Moment, 'turn'> => ({ persona, today: TODAY, dated: profile.context, heldOut: split === 'held-out', random })
