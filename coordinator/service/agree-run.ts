import { openTokenizer, type Tokenizer } from '../../rollout/engine/index.js'
import { createEpisodeRuntime, type EpisodeRuntime, rulesNamed, type Task } from '../../rollout/episode/index.js'
import { canaryTolerance } from '../../rollout/verification/index.js'
import { type BlobStore, createBlobStore, describeFile, type SwarmHost, systemClock } from '../../swarm/index.js'
import { type Calibrations, openCalibrations } from '../intake/calibrations.js'
import { agreeOnConfiguration, configurationOf } from '../ledger/agree-run-configuration.js'
import type { RunConfiguration } from '../ledger/run-configuration.js'
import { noteProgram } from '../ledger/written-by.js'
import { readBase } from '../settings/base-facts.js'
import { requireBaseFormat } from '../settings/base-format.js'
import { episodeLimits } from '../settings/config.js'
import { checkPromptCapacity } from '../settings/first-prompts.js'
import { chatTemplateSha256 } from '../versions/policy-frame.js'
import { heldOutTasks } from './held-out.js'
import { listenForPeers } from './listen.js'
import type { OpenedLedger } from './open-ledger.js'
import type { CoordinatorOptions, StartScope } from './progress.js'
import { createSettingsService } from './settings-service.js'

/** A run whose configuration is on record, with everything that the configuration is made of. */
export interface AgreedRun {
  readonly tokenizer: Tokenizer
  readonly runtime: EpisodeRuntime
  /** Held-out tasks by which versions are scored. */
  readonly scoringTasks: readonly Task[]
  readonly host: SwarmHost
  readonly blobs: BlobStore
  readonly base: Awaited<ReturnType<typeof describeFile>>
  readonly calibrations: Calibrations
  readonly configuration: RunConfiguration
}

/**
 * Reads the model, joins the network and records the run configuration. A run that cannot continue under it stays as it is.
 * @throws ConfigError
 */
export async function agreeOnRun(
  options: CoordinatorOptions,
  ledger: OpenedLedger,
  { cleanUp, signal }: StartScope,
): Promise<AgreedRun> {
  const { config } = options
  const { folder, taskSet, recorder, metrics } = ledger
  const facts = readBase(config.base.path)
  const tokenizer = await openTokenizer(config.base.path)
  cleanUp.add(() => tokenizer.close())
  requireBaseFormat(tokenizer, config.base)
  const runtime = createEpisodeRuntime(
    taskSet.environments,
    tokenizer,
    rulesNamed({ toolCallFormat: config.base.toolCallFormat, reward: config.reward }),
  )
  checkPromptCapacity(taskSet.tasks, runtime, episodeLimits(config))
  const scoringTasks = await heldOutTasks(config, runtime)
  const host = await listenForPeers(ledger.identity, options, metrics)
  cleanUp.add(() => host.close())
  const blobs = await createBlobStore(folder.blobs)
  const base = await describeFile(config.base.path, 'base', signal)
  const calibrations = await openCalibrations({
    folder: folder.calibrations,
    files: config.audit.calibrations,
    earlier: recorder.state.configurationHistory.flatMap(({ configuration }) =>
      Object.values(configuration.audit.calibrations),
    ),
    base: { sha256: base.sha256, quantisation: config.base.quantisation },
  })
  const sources = {
    baseSha256: base.sha256,
    chatTemplateSha256: chatTemplateSha256(runtime),
    parameters: facts.parameters,
    taskSet,
    calibrations: calibrations.current,
    canaryTolerance: canaryTolerance(
      Object.values(calibrations.current).map((sha256) => calibrations.bySha256.get(sha256)!),
    ),
  }
  const configuration = configurationOf(config, sources)
  // Checked and recorded before anything else is written that depends on the configuration.
  await noteProgram(recorder, systemClock)
  await agreeOnConfiguration(recorder, configuration, systemClock)
  ledger.acceptSettings(
    createSettingsService({
      ...{ config, recorder, clock: systemClock },
      configurationOf: (wanted) => configurationOf(wanted, sources),
      checkTasks: (wanted) => checkPromptCapacity(taskSet.tasks, runtime, episodeLimits(wanted)),
    }),
  )
  return { tokenizer, runtime, scoringTasks, host, blobs, base, calibrations, configuration }
}
