import { cacheTypeOf, DRAW } from '../../rollout/engine/index.js'
import { environmentSha256 } from '../../servers/kernel/index.js'
import type { Clock } from '../../swarm/index.js'
import { ConfigError, episodeLimits, type RunConfig } from '../settings/config.js'
import { learningRateFor } from '../settings/learning-rates.js'
import type { TaskSet } from '../settings/task-set.js'
import { TRAINER_PRESETS } from '../settings/trainer-presets.js'
import type { Recorder } from './recorder.js'
import { checkConfigurationChanges, configurationChanges, type RunConfiguration } from './run-configuration.js'

/** Parts of a run configuration that `run.yaml` does not contain. */
export interface ConfigurationSources {
  readonly baseSha256: string
  readonly chatTemplateSha256: string
  /** Number of parameters of the base model. */
  readonly parameters: number
  readonly taskSet: TaskSet
  /** SHA-256 of the calibration of each inference backend. */
  readonly calibrations: Readonly<Record<string, string>>
  /** Tolerance of the canaries, by these calibrations. */
  readonly canaryTolerance: RunConfiguration['canaryTolerance']
}

/**
 * Makes the run configuration that `run.yaml` asks for.
 * @throws ConfigError when no calibration covers the cache type, so that no node could work
 */
export function configurationOf(config: RunConfig, sources: ConfigurationSources): RunConfiguration {
  const { base, reward, cacheType, groupSize, batchGroups, versions, maxStaleness, leases, influence } = config
  const { probation, leastShare } = config.audit
  const { taskSet, baseSha256, chatTemplateSha256, parameters, calibrations, canaryTolerance } = sources
  const backends = Object.keys(calibrations)
  if (backends.length > 0 && !backends.some((backend) => cacheTypeOf(backend) === cacheType))
    throw new ConfigError(
      `cacheType is ${cacheType}, and audit.calibrations only covers ${backends.join(', ')}, so no group could be audited and no node would get work. Add the result of \`prove-lab calibrate --config\` with this file`,
    )
  return {
    base: { name: base.name, ggufSha256: baseSha256, quantisation: base.quantisation, chatTemplateSha256, parameters },
    dataset: { sha256: taskSet.datasetSha256, tasks: taskSet.tasks.length },
    environments: Object.fromEntries(
      taskSet.environments.map((environment) => [environment.name, environmentSha256(environment)]),
    ),
    toolCallFormat: base.toolCallFormat,
    draw: DRAW,
    reward,
    cacheType,
    groupSize,
    limits: episodeLimits(config),
    maxStaleness,
    batchGroups,
    versions,
    leases,
    audit: { calibrations, probation, leastShare },
    canaryTolerance,
    influence,
    training: trainingOf(config, parameters),
  }
}

/**
 * Returns the trainer settings. The operator's settings take precedence over the named preset. Both take precedence over the run's
 * staleness limit, and over the learning rate and warm-up for a base model of that size.
 */
export function trainingOf(
  { trainer: { preset, settings }, maxStaleness }: Pick<RunConfig, 'trainer' | 'maxStaleness'>,
  parameters: number,
): RunConfiguration['training'] {
  const { lr, warmupSteps } = learningRateFor(parameters)
  const named = preset === undefined ? {} : TRAINER_PRESETS[preset].loss
  return {
    ...settings,
    optimizer: { lr, warmupSteps, ...settings.optimizer },
    loss: { maxStaleness, ...named, ...settings.loss },
  }
}

/**
 * Records the run configuration if it is the run's first, or differs from the newest. The next round opens under it. Groups of
 * earlier leases are verified under the configuration of the round of their lease.
 * @throws ConfigError when a part differs that cannot change within a run
 */
export async function agreeOnConfiguration(
  recorder: Recorder,
  configuration: RunConfiguration,
  clock: Clock,
): Promise<void> {
  await recorder.record((state) => {
    const changes = state.configuration ? configurationChanges(state.configuration, configuration) : []
    if (state.configuration && changes.length === 0) return null
    checkConfigurationChanges(changes)
    return { type: 'configured', atMs: clock.now(), configuration, changes }
  })
}
