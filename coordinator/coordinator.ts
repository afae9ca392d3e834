import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { Logger } from 'pino'
import writeFileAtomic from 'write-file-atomic'
import { openTokenizer } from '../engine/index.js'
import { createStage, DEFAULT_LIMITS, type EpisodeLimits } from '../episode/index.js'
import {
  createBlobStore,
  createHost,
  createSnapshotExchange,
  openIdentity,
  type RefusalEvent,
  systemClock,
} from '../swarm/index.js'
import { createAuditLottery } from './audit/auditor.js'
import { openRunAuditor } from './audit/run-auditor.js'
import { canaryProbes } from './canary.js'
import { ConfigError, type RunConfig } from './config.js'
import type { RunEvent } from './events.js'
import { createGroupJudge } from './group-judge.js'
import { keepHouse } from './housekeeping.js'
import { createIntake } from './intake.js'
import { createLeaseDesk } from './lease-desk.js'
import { policyFrame } from './policy-description.js'
import { createPublisher } from './publisher.js'
import { openRecorder } from './recorder.js'
import type { RunState } from './run-state.js'
import { serveRun } from './services.js'
import { openEventLog } from './store.js'
import { pinTaskSet, readTaskSet } from './task-set.js'
import { createTorchrunEngine, type TrainerEvent } from './train-engine.js'
import { runTraining } from './training-loop.js'

/** What an operator, or a program that started the coordinator, is told as it happens. */
export type Progress =
  | { readonly type: 'listening'; readonly addresses: readonly string[]; readonly runId: string }
  | { readonly type: 'event'; readonly event: RunEvent }
  | { readonly type: 'refusal'; readonly refusal: RefusalEvent }
  | { readonly type: 'trainer'; readonly event: TrainerEvent }
  | { readonly type: 'complete'; readonly version: number }

export interface Coordinator {
  readonly runId: string
  readonly addresses: readonly string[]
  readonly state: RunState
  /** Resolves when the last version of the run is published. @throws what stopped the run before that */
  readonly complete: Promise<void>
  close(): Promise<void>
}

export interface CoordinatorOptions {
  readonly config: RunConfig
  /** Folder of the `prove_trainer` package. */
  readonly trainerFolder: string
  /** Python with the trainer's packages, unless the configuration names one. */
  readonly python: string
  readonly logger: Logger
  readonly onProgress: (progress: Progress) => void
}

const MAX_TRAINER_FAILURES = 3

/** Starts, or after a stop at any instant resumes, a run. */
export async function startCoordinator(options: CoordinatorOptions): Promise<Coordinator> {
  const { config, logger, onProgress } = options
  const closing = new AbortController()
  const { signal } = closing
  const clock = systemClock
  const folder = (name: string): string => join(config.dataDir, name)
  for (const name of ['manifests', 'spool/batches']) await mkdir(folder(name), { recursive: true })
  const cleanUps: (() => Promise<unknown>)[] = []
  const close = async (): Promise<void> => {
    closing.abort(new Error('the coordinator is closing'))
    for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
  }

  try {
    const taskSet = await readTaskSet(config.tasks.dataset, 'train')
    await pinTaskSet(config.dataDir, taskSet)
    const { tasks, servers } = taskSet
    const identity = await openIdentity(config.dataDir)
    const recorder = await openRecorder(await openEventLog(folder('log')), (event) =>
      onProgress({ type: 'event', event }),
    )
    cleanUps.push(() => recorder.close())
    const tokenizer = await openTokenizer(config.base.path)
    cleanUps.push(() => tokenizer.close())
    const limits: EpisodeLimits = { ...DEFAULT_LIMITS, ...config.limits }
    const stage = createStage(servers, tokenizer)

    const host = await createHost({
      privateKey: identity.privateKey,
      runId: identity.peerId,
      listen: config.listen,
      announce: config.announce,
      exchangePeers: true,
      logger,
      onRefusal: (refusal) => onProgress({ type: 'refusal', refusal }),
    }).catch((cause: Error) => {
      // The library's message goes on with a stack trace.
      const reason = cause.message.split(/\n +at /)[0]!.replaceAll(/\s+/g, ' ')
      throw new ConfigError(`listen: ${config.listen.join(', ')}: ${reason}`, { cause })
    })
    cleanUps.push(() => host.close())
    const blobs = await createBlobStore(folder('blobs'))
    const bodies = await createBlobStore(folder('bodies'))
    const snapshots = await createSnapshotExchange(host, { store: blobs })
    cleanUps.push(() => snapshots.close())

    const baseSha256 = await hashFile(config.base.path)
    const frame = policyFrame(config, baseSha256, tokenizer.chatTemplate, servers)
    const python = config.trainer.python ?? options.python
    const trainerConfig = folder('trainer.json')
    const spool = folder('spool')
    const audits = await openRunAuditor({
      ...{ config, python, packageFolder: options.trainerFolder, trainerConfig, blobs, logger, signal },
      desk: { spool, baseSha256, tokenizer, limits },
    })
    cleanUps.push(async () => audits?.close())
    const auditor = audits?.auditor ?? null
    const judge = createGroupJudge({
      tasks,
      groupSize: config.groupSize,
      limits,
      stage,
      state: recorder.state,
      bodies,
      auditor,
      onUnstable: async (server, { leaseId }) => {
        await recorder.record((state) =>
          state.quarantinedWorlds.has(server)
            ? null
            : { type: 'world-quarantined', atMs: clock.now(), server, leaseId },
        )
      },
    })
    const auditFailure = Promise.withResolvers<never>()
    auditFailure.promise.catch(() => undefined)
    const intake = createIntake({
      config,
      tasks,
      limits,
      recorder,
      judge,
      lottery: createAuditLottery(identity.privateKey.raw),
      host,
      clock,
      signal,
      onFailure: auditFailure.reject,
    })
    const desk = createLeaseDesk(config, tasks, recorder, clock, auditor?.isCalibrated)
    const manifests = folder('manifests')
    const publisher = createPublisher({
      config,
      taskSet,
      frame,
      limits,
      recorder,
      blobs,
      snapshots,
      host,
      key: identity.privateKey,
      clock,
      manifests,
    })

    const { privateKey: key } = identity
    const services = await serveRun({ host, key, state: recorder.state, desk, intake, bodies, clock })
    cleanUps.push(() => services.close())

    await writeFileAtomic(
      trainerConfig,
      JSON.stringify({
        schema: 1,
        baseSha256,
        baseModel: { name: config.base.name },
        probes: canaryProbes(tasks, stage, limits),
        ...trainerSettings(config),
      }),
    )
    const trainer = createTorchrunEngine(
      {
        python,
        packageFolder: options.trainerFolder,
        spool,
        base: config.base.path,
        config: trainerConfig,
        processes: config.trainer.processes,
        logFile: folder('trainer.log'),
        maxFailures: MAX_TRAINER_FAILURES,
        onEvent: (event) => onProgress({ type: 'trainer', event }),
      },
      logger,
    )
    cleanUps.push(() => trainer.close())

    await publisher.restore()
    onProgress({ type: 'listening', addresses: host.addresses(), runId: host.runId })

    const run = async (): Promise<void> => {
      const training = runTraining({ config, baseSha256, spool, recorder, intake, publisher, trainer, clock }, signal)
      await Promise.race([training, auditFailure.promise, recorder.failure])
      await trainer.close()
      onProgress({ type: 'complete', version: recorder.state.current!.version })
    }
    const background = keepHouse(
      {
        state: recorder.state,
        releaseLapsed: () => desk.releaseLapsed(),
        openRound: () => publisher.openRound(),
        auditSuspects: () => intake.auditSuspects(),
        sendVerdicts: (node, from, count) => services.sendVerdicts(node, from, count),
        announcePolicy: () => publisher.announce(),
        clock,
        logger,
      },
      signal,
    )
    const complete = run()
    // Whoever started the run hears of its end through `complete`.
    const ended = complete.catch(() => undefined)
    cleanUps.push(() => Promise.all([background, ended, intake.idle()]))
    return { runId: host.runId, addresses: host.addresses(), state: recorder.state, complete, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** The run's own staleness limit holds for the trainer too, unless the operator sets another. */
function trainerSettings({ trainer: { settings }, maxStaleness }: RunConfig): object {
  const { loss = {} } = settings
  return { ...settings, loss: typeof loss === 'object' ? { maxStaleness, ...loss } : loss }
}

async function hashFile(path: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(path), hash)
  return hash.digest('hex')
}
