import { cacheTypeOf, DRAW } from '../../rollout/engine/index.js'
import { environmentSha256 } from '../../servers/kernel/index.js'
import type { Clock } from '../../swarm/index.js'
import { ConfigError, episodeLimits, type RunConfig } from '../settings/config.js'
import { learningRateFor } from '../settings/learning-rates.js'
import type { TaskSet } from '../settings/task-set.js'
import { TRAINER_PRESETS } from '../settings/trainer-presets.js'
import type { Recorder } from './recorder.js'
import { checkConfigurationChanges, configurationChanges, type RunConfiguration } from './run-configuration.js'

/** What terms say that is not in the configuration itself. */
export interface ConfigurationSources {
  readonly baseSha256: string
  readonly chatTemplateSha256: string
  /** Numbers in the tensors of the base. */
  readonly parameters: number
  readonly taskSet: TaskSet
  /** SHA-256 of the calibration of each inference backend. */
  readonly calibrations: Readonly<Record<string, string>>
}

/**
 * The terms that a configuration asks for.
 * @throws ConfigError when nobody could work under them: engines as they ask for are in none of the calibrations
 */
export function configurationOf(config: RunConfig, sources: ConfigurationSources): RunConfiguration {
  const { base, reward, cacheType, groupSize, batchGroups, versions, maxStaleness, leases, influence } = config
  const { probation, leastShare } = config.audit
  const { taskSet, baseSha256, chatTemplateSha256, parameters, calibrations } = sources
  const backends = Object.keys(calibrations)
  if (backends.length > 0 && !backends.some((backend) => cacheTypeOf(backend) === cacheType))
    throw new ConfigError(
      `cacheType is ${cacheType}, and audit.calibrations has ${backends.join(', ')}: nobody could be audited, so nobody would get work. Add what \`prove-lab calibrate --config\` makes of this file`,
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
    influence,
    training: trainingOf(config, parameters),
  }
}

/**
 * What the operator sets; under it the preset that the configuration names, the run's own staleness limit, and rate and warm-up for a base
 * of that many parameters.
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
 * Puts the terms into the log when they are the run's first, or other ones than before. The next round is opened under
 * them; what was leased before is judged by the terms of its own round.
 * @throws ConfigError when something is different that a run cannot change
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
