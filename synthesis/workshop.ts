import { CATALOGUE } from '../servers/catalogue.js'
import { createWorldCache, type ServerDefinition, type WorldCache } from '../servers/kernel/index.js'
import { linkGraph } from './links.js'
import type { Workshop } from './make-example.js'
import { PROFILES, type Profile } from './profile.js'
import { denotes } from './speech/denotes.js'
import { naturalSpeech } from './speech/natural.js'
import { drawPersona } from './speech/personas.js'
import { plainSpeech } from './speech/plain.js'
import { smallTalk } from './speech/small-talk.js'

/** What fixes every example of a data set, apart from how many there are: plain data, so that workers can be told. */
export interface Recipe {
  readonly worlds: readonly string[]
  readonly heldOutWorlds: readonly string[]
  readonly profile: string
  readonly seed: number
}

export type SynthesisErrorCode = 'unknown_world' | 'unknown_profile' | 'no_yield' | 'other_plan' | 'no_teacher'

/** Synthesis cannot go on with what it was given. */
export class SynthesisError extends Error {
  override readonly name = 'SynthesisError'
  constructor(
    readonly code: SynthesisErrorCode,
    message: string,
  ) {
    super(`${code}: ${message}`)
  }
}

/** Worlds kept by one worker: the tasks of a batch play in few. */
const WORLDS_KEPT = 64

/** @throws SynthesisError `unknown_world`, `unknown_profile` */
export function workshopOf(recipe: Recipe, worlds: WorldCache = createWorldCache(WORLDS_KEPT)): Workshop {
  const servers = recipe.worlds.map(worldNamed)
  const profile = PROFILES.get(recipe.profile)
  if (!profile) {
    throw new SynthesisError(
      'unknown_profile',
      `there is no profile "${recipe.profile}"; choose from ${[...PROFILES.keys()].join(', ')}`,
    )
  }
  for (const name of recipe.heldOutWorlds) {
    if (!recipe.worlds.includes(name))
      throw new SynthesisError('unknown_world', `${name} is to be held out but not used`)
  }
  return workshopFor(servers, profile, recipe.seed, worlds, recipe.heldOutWorlds)
}

/** A workshop over worlds that need not be in the catalogue. */
export function workshopFor(
  servers: readonly ServerDefinition[],
  profile: Profile,
  seed: number,
  worlds: WorldCache,
  heldOutWorlds: readonly string[] = [],
): Workshop {
  return {
    servers,
    catalogue: new Map(servers.map((server) => [server.name, server])),
    graph: linkGraph(servers),
    worlds,
    profile,
    speech: profile.speech === 'plain' ? plainSpeech : naturalSpeech,
    seed,
    heldOutWorlds: new Set(heldOutWorlds),
    drawPersona,
    smallTalk,
    denotes,
  }
}

function worldNamed(name: string): ServerDefinition {
  const server = CATALOGUE.get(name)
  if (server) return server
  throw new SynthesisError(
    'unknown_world',
    `there is no world "${name}"; choose from ${[...CATALOGUE.keys()].join(', ')}`,
  )
}
