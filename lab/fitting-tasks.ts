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
  /** Number of tasks whose first prompt leaves no capacity for an answer. */
  readonly tooLong: number
}

/** Returns the tasks that can be played within the limits. @throws NothingFits; EpisodeError for an invalid task */
export function fittingTasks(tasks: readonly Task[], runtime: EpisodeRuntime, limits: EpisodeLimits): FittingTasks {
  const fitting = tasks.filter((task) => hasCapacity(task, runtime, limits))
  const tooLong = tasks.length - fitting.length
  if (fitting.length === 0)
    throw new NothingFits(
      'nothing_fits',
      `the prompts of all ${tooLong} tasks need ${limits.maxRolloutTokens} tokens or more: raise --rollout-tokens, or name the run's configuration with --config`,
    )
  return { tasks: fitting, tooLong }
}

/** Options for the limits of rollouts. */
export interface LimitOptions {
  readonly config?: string
  readonly turnTokens?: number
  readonly rolloutTokens?: number
}

/** Returns the limits of rollouts: from the options, then the run configuration, then the defaults. @throws ConfigError */
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

/** Returns the cache type: from the option, then the run configuration, then the default. @throws ConfigError */
export const cacheTypeFor = ({
  config,
  cacheType,
}: {
  readonly config?: string
  readonly cacheType?: CacheType
}): CacheType => cacheType ?? (config === undefined ? USUAL_CACHE : readConfig(config).cacheType)
