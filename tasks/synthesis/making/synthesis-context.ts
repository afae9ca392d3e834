import type { Json } from '../../../rollout/reward/index.js'
import type { SeededRandom, SeedStateCache, SpokenEnvironment } from '../../../servers/kernel/index.js'
import type { Example } from '../../dataset/example.js'
import type { Profile } from '../../dataset/profile.js'
import type { Node, ToolGraph } from '../graph.js'
import type { Speech } from '../wording/natural-speech.js'
import type { Moment, Persona } from '../wording/speech.js'
import type { ObjectionName } from './objections.js'
import type { TaskPlan } from './plan.js'
import { TODAY } from './today.js'

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
  denotes(phrase: string, value: Json, today: string): boolean
}

/** Which example is wanted: everything about it follows from this and the context. */
export interface Assignment extends TaskPlan {
  readonly index: number
  /** The tool that the example is about. */
  readonly target: Node
  /** 0 at first; counts up when what came out was not kept. */
  readonly round: number
}

/** A candidate that was dropped: the objection, and the chain if there was one. */
export interface Rejection {
  readonly by: ObjectionName
  readonly chain?: string
}

export interface Made {
  readonly example: Example | null
  readonly rejected: readonly Rejection[]
}

/** One attempt at an example. */
export interface Setting {
  readonly assignment: Assignment
  readonly environmentSeed: number
  readonly context: SynthesisContext
  readonly random: SeededRandom
  /** Names of the chains of this state that earlier attempts tried, the newest last. */
  readonly tried: Set<string>
  /** Chains of which nothing came in other examples, see `spentName`. */
  readonly spent: ReadonlySet<string>
}

/** Makes one candidate of its kind. @returns  the example, or why it is missing */
export type Maker = (setting: Setting) => Example | ObjectionName

/** Returns all that a speaker of this example knows in all of its turns. */
export const momentOf = (
  { assignment: { split }, context: { profile }, random }: Setting,
  persona: Persona,
): Omit<Moment, 'turn'> => ({ persona, today: TODAY, dated: profile.context, heldOut: split === 'held-out', random })
