import type { Logger } from 'pino'
import { serveControl } from '../../common/control/index.js'
import { admitEnvironments } from '../../servers/catalogue.js'
import type { Environment } from '../../servers/kernel/index.js'
import { createMetrics, type Identity, type Metrics, systemClock } from '../../swarm/index.js'
import { openCheckpoints } from '../ledger/checkpoints.js'
import { type ChainedLog, openEventLog } from '../ledger/event-log.js'
import { publicEvent } from '../ledger/public-event.js'
import { openRecorder, type Recorder } from '../ledger/recorder.js'
import { followRun, LiveReport } from '../report/live-report.js'
import { meterReport } from '../report/metrics.js'
import { type DataFolder, openDataFolder } from '../settings/data-folder.js'
import { readTaskSet, type TaskSet } from '../settings/task-set.js'
import { controlRoutes } from './control-routes.js'
import { createOrderService, type OrderService } from './order-service.js'
import type { CoordinatorOptions, StartScope } from './progress.js'
import { openRunKey } from './run-key.js'
import type { SettingsService } from './settings-service.js'
import { watchAlarms } from './watch-alarms.js'

/** The recorded run and its control socket, before the coordinator has looked at the model. */
export interface OpenedLedger {
  readonly metrics: Metrics
  readonly folder: DataFolder
  /** Environments that `tasks.environments` names, in its order. */
  readonly customEnvironments: readonly Environment[]
  readonly taskSet: TaskSet
  readonly recorder: Recorder
  readonly log: ChainedLog
  readonly report: LiveReport
  readonly identity: Identity
  readonly orders: OrderService
  /** Accepts orders for settings from now on: what the run configuration is made of is known. */
  acceptSettings(service: SettingsService): void
}

export async function openLedger(
  { config, logger, onProgress }: CoordinatorOptions,
  { cleanUp, signal }: StartScope,
): Promise<OpenedLedger> {
  const metrics = createMetrics()
  const folder = await openDataFolder(config.dataDir)
  const customEnvironments = await admitEnvironments(config.tasks.environments)
  const taskSet = await readTaskSet(config.tasks.dataset, 'train')
  const log = await openEventLog(folder.log)
  const checkpoints = openCheckpoints({ file: folder.checkpoint, log, logger })
  const recorder = await openRecorder(log, (event) => onProgress({ type: 'event', event: publicEvent(event) }), {
    ...{ checkpoints, clock: systemClock },
  })
  cleanUp.add(() => recorder.close())
  const { report, ended } = reportOn(log, recorder, metrics, { signal, logger })
  cleanUp.add(() => ended)
  const alarms = watchAlarms(report, (alarm) => onProgress({ type: 'alarm', alarm }))
  void ended.then(() => {
    if (!signal.aborted) alarms.look()
  })
  const identity = await openRunKey(config.dataDir, log.end)
  const settings = Promise.withResolvers<SettingsService>()
  const orders = createOrderService({
    ...{ recorder, taskSet, jobs: folder.jobs, clock: systemClock, signal },
    settings: { take: async (...order) => (await settings.promise).take(...order) },
  })
  const routes = controlRoutes({ log, recorder, metrics, orders })
  const control = await serveControl(config.dataDir, routes).catch((error: unknown) => {
    // Some file systems have no sockets. The run does not depend on them.
    logger.warn({ error }, 'no control socket: this coordinator takes no orders, and has to be stopped for a backup')
  })
  cleanUp.add(() => control?.close())
  return {
    ...{ metrics, folder, customEnvironments, taskSet, recorder, log, report, identity, orders },
    acceptSettings: settings.resolve,
  }
}

/** Counts the events of the run for the dashboard and the metrics. Has to be called before the first event is recorded. */
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
