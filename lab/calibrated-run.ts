import { resolve } from 'node:path'
import { CodedError } from '../common/errors/index.js'
import { type RunConfig, readConfig } from '../coordinator/settings/config.js'
import type { TrainerSettings } from '../coordinator/settings/trainer-settings.js'
import { type CacheType, USUAL_CACHE } from '../rollout/engine/index.js'
import { DEFAULT_RULES } from '../rollout/episode/index.js'

/** A calibration that nobody has said what it is of. */
export class NotNamed extends CodedError<'not_named'> {}

/** What a calibration is told on the command line; what it is not told is its run's. */
export interface RunOptions {
  readonly config?: string
  readonly model?: string
  readonly dataset?: string
  readonly toolCallFormat?: string
  readonly quantisation?: string
  readonly groupSize?: number
  readonly cacheType?: CacheType
}

/** The settings of a trainer that its audits go by too. */
const AUDITED_WITH = [
  'device',
  'precision',
  'threads',
  'packing',
  'sharding',
  'memoryGiB',
  'maxTokensPerForward',
] as const satisfies readonly (keyof TrainerSettings)[]

/** Honest groups of a run: what plays them, and what audits them. */
export interface CalibratedRun {
  readonly modelPath: string
  readonly dataset: string
  readonly toolCallFormat: string
  readonly quantisation: string
  readonly cacheType: CacheType
  readonly groupSize: number
  /** torchrun ranks of the audit process. */
  readonly processes: number
  readonly python: string | undefined
  readonly auditing: Pick<TrainerSettings, (typeof AUDITED_WITH)[number]>
}

const WITHOUT_A_RUN = { groupSize: 8, quantisation: 'f16', processes: 1 }

/**
 * The run that is calibrated for: the one of `--config`, with what the command line says besides.
 * @throws ConfigError; NotNamed without a model or a data set
 */
export function calibratedRun(options: RunOptions): CalibratedRun {
  const config: RunConfig | null = options.config === undefined ? null : readConfig(options.config)
  const model = options.model ?? config?.base.path
  const dataset = options.dataset ?? config?.tasks.dataset
  if (model === undefined || dataset === undefined)
    throw new NotNamed('not_named', "give a run's --config, or --model and --dataset")
  const settings = config?.trainer.settings ?? {}
  const said = AUDITED_WITH.filter((name) => settings[name] !== undefined)
  return {
    modelPath: resolve(model),
    dataset: resolve(dataset),
    toolCallFormat: options.toolCallFormat ?? config?.base.toolCallFormat ?? DEFAULT_RULES.toolCallFormat,
    quantisation: options.quantisation ?? config?.base.quantisation ?? WITHOUT_A_RUN.quantisation,
    cacheType: options.cacheType ?? config?.cacheType ?? USUAL_CACHE,
    groupSize: options.groupSize ?? config?.groupSize ?? WITHOUT_A_RUN.groupSize,
    processes: config?.audit.processes ?? WITHOUT_A_RUN.processes,
    python: config?.trainer.python,
    auditing: Object.fromEntries(said.map((name) => [name, settings[name]])),
  }
}
