import { CodedError } from '../../../common/errors/index.js'
import { environmentNames, loadEnvironments } from '../../../servers/catalogue.js'
import { createSeedStateCache, type SeedStateCache, type SpokenEnvironment } from '../../../servers/kernel/index.js'
import { withSpeech } from '../../../servers/load-speech.js'
import { PROFILES, type Profile } from '../../dataset/profile.js'
import { toolGraph } from '../graph.js'
import { naturalSpeech } from '../wording/natural-speech.js'
import { drawPersona, inEnvironments } from '../wording/persona.js'
import { plainSpeech } from '../wording/plain-speech.js'
import { denotes } from '../wording/value-meaning.js'
import type { SynthesisContext } from './synthesis-context.js'

/** Everything that determines the examples of a data set, except their number. Serialisable for workers. */
export interface Recipe {
  readonly environments: readonly string[]
  readonly heldOutEnvironments: readonly string[]
  readonly profile: string
  readonly seed: number
  /** Share of the tasks with domain rules; absent if none has. */
  readonly domainRules?: number
  /** Environments from outside this package: their folders, and the hashes of the code and speech that workers must find there. */
  readonly outside?: {
    readonly folders: readonly string[]
    readonly codeSha256: readonly string[]
    readonly speechSha256: readonly string[]
  }
}

export type SynthesisErrorCode =
  | 'unknown_environment'
  | 'unknown_profile'
  | 'no_yield'
  | 'other_plan'
  | 'no_paraphraser'
  | 'no_domain_rules'
  | 'too_many_kinds'

/** Synthesis cannot go on with what it was given. */
export class SynthesisError extends CodedError<SynthesisErrorCode> {}

/** Cached environment states per worker: a batch uses 20 environments with three seeds for each of three splits. */
const ENVIRONMENTS_KEPT = 256

/**
 * Loads the environments of a recipe with their speech.
 * @throws SynthesisError `unknown_environment`
 * @throws DataFileError with the lines at fault if a speech file cannot be used
 */
export async function environmentsOf({ environments }: Pick<Recipe, 'environments'>): Promise<SpokenEnvironment[]> {
  const known = environmentNames()
  const unknown = environments.find((name) => !known.includes(name))
  if (unknown !== undefined)
    throw new SynthesisError(
      'unknown_environment',
      `there is no environment "${unknown}"; choose from ${known.join(', ')}`,
    )
  return [...(await loadEnvironments(environments)).values()].map(withSpeech)
}

/**
 * Makes the context of a recipe.
 * @throws SynthesisError `unknown_environment`, `unknown_profile`
 * @throws DataFileError as `environmentsOf`
 */
export async function contextOf(
  recipe: Recipe,
  seedStates: SeedStateCache = createSeedStateCache(ENVIRONMENTS_KEPT),
): Promise<SynthesisContext> {
  const environments = await environmentsOf(recipe)
  const profile = profileNamed(recipe.profile)
  for (const name of recipe.heldOutEnvironments) {
    if (!recipe.environments.includes(name))
      throw new SynthesisError('unknown_environment', `${name} is to be held out but not used`)
  }
  return contextFor(environments, profile, recipe.seed, seedStates, recipe.heldOutEnvironments, recipe.domainRules)
}

/** Returns a context over environments that need not be in the catalogue. */
export function contextFor(
  environments: readonly SpokenEnvironment[],
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
