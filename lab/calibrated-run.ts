import { resolve } from 'node:path'
import { CodedError } from '../common/errors/index.js'
import { type RunConfig, readConfig } from '../coordinator/settings/config.js'
import type { TrainerSettings } from '../coordinator/settings/trainer-settings.js'
import { type CacheType, USUAL_CACHE } from '../rollout/engine/index.js'
import { DEFAULT_RULES } from '../rollout/episode/index.js'

/** The options name no model or data set to calibrate for. */
export class NotNamed extends CodedError<'not_named'> {}

/** Options of a calibration. The run configuration supplies the others. */
export interface RunOptions {
  readonly config?: string
  readonly model?: string
  readonly dataset?: string
  readonly toolCallFormat?: string
  readonly quantisation?: string
  readonly groupSize?: number
  readonly cacheType?: CacheType
}

/** Trainer settings that also affect audits. */
const AUDITED_WITH = [
  'device',
  'precision',
  'threads',
  'packing',
  'sharding',
  'memoryGiB',
  'maxTokensPerForward',
] as const satisfies readonly (keyof TrainerSettings)[]

/** Settings that generate and audit the honest groups of a run. */
export interface CalibratedRun {
  readonly modelPath: string
  /** Folders of data sets. */
  readonly dataset: readonly string[]
  readonly toolCallFormat: string
  readonly quantisation: string
  readonly cacheType: CacheType
  readonly groupSize: number
  /** Number of torchrun ranks of the audit process. */
  readonly processes: number
  readonly python: string | undefined
  readonly auditing: Pick<TrainerSettings, (typeof AUDITED_WITH)[number]>
}

const DEFAULTS = { groupSize: 8, quantisation: 'f16', processes: 1 }

/**
 * Returns the settings of a calibration: from the options, then the run configuration of `--config`, then the defaults.
 * @throws ConfigError; NotNamed without a model or a data set
 */
export function calibratedRun(options: RunOptions): CalibratedRun {
  const config: RunConfig | null = options.config === undefined ? null : readConfig(options.config)
  const model = options.model ?? config?.base.path
  const dataset = options.dataset === undefined ? config?.tasks.dataset : [options.dataset]
  if (model === undefined || dataset === undefined)
    throw new NotNamed(
      'not_named',
      'no model or data set: name a run configuration with --config, or give --model and --dataset',
    )
  const settings = config?.trainer.settings ?? {}
  const given = AUDITED_WITH.filter((name) => settings[name] !== undefined)
  return {
    modelPath: resolve(model),
    dataset: dataset.map((folder) => resolve(folder)),
    toolCallFormat: options.toolCallFormat ?? config?.base.toolCallFormat ?? DEFAULT_RULES.toolCallFormat,
    quantisation: options.quantisation ?? config?.base.quantisation ?? DEFAULTS.quantisation,
    cacheType: options.cacheType ?? config?.cacheType ?? USUAL_CACHE,
    groupSize: options.groupSize ?? config?.groupSize ?? DEFAULTS.groupSize,
    processes: config?.audit.processes ?? DEFAULTS.processes,
    python: config?.trainer.python,
    auditing: Object.fromEntries(given.map((name) => [name, settings[name]])),
  }
}
