import { CodedError } from '../common/errors/index.js'
import { readConfig } from '../coordinator/settings/config.js'
import { type CacheType, USUAL_CACHE } from '../rollout/engine/index.js'
import {
  DEFAULT_LIMITS,
  type EpisodeLimits,
  type EpisodeRuntime,
  hasCapacity,
  type Task,
} from '../rollout/episode/index.js'

/** No task of the data set can be played within the limits. */
export class NothingFits extends CodedError<'nothing_fits'> {}

export interface FittingTasks {
  readonly tasks: readonly Task[]
  /** Tasks whose first prompt leaves no room for an answer: nobody can play them. */
  readonly tooLong: number
}

/** The tasks that can be played within the limits. @throws NothingFits; EpisodeError for a task that is wrong in another way */
export function fittingTasks(tasks: readonly Task[], runtime: EpisodeRuntime, limits: EpisodeLimits): FittingTasks {
  const fitting = tasks.filter((task) => hasCapacity(task, runtime, limits))
  const tooLong = tasks.length - fitting.length
  if (fitting.length === 0)
    throw new NothingFits(
      'nothing_fits',
      `the prompts of all ${tooLong} tasks have ${limits.maxRolloutTokens} tokens and more: raise --rollout-tokens, or give the run's --config`,
    )
  return { tasks: fitting, tooLong }
}

/** Limits on the command line; a run's own come from its configuration. */
export interface LimitOptions {
  readonly config?: string
  readonly turnTokens?: number
  readonly rolloutTokens?: number
}

/** @throws ConfigError */
export function limitsOf({ config, turnTokens, rolloutTokens }: LimitOptions): EpisodeLimits {
  const { maxTurnTokens, maxRolloutTokens, maxAssistantTurns } =
    config === undefined ? DEFAULT_LIMITS : readConfig(config).limits
  return {
    ...DEFAULT_LIMITS,
    maxAssistantTurns,
    maxTurnTokens: turnTokens ?? maxTurnTokens,
    maxRolloutTokens: rolloutTokens ?? maxRolloutTokens,
  }
}

/** The type of caches on the command line, or of the run. @throws ConfigError */
export const cacheTypeFor = ({
  config,
  cacheType,
}: {
  readonly config?: string
  readonly cacheType?: CacheType
}): CacheType => cacheType ?? (config === undefined ? USUAL_CACHE : readConfig(config).cacheType)
