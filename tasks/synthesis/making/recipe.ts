import { CodedError } from '../../../common/errors/index.js'
import { CATALOGUE } from '../../../servers/catalogue.js'
import { createSeedStateCache, type Environment, type SeedStateCache } from '../../../servers/kernel/index.js'
import { toolGraph } from '../../../servers/kernel/tool-graph.js'
import { PROFILES, type Profile } from '../../dataset/profile.js'
import { denotes } from '../wording/denotes.js'
import { naturalSpeech } from '../wording/natural-speech.js'
import { inEnvironments } from '../wording/occupations.js'
import { drawPersona } from '../wording/personas.js'
import { plainSpeech } from '../wording/plain-speech.js'
import { smallTalk } from '../wording/small-talk.js'
import type { SynthesisContext } from './synthesis-context.js'

/** Everything that determines the examples of a data set, except their number. Serialisable for workers. */
export interface Recipe {
  readonly environments: readonly string[]
  readonly heldOutEnvironments: readonly string[]
  readonly profile: string
  readonly seed: number
  /** Share of the tasks with domain rules; absent if none has. */
  readonly domainRules?: number
  /** Environments from outside the project among them: where workers find them, and the code that they must find there. */
  readonly outside?: { readonly folders: readonly string[]; readonly codeSha256: readonly string[] }
}

export type SynthesisErrorCode =
  | 'unknown_environment'
  | 'unknown_profile'
  | 'no_yield'
  | 'other_plan'
  | 'no_paraphraser'
  | 'no_domain_rules'
  | 'stopped'

/** Synthesis cannot go on with what it was given. */
export class SynthesisError extends CodedError<SynthesisErrorCode> {}

/** Cached environment states per worker: a batch uses 20 environments with three seeds for each of three splits. */
const ENVIRONMENTS_KEPT = 256

/** @throws SynthesisError `unknown_environment`, `unknown_profile` */
export function contextOf(
  recipe: Recipe,
  seedStates: SeedStateCache = createSeedStateCache(ENVIRONMENTS_KEPT),
): SynthesisContext {
  const environments = recipe.environments.map(environmentNamed)
  const profile = profileNamed(recipe.profile)
  for (const name of recipe.heldOutEnvironments) {
    if (!recipe.environments.includes(name))
      throw new SynthesisError('unknown_environment', `${name} is to be held out but not used`)
  }
  return contextFor(environments, profile, recipe.seed, seedStates, recipe.heldOutEnvironments, recipe.domainRules)
}

/** Returns a context over environments that need not be in the catalogue. */
export function contextFor(
  environments: readonly Environment[],
  profile: Profile,
  seed: number,
  seedStates: SeedStateCache,
  heldOutEnvironments: readonly string[] = [],
  domainRules = 0,
): SynthesisContext {
  return {
    environments,
    catalogue: new Map(environments.map((environment) => [environment.name, environment])),
    graph: toolGraph(environments),
    seedStates,
    profile,
    speech: profile.speech === 'plain' ? plainSpeech : naturalSpeech,
    seed,
    heldOutEnvironments: new Set(heldOutEnvironments),
    domainRules,
    drawPersona,
    inEnvironments: profile.speech === 'plain' ? (persona) => persona : inEnvironments,
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

function environmentNamed(name: string): Environment {
  const environment = CATALOGUE.get(name)
  if (environment) return environment
  throw new SynthesisError(
    'unknown_environment',
    `no environment "${name}": choose from ${[...CATALOGUE.keys()].join(', ')}`,
  )
}
