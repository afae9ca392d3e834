import type { Logger } from 'pino'
import { packageVersion } from '../../common/cli/index.js'
import { serveControl } from '../../common/control/index.js'
import { openTokenizer, readModelFacts } from '../../rollout/engine/index.js'
import { createEpisodeRuntime, type EpisodeRuntime, rulesNamed } from '../../rollout/episode/index.js'
import { admitEnvironments } from '../../servers/catalogue.js'
import type { Environment } from '../../servers/kernel/index.js'
import {
  addressesForOthers,
  createBlobStore,
  createHost,
  createMetrics,
  type DirectReach,
  describeFile,
  type Identity,
  type Metrics,
  type RefusalEvent,
  type SwarmHost,
  systemClock,
} from '../../swarm/index.js'
import type { DashboardParts } from '../dashboard/app.js'
import { DashboardError } from '../dashboard/errors.js'
import { type Dashboard, serveDashboard } from '../dashboard/server.js'
import { createAuditLottery } from '../intake/audit-lottery.js'
import { openRunAuditor } from '../intake/auditor.js'
import { openCalibrations } from '../intake/calibrations.js'
import { meterChecks } from '../intake/metrics.js'
import { replayContexts } from '../intake/replay-contexts.js'
import { createReplayPool } from '../intake/replay-pool.js'
import type { Surroundings } from '../intake/replay-worker.js'
import { type Replays, replaysHere } from '../intake/replays.js'
import { meterTrainer } from '../jobs/metrics.js'
import type { TrainerEvent } from '../jobs/trainer-events.js'
import { createTrainerProcess } from '../jobs/trainer-process.js'
import { agreeOnConfiguration, configurationOf } from '../ledger/agree-run-configuration.js'
import { openCheckpoints } from '../ledger/checkpoints.js'
import { type ChainedLog, openEventLog } from '../ledger/event-log.js'
import { type PublicEvent, publicEvent } from '../ledger/public-event.js'
import { openRecorder, type Recorder } from '../ledger/recorder.js'
import type { RunState } from '../ledger/run-state.js'
import { noteProgram } from '../ledger/written-by.js'
import type { Alarm } from '../report/alarms.js'
import { followRun, LiveReport } from '../report/live-report.js'
import { meterReport } from '../report/metrics.js'
import { ConfigError, episodeLimits, type RunConfig } from '../settings/config.js'
import { openDataFolder } from '../settings/data-folder.js'
import { checkPromptCapacity } from '../settings/first-prompts.js'
import { readTaskSet, type TaskSet } from '../settings/task-set.js'
import { chatTemplateSha256 } from '../versions/policy-frame.js'
import { createRunTrainer } from '../versions/run-trainer.js'
import { controlRoutes, takeByToken } from './control-routes.js'
import { openCoordinator } from './coordinator.js'
import { type DryRunProgress, dryRun } from './dry-run.js'
import { heldOutTasks, type NoScore, scoreVersions } from './held-out.js'
import { keepInvitation } from './invitation.js'
import { createOrderService } from './order-service.js'
import { openRunKey } from './run-key.js'
import { createSettingsService, type SettingsService } from './settings-service.js'
import { watchAlarms } from './watch-alarms.js'

/** What an operator, or a program that started the coordinator, is told as it happens. */
export type Progress =
  | { readonly type: 'listening'; readonly addresses: readonly string[]; readonly runId: string }
  /** Where browsers see the run, or why they do not: it goes on without. */
  | { readonly type: 'dashboard'; readonly url: string }
  | { readonly type: 'no-dashboard'; readonly why: string }
  /** What volunteers join with; told again when the addresses have changed. `reach`: from where they can be dialled. */
  | { readonly type: 'invitation'; readonly invitation: string; readonly file: string; readonly reach: DirectReach }
  | { readonly type: 'event'; readonly event: PublicEvent }
  | { readonly type: 'refusal'; readonly refusal: RefusalEvent }
  | DryRunProgress
  | NoScore
  /** Something that the operator should know of the run, when it arises. */
  | { readonly type: 'alarm'; readonly alarm: Alarm }
  | { readonly type: 'trainer'; readonly event: TrainerEvent }
  | { readonly type: 'complete'; readonly version: number }

export interface RunningCoordinator {
  readonly runId: string
  readonly addresses: readonly string[]
  readonly state: RunState
  /** Resolves when the last version of the run is published. @throws what stopped the run before that */
  readonly complete: Promise<void>
  /** Resolves when the last version has its held-out score, or can have none. */
  readonly lastScore: Promise<void>
  close(): Promise<void>
}

export interface CoordinatorOptions {
  readonly config: RunConfig
  /** Folder of the `prove_trainer` package. */
  readonly trainerFolder: string
  /** Python with the trainer's packages, unless the configuration names one. */
  readonly python: string
  /** Whether some tasks are played before the first version. */
  readonly dryRun: boolean
  /** Whoever has no token may look at the dashboard too, whatever `dashboard.public` says. Default: no. */
  readonly publicDashboard?: boolean
  readonly logger: Logger
  readonly onProgress: (progress: Progress) => void
}

const MAX_TRAINER_FAILURES = 3

/** Starts, or after a stop at any instant resumes, a run. */
export async function startCoordinator(options: CoordinatorOptions): Promise<RunningCoordinator> {
  const { config, trainerFolder: packageFolder, logger, onProgress } = options
  const closing = new AbortController()
  const cleanUps: (() => Promise<unknown>)[] = []
  const close = async (): Promise<void> => {
    closing.abort(new Error('the coordinator is closing'))
    for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
  }

  try {
    const metrics = createMetrics()
    const watch = meterChecks(metrics)
    const meter = meterTrainer(metrics)
    const folder = await openDataFolder(config.dataDir)
    const outside = await admitEnvironments(config.tasks.environments)
    const taskSet = await readTaskSet(config.tasks.dataset, 'train')
    const log = await openEventLog(folder.log)
    const checkpoints = openCheckpoints({ file: folder.checkpoint, log, logger })
    const recorder = await openRecorder(log, (event) => onProgress({ type: 'event', event: publicEvent(event) }), {
      checkpoints,
    })
    cleanUps.push(() => recorder.close())
    const shown = reportOn(log, recorder, metrics, { signal: closing.signal, logger })
    cleanUps.push(() => shown.ended)
    const alarms = watchAlarms(shown.report, (alarm) => onProgress({ type: 'alarm', alarm }))
    void shown.ended.then(() => {
      if (!closing.signal.aborted) alarms.look()
    })
    const identity = await openRunKey(config.dataDir, log.end)
    const key = identity.privateKey
    // Once it is known what the terms are made of.
    const settings = Promise.withResolvers<SettingsService>()
    const orders = createOrderService({
      ...{ recorder, taskSet, jobs: folder.jobs, clock: systemClock, signal: closing.signal },
      settings: { take: async (...order) => (await settings.promise).take(...order) },
    })
    const routes = controlRoutes({ log, recorder, metrics, orders })
    const control = await serveControl(config.dataDir, routes).catch((error: unknown) => {
      // Some file systems have no sockets. The run does not depend on them.
      logger.warn({ error }, 'no control socket: this coordinator takes no orders, and has to be stopped for a backup')
    })
    cleanUps.push(async () => control?.close())
    const tokenizer = await openTokenizer(config.base.path)
    cleanUps.push(() => tokenizer.close())
    const runtime = createEpisodeRuntime(
      taskSet.environments,
      tokenizer,
      rulesNamed({ toolCallFormat: config.base.toolCallFormat, reward: config.reward }),
    )
    checkPromptCapacity(taskSet.tasks, runtime, episodeLimits(config))
    const scoringTasks = await heldOutTasks(config, runtime)
    const host = await listen(identity, options, metrics)
    cleanUps.push(() => host.close())
    const blobs = await createBlobStore(folder.blobs)
    const base = await describeFile(config.base.path, 'base', closing.signal)
    const baseSha256 = base.sha256
    const calibrations = await openCalibrations({
      folder: folder.calibrations,
      files: config.audit.calibrations,
      earlier: recorder.state.configurationHistory.flatMap(({ configuration }) =>
        Object.values(configuration.audit.calibrations),
      ),
      base: { sha256: baseSha256, quantisation: config.base.quantisation },
    })
    const sources = {
      baseSha256,
      chatTemplateSha256: chatTemplateSha256(runtime),
      parameters: readModelFacts(config.base.path).parameters,
      taskSet,
      calibrations: calibrations.current,
    }
    const configuration = configurationOf(config, sources)
    // Before anything is written by what they say: a run that cannot go on under them stays as it is.
    await noteProgram(recorder, systemClock)
    await agreeOnConfiguration(recorder, configuration, systemClock)
    const { jobs } = folder
    settings.resolve(
      createSettingsService({
        ...{ config, recorder, clock: systemClock },
        configurationOf: (wanted) => configurationOf(wanted, sources),
        checkTasks: (wanted) => checkPromptCapacity(taskSet.tasks, runtime, episodeLimits(wanted)),
      }),
    )
    const python = config.trainer.python ?? options.python
    const audits = await openRunAuditor({
      python,
      packageFolder,
      trainerConfig: folder.trainerConfig,
      blobs,
      clock: systemClock,
      logger,
      base: config.base.path,
      processes: config.audit.processes,
      calibrations: calibrations.bySha256,
      adaptersKept: () => recorder.state.configuration!.maxStaleness + 1,
      watch,
      signal: closing.signal,
      service: { jobs, baseSha256, reader: runtime },
    })
    cleanUps.push(async () => audits?.close())
    const launch = () =>
      createTrainerProcess(
        {
          python,
          packageFolder,
          jobs,
          base: config.base.path,
          config: folder.trainerConfig,
          processes: config.trainer.processes,
          launch: config.trainer.launch,
          logFile: folder.trainerLog,
          maxFailures: MAX_TRAINER_FAILURES,
          onEvent: (event) => {
            meter(event)
            onProgress({ type: 'trainer', event })
          },
        },
        logger,
      )
    const trainer = createRunTrainer({ file: folder.trainerConfig, tasks: taskSet.tasks, runtime, launch })
    // The audits read its file, too.
    await trainer.settle(configuration, closing.signal)
    cleanUps.push(() => trainer.close())
    if (!recorder.state.current && options.dryRun)
      await dryRun({ config, taskSet, runtime, recorder, clock: systemClock, onProgress }, closing.signal)

    const replayContextOf = replayContexts(runtime, taskSet.environments)
    const replays = (): Replays => {
      const { workers } = config.verification
      if (workers === 0) return replaysHere(replayContextOf, watch)
      const surroundings = surroundingsOf(config, { runtime, taskSet, outside })
      const pool = createReplayPool({ workers, surroundings, watch, logger })
      cleanUps.push(() => pool.close())
      return pool
    }
    const coordinator = await openCoordinator({
      config,
      folder,
      key,
      host,
      recorder,
      blobs,
      taskSet,
      metrics,
      watch,
      replays: replays(),
      auditor: audits?.auditor ?? null,
      lottery: createAuditLottery(key.raw),
    })
    coordinator.snapshots.offerFile(base, config.base.path)
    const { runId } = host
    const { addresses } = addressesForOthers(host.addresses())
    onProgress({ type: 'listening', addresses, runId })
    const { invitation: file } = folder
    const invited = await keepInvitation(
      { config, key, base, host, file },
      ({ text, reach }) => onProgress({ type: 'invitation', invitation: text, file, reach }),
      closing.signal,
    )
    cleanUps.push(() => invited.ended)
    coordinator.snapshots.offerInvitation(() => invited.current.sealed)

    const dashboard =
      config.dashboard.enabled &&
      (await openDashboard(shown.report, {
        ...{ options, metrics, taskSet, tokenizer, blobs, recorder, bodies: coordinator.bodies },
        takeOrder: (body) => takeByToken(orders, body),
        invitation: () => invited.current.text,
        manifests: coordinator.snapshots.inService,
      }))
    if (dashboard) cleanUps.push(() => dashboard.close())

    const scored = scoreVersions(
      {
        ...{ config, tasks: scoringTasks, recorder, blobs, clock: systemClock, onProgress },
        runtimeOf: replayContextOf,
      },
      closing.signal,
    )
    // A defect there ends nothing but the scores.
    const lastScore = scored.catch((error: unknown) => logger.error({ error }, 'versions are not scored any more'))
    cleanUps.push(() => lastScore)
    const run = async (): Promise<void> => {
      await coordinator.run(trainer)
      await trainer.close()
      onProgress({ type: 'complete', version: recorder.state.current!.version })
    }
    const complete = run()
    // Whoever started the run hears of its end through `complete`.
    const ended = complete.catch(() => undefined)
    cleanUps.push(() => Promise.all([coordinator.close(), ended]))
    return { runId, addresses, state: recorder.state, complete, lastScore, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** What a process that replays groups has to find as this one did. */
function surroundingsOf(
  { base, reward, tasks }: RunConfig,
  found: { readonly runtime: EpisodeRuntime; readonly taskSet: TaskSet; readonly outside: readonly Environment[] },
): Surroundings {
  const { vocabularySize, chatTemplate } = found.runtime.tokenizer
  return {
    base: { path: base.path, vocabularySize, chatTemplate },
    ...{ toolCallFormat: base.toolCallFormat, reward },
    environments: found.taskSet.environments.map(({ name }) => name),
    outside: tasks.environments.map((folder, i) => ({ folder, codeSha256: found.outside[i]!.codeSha256! })),
  }
}

/** Counts what happens in the run for those who look at it. To be called before anything is recorded. */
function reportOn(
  log: ChainedLog,
  recorder: Recorder,
  metrics: Metrics,
  { signal, logger }: { readonly signal: AbortSignal; readonly logger: Logger },
): { readonly report: LiveReport; readonly ended: Promise<void> } {
  const report = new LiveReport()
  meterReport(metrics, report)
  const ended = followRun(report, { log, recorder, count: log.end.count }, signal).catch((error: unknown) => {
    if (!signal.aborted) logger.error({ error }, 'the log could not be read for the dashboard')
  })
  return { report, ended }
}

interface DashboardSources
  extends Pick<
    DashboardParts,
    'metrics' | 'taskSet' | 'tokenizer' | 'blobs' | 'bodies' | 'invitation' | 'manifests' | 'takeOrder'
  > {
  readonly options: CoordinatorOptions
  readonly recorder: Recorder
}

/** @returns  null where the address is not to be had. @throws DashboardError `bad_token` */
async function openDashboard(report: LiveReport, sources: DashboardSources): Promise<Dashboard | null> {
  const { options, recorder, ...parts } = sources
  const { config, logger, onProgress } = options
  let isSound = true
  recorder.failure.catch(() => {
    isSound = false
  })
  try {
    const { dashboard: settings } = config
    const isPublic = settings.public || options.publicDashboard === true
    const dashboard = await serveDashboard(
      { ...settings, public: isPublic },
      {
        ...{ ...parts, config, report, clock: systemClock, logger: logger.child({ part: 'dashboard' }) },
        isSound: () => isSound,
      },
    )
    onProgress({ type: 'dashboard', url: dashboard.url })
    return dashboard
  } catch (error) {
    if (!(error instanceof DashboardError && error.code === 'not_listening')) throw error
    onProgress({ type: 'no-dashboard', why: error.detail })
    return null
  }
}

/** @throws ConfigError when it cannot listen where it should */
function listen(
  identity: Identity,
  { config, logger, onProgress }: CoordinatorOptions,
  metrics: Metrics,
): Promise<SwarmHost> {
  return createHost({
    privateKey: identity.privateKey,
    runId: identity.peerId,
    listen: config.listen,
    announce: config.announce,
    discovery: { tryAddresses: true },
    program: packageVersion(),
    logger,
    metrics,
    onRefusal: (refusal) => onProgress({ type: 'refusal', refusal }),
  }).catch((cause: Error) => {
    // The library's message goes on with a stack trace.
    const reason = cause.message.split(/\n +at /)[0]!.replaceAll(/\s+/g, ' ')
    throw new ConfigError(`listen: ${config.listen.join(', ')}: ${reason}`, { cause })
  })
}
