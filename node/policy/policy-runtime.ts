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
 * The stage on which a policy's groups are played and judged.
 * @param policy  its manifest's description, or a group's record of it
 * @throws NodeError `incompatible` for a dialect or a reward that this version does not have; it lists those that it has
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

/** @throws NodeError `incompatible` for a type of caches that this version does not have */
export function cacheTypeFor({ cacheType }: { readonly cacheType: string }): CacheType {
  const known = CACHE_TYPES.find((type) => type === cacheType)
  if (known !== undefined) return known
  throw new NodeError(
    'incompatible',
    `the run's engines keep their caches in ${cacheType}, this version of the node knows ${CACHE_TYPES.join(' and ')}`,
  )
}
