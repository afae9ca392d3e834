import { createCleanUp } from '../../common/cleanup/index.js'
import type { CheckWatch } from '../../rollout/verification/index.js'
import { addressesForOthers, systemClock } from '../../swarm/index.js'
import { createAuditLottery } from '../intake/audit-lottery.js'
import { meterChecks } from '../intake/metrics.js'
import { replayContexts } from '../intake/replay-contexts.js'
import { createReplayPool } from '../intake/replay-pool.js'
import type { ReplaySetup } from '../intake/replay-worker.js'
import { type Replays, replaysHere } from '../intake/replays.js'
import { firstAdapter } from '../jobs/step-folder.js'
import type { RunState } from '../ledger/run-state.js'
import type { RunConfig } from '../settings/config.js'
import { type AgreedRun, agreeOnRun } from './agree-run.js'
import { takeByToken } from './control-routes.js'
import { type Coordinator, openCoordinator } from './coordinator.js'
import { dryRun } from './dry-run.js'
import { scoreVersions } from './held-out.js'
import { keepInvitation } from './invitation.js'
import { openDashboard } from './open-dashboard.js'
import { type OpenedLedger, openLedger } from './open-ledger.js'
import { openTraining } from './open-training.js'
import { keepBackups } from './own-backups.js'
import type { CoordinatorOptions, StartScope } from './progress.js'

/** A run in service. */
export interface RunningCoordinator {
  readonly runId: string
  readonly addresses: readonly string[]
  readonly state: RunState
  /** Resolves when the last version of the run is published. Rejects with the error that stopped the run before. */
  readonly complete: Promise<void>
  /** Resolves when the last version has its held-out score, or can have none. */
  readonly lastScore: Promise<void>
  close(): Promise<void>
}

/** Starts a run, or resumes it after it was stopped or killed at any point. */
export async function startCoordinator(options: CoordinatorOptions): Promise<RunningCoordinator> {
  const { config, logger, onProgress } = options
  const closing = new AbortController()
  const cleanUp = createCleanUp()
  const scope: StartScope = { cleanUp, signal: closing.signal }
  const close = (): Promise<void> => {
    closing.abort(new Error('the coordinator is closing'))
    return cleanUp.close()
  }

  try {
    const ledger = await openLedger(options, scope)
    const { recorder, taskSet } = ledger
    const agreed = await agreeOnRun(options, ledger, scope)
    const { runtime, blobs } = agreed
    const watch = meterChecks(ledger.metrics)
    const { auditor, trainer } = await openTraining(options, ledger, agreed, { ...scope, watch })
    if (!recorder.state.current && options.dryRun)
      await dryRun(
        {
          ...{ config, taskSet, runtime, recorder, clock: systemClock, onProgress },
          adapter: await firstAdapter(ledger.folder.jobs),
        },
        scope.signal,
      )

    const replayContextOf = replayContexts(runtime, taskSet.environments)
    const replays = openReplays(options, ledger, agreed, { ...scope, watch, replayContextOf })
    const { privateKey: key } = ledger.identity
    const coordinator = await openCoordinator({
      ...{ config, folder: ledger.folder, key, host: agreed.host, recorder, blobs, taskSet },
      ...{ metrics: ledger.metrics, watch, replays, auditor, lottery: createAuditLottery(key.raw) },
      scoringTasks: agreed.scoringTasks,
    })
    const { runId, addresses } = await publishRun(options, ledger, agreed, coordinator, scope)
    const scored = scoreVersions(
      {
        ...{ config, tasks: agreed.scoringTasks, recorder, blobs, clock: systemClock, onProgress },
        runtimeOf: replayContextOf,
      },
      scope.signal,
    )
    // A defect in scoring must not stop the run.
    const backups = keepBackups(
      {
        ...{ settings: config.backups, log: ledger.log, dataDir: config.dataDir, logger, clock: systemClock },
        configFile: options.configFile ?? null,
        onBackup: (result) =>
          onProgress('why' in result ? { type: 'no-backup', ...result } : { type: 'backup', ...result }),
      },
      scope.signal,
    )
    cleanUp.add(() => backups)
    const lastScore = scored.catch((error: unknown) => logger.error({ error }, 'versions are not scored any more'))
    cleanUp.add(() => lastScore)
    const run = async (): Promise<void> => {
      await coordinator.run(trainer)
      await trainer.close()
      onProgress({ type: 'complete', version: recorder.state.current!.version })
    }
    const complete = run()
    // The caller observes the end of the run through `complete`.
    const ended = complete.catch(() => undefined)
    cleanUp.add(() => Promise.all([coordinator.close(), ended]))
    return { runId, addresses, state: recorder.state, complete, lastScore, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** Runs replays in worker processes, or in this process where `verification.workers` is 0. */
function openReplays(
  { config, logger }: CoordinatorOptions,
  ledger: OpenedLedger,
  agreed: AgreedRun,
  scope: StartScope & { readonly watch: CheckWatch; readonly replayContextOf: ReturnType<typeof replayContexts> },
): Replays {
  const { workers } = config.verification
  const { cleanUp, watch, replayContextOf } = scope
  if (workers === 0) return replaysHere(replayContextOf, watch)
  const pool = createReplayPool({ workers, setup: replaySetup(config, ledger, agreed), watch, logger })
  cleanUp.add(() => pool.close())
  return pool
}

/** Returns what a replay worker needs to make the same replay context as this process. */
function replaySetup(
  { base, reward, tasks }: RunConfig,
  { taskSet, customEnvironments }: OpenedLedger,
  { runtime }: AgreedRun,
): ReplaySetup {
  const { vocabularySize, chatTemplate } = runtime.tokenizer
  return {
    base: { path: base.path, vocabularySize, chatTemplate },
    ...{ toolCallFormat: base.toolCallFormat, reward },
    environments: taskSet.environments.map(({ name }) => name),
    outside: tasks.environments.map((folder, i) => ({ folder, codeSha256: customEnvironments[i]!.codeSha256! })),
  }
}

/** Offers the base model, the invitation and the dashboard to volunteers. */
async function publishRun(
  options: CoordinatorOptions,
  { folder, identity, taskSet, recorder, report, metrics, orders }: OpenedLedger,
  { host, base, tokenizer, blobs }: AgreedRun,
  { snapshots, bodies }: Coordinator,
  { cleanUp, signal }: StartScope,
): Promise<Pick<RunningCoordinator, 'runId' | 'addresses'>> {
  const { config, onProgress } = options
  snapshots.offerFile(base, config.base.path)
  const { runId } = host
  const { addresses } = addressesForOthers(host.addresses())
  onProgress({ type: 'listening', addresses, runId })
  const { invitation: file } = folder
  const invited = await keepInvitation(
    { config, key: identity.privateKey, base, host, file },
    ({ text, reach }) => onProgress({ type: 'invitation', invitation: text, file, reach }),
    signal,
  )
  cleanUp.add(() => invited.ended)
  snapshots.offerInvitation(() => invited.current.sealed)
  const dashboard =
    config.dashboard.enabled &&
    (await openDashboard(options, {
      ...{ report, metrics, taskSet, tokenizer, blobs, recorder, bodies },
      takeOrder: (body) => takeByToken(orders, body),
      invitation: () => invited.current.text,
      manifests: snapshots.inService,
    }))
  if (dashboard) cleanUp.add(() => dashboard.close())
  return { runId, addresses }
}
