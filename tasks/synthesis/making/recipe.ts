import { CodedError } from '../../../common/errors/index.js'
import { CATALOGUE } from '../../../servers/catalogue.js'
import { createWorldCache, type ServerDefinition, type WorldCache } from '../../../servers/kernel/index.js'
import { toolGraph } from '../../../servers/kernel/tool-graph.js'
import { PROFILES, type Profile } from '../../dataset/profile.js'
import { denotes } from '../wording/denotes.js'
import { naturalSpeech } from '../wording/natural-speech.js'
import { inWorlds } from '../wording/occupations.js'
import { drawPersona } from '../wording/personas.js'
import { plainSpeech } from '../wording/plain-speech.js'
import { smallTalk } from '../wording/small-talk.js'
import type { SynthesisContext } from './synthesis-context.js'

/** What fixes every example of a data set, apart from how many there are: plain data, so that workers can be told. */
export interface Recipe {
  readonly worlds: readonly string[]
  readonly heldOutWorlds: readonly string[]
  readonly profile: string
  readonly seed: number
  /** Share of the tasks with policies; left out where none has. */
  readonly policies?: number
  /** Worlds from outside the project among them: where workers find them, and the code that they must find there. */
  readonly outside?: { readonly folders: readonly string[]; readonly codeSha256: readonly string[] }
}

export type SynthesisErrorCode =
  | 'unknown_world'
  | 'unknown_profile'
  | 'no_yield'
  | 'other_plan'
  | 'no_teacher'
  | 'no_policies'
  | 'stopped'

/** Synthesis cannot go on with what it was given. */
export class SynthesisError extends CodedError<SynthesisErrorCode> {}

/** Worlds kept by one worker: the tasks of a batch play in 20 worlds under three seeds for each of three splits. */
const WORLDS_KEPT = 256

/** @throws SynthesisError `unknown_world`, `unknown_profile` */
export function contextOf(recipe: Recipe, worlds: WorldCache = createWorldCache(WORLDS_KEPT)): SynthesisContext {
  const servers = recipe.worlds.map(worldNamed)
  const profile = profileNamed(recipe.profile)
  for (const name of recipe.heldOutWorlds) {
    if (!recipe.worlds.includes(name))
      throw new SynthesisError('unknown_world', `${name} is to be held out but not used`)
  }
  return contextFor(servers, profile, recipe.seed, worlds, recipe.heldOutWorlds, recipe.policies)
}

/** A context over worlds that need not be in the catalogue. */
export function contextFor(
  servers: readonly ServerDefinition[],
  profile: Profile,
  seed: number,
  worlds: WorldCache,
  heldOutWorlds: readonly string[] = [],
  policies = 0,
): SynthesisContext {
  return {
    servers,
    catalogue: new Map(servers.map((server) => [server.name, server])),
    graph: toolGraph(servers),
    worlds,
    profile,
    speech: profile.speech === 'plain' ? plainSpeech : naturalSpeech,
    seed,
    heldOutWorlds: new Set(heldOutWorlds),
    policies,
    drawPersona,
    inWorlds: profile.speech === 'plain' ? (persona) => persona : inWorlds,
    smallTalk,
    denotes,
  }
}

/** @throws SynthesisError `unknown_profile` */
export function profileNamed(name: string): Profile {
  const profile = PROFILES.get(name)
  if (profile) return profile
  throw new SynthesisError(
    'unknown_profile',
    `there is no profile "${name}"; choose from ${[...PROFILES.keys()].join(', ')}`,
  )
}

function worldNamed(name: string): ServerDefinition {
  const server = CATALOGUE.get(name)
  if (server) return server
  throw new SynthesisError(
    'unknown_world',
    `there is no world "${name}"; choose from ${[...CATALOGUE.keys()].join(', ')}`,
  )
}
