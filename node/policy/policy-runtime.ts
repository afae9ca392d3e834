import { CACHE_TYPES, type CacheType, type Tokenizer } from '../../rollout/engine/index.js'
import {
  createEpisodeRuntime,
  EpisodeError,
  type EpisodeRules,
  type EpisodeRuntime,
  rulesNamed,
} from '../../rollout/episode/index.js'
import { PresetError } from '../../rollout/reward/index.js'
import type { Environment } from '../../servers/kernel/index.js'
import { NodeError } from '../report/errors.js'

/**
 * Creates the episode runtime in which groups of a policy are generated and verified.
 * @param policy  description of the policy in a manifest or in the record of a group
 * @throws NodeError `incompatible` for an unknown tool-call format or reward; the message lists the known ones
 */
export function runtimeFor(
  policy: { readonly toolCallFormat: string; readonly reward: string },
  environments: Iterable<Environment>,
  tokenizer: Tokenizer,
): EpisodeRuntime {
  return createEpisodeRuntime(environments, tokenizer, rulesOf(policy))
}

function rulesOf(policy: { readonly toolCallFormat: string; readonly reward: string }): EpisodeRules {
  try {
    return rulesNamed(policy)
  } catch (cause) {
    if (!(cause instanceof EpisodeError) && !(cause instanceof PresetError)) throw cause
    throw new NodeError('incompatible', cause.message, { cause })
  }
}

/** Returns the type of the engine's caches. @throws NodeError `incompatible` for an unknown type */
export function cacheTypeFor({ cacheType }: { readonly cacheType: string }): CacheType {
  const known = CACHE_TYPES.find((type) => type === cacheType)
  if (known !== undefined) return known
  throw new NodeError(
    'incompatible',
    `the run needs caches of type ${cacheType}, but this version of the node knows only ${CACHE_TYPES.join(' and ')}: update the node`,
  )
}
