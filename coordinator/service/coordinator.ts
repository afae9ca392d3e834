import type { PrivateKey } from '@libp2p/interface'
import type { CheckWatch } from '../../rollout/verification/index.js'
import {
  type BlobStore,
  createBlobStore,
  createSnapshotExchange,
  fetchGroupBody,
  keepNeighbours,
  type Metrics,
  openAddressNotices,
  type SnapshotExchange,
  type SwarmHost,
} from '../../swarm/index.js'
import { noteAddresses } from '../intake/address-notes.js'
import type { AuditLottery } from '../intake/audit-lottery.js'
import type { Auditor } from '../intake/auditor.js'
import { createBodyJudge } from '../intake/body-judge.js'
import { createGroupBodies } from '../intake/group-bodies.js'
import { createIntake, type Intake } from '../intake/intake.js'
import { openProofStore } from '../intake/proofs.js'
import type { Replays } from '../intake/replays.js'
import { capacityForLeases } from '../leases/lease-capacity.js'
import { createLeaseService, type LeaseService } from '../leases/lease-service.js'
import { createDiskLosses } from '../ledger/disk-losses.js'
import { meterRun } from '../ledger/metrics.js'
import type { Announcement } from '../ledger/orders.js'
import type { Recorder } from '../ledger/recorder.js'
import type { ConfigurationOf } from '../ledger/run-state.js'
import type { RunConfig } from '../settings/config.js'
import type { DataFolder } from '../settings/data-folder.js'
import type { TaskSet } from '../settings/task-set.js'
import { policyFrame } from '../versions/policy-frame.js'
import { createPublishedFiles } from '../versions/published-files.js'
import { createPublisher, type Publisher } from '../versions/publisher.js'
import type { RunTrainer } from '../versions/run-trainer.js'
import { runTraining } from '../versions/training-loop.js'
import { broadcast } from './broadcast.js'
import { nameDoubtedBatches } from './doubted-batches.js'
import { keepHouse } from './housekeeping.js'
import { createIdleNodes } from './idle-nodes.js'
import { tellOwnAddresses } from './own-addresses.js'
import { openPeerFile } from './peer-file.js'
import { createProviders } from './providers.js'
import { type RunServices, serveRun } from './services.js'

/** What a coordinator gets from outside. */
export interface CoordinatorParts {
  readonly config: RunConfig
  readonly folder: DataFolder
  readonly key: PrivateKey
  /** Its clock is that of all parts. */
  readonly host: SwarmHost
  /** Of a run that has agreed on its terms, see `agreeOnTerms`. */
  readonly recorder: Recorder
  /** Files that are published. */
  readonly blobs: BlobStore
  readonly taskSet: TaskSet
  /** Takes the numbers of all parts; a coordinator has one of its own. */
  readonly metrics: Metrics
  /** Hears what the stages of judging do. */
  readonly watch: CheckWatch
  /** Stages 1 to 3 of judging. */
  readonly replays: Replays
  /** Stages 5 to 7 of judging; null: the run has no calibration, and they are not run. */
  readonly auditor: Auditor | null
  readonly lottery: AuditLottery
}

/** A run's coordinator, in service. It trains nothing before `run`. */
export interface Coordinator {
  readonly leases: LeaseService
  readonly intake: Intake
  readonly publisher: Publisher
  readonly snapshots: SnapshotExchange
  readonly services: RunServices
  /** Of groups, as they were judged. */
  readonly bodies: BlobStore
  /** Rejects when there can be no verdicts, or no events, any more. */
  readonly failure: Promise<never>
  /**
   * Does what is due, until `close`, and trains.
   * @returns  when the last version of the run is published
   * @throws what stopped the run before that
   */
  run(trainer: RunTrainer): Promise<void>
  /** Stops the work. What it was given stays open: it is its owner's. */
  close(): Promise<void>
}

/** Puts a coordinator together and into service; earlier publications of its run are served again. */
export async function openCoordinator(parts: CoordinatorParts): Promise<Coordinator> {
  const { config, folder, key, host, recorder, blobs, taskSet, metrics, watch, replays, auditor, lottery } = parts
  const { clock } = host
  meterRun(metrics, recorder)
  const { jobs, manifests } = folder
  const { tasks, environments } = taskSet
  const { state } = recorder
  const closing = new AbortController()
  const { signal } = closing
  const cleanUps: (() => Promise<unknown>)[] = []
  const close = async (): Promise<void> => {
    closing.abort(new Error('the coordinator is closing'))
    for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
  }
  try {
    const losses = createDiskLosses(metrics, host.logger)
    const bodies = await createBlobStore(folder.bodies)
    const judgedBodies = createGroupBodies({
      bodies,
      fetch: (holder, bodySha256, ending) => fetchGroupBody(host, [holder], { bodySha256 }, ending),
      isConnected: (node) => host.isConnected(node),
      recorder,
      clock,
      losses,
    })
    const notices = await openAddressNotices({ host, known: null, onNewer: () => undefined })
    cleanUps.push(async () => notices.close())
    const neighbours = keepNeighbours({ host, random: Math.random, ...(await openPeerFile(folder.knownPeers)) })
    cleanUps.push(() => neighbours.close())
    const snapshots = await createSnapshotExchange(host, {
      store: blobs,
      onLost: (blob) => files.lose(blob),
      notice: () => notices.newest()?.sealed ?? null,
      ...(config.uploadKiB === undefined ? {} : { upload: perSecond(config.uploadKiB) }),
    })
    cleanUps.push(() => snapshots.close())
    const peers = (): string[] => host.connections().map(({ peer }) => peer)
    const files = createPublishedFiles({
      ...{ blobs, snapshots, peers, state, jobs, clock, losses, signal },
      logger: host.logger,
    })
    cleanUps.push(() => files.idle())
    const configurationOf: ConfigurationOf = (lease) => state.roundOf(lease).configuration
    const judge = createBodyJudge({
      tasks,
      configurationOf,
      replays,
      state,
      bodies,
      judgedBodies,
      auditor,
      onUnstable: async (environment, { leaseId }) => {
        await recorder.record((current) =>
          current.quarantinedEnvironments.has(environment)
            ? null
            : { type: 'environment-quarantined', atMs: clock.now(), environment, leaseId },
        )
      },
    })
    const addressBlockOf = noteAddresses(host, signal)
    const auditFailure = Promise.withResolvers<never>()
    const intake = createIntake({
      tasks,
      configurationOf,
      perNode: () => state.configuration!.leases.perNode,
      recorder,
      judge,
      judgedBodies,
      lottery,
      proofs: await openProofStore(folder.evidence),
      addressBlockOf,
      host,
      watch,
      signal,
      onFailure: auditFailure.reject,
    })
    cleanUps.push(() => intake.idle())
    const failure = Promise.race([auditFailure.promise, recorder.failure])
    // Only `run` awaits it; without a handler Node would end the process for a rejection before that (unhandledRejection).
    failure.catch(() => undefined)
    const { registrationMs } = config.rounds
    const leases = createLeaseService({ tasks, recorder, registrationMs, addressBlockOf, metrics, clock })
    const idle = createIdleNodes(clock)
    const capacity = (): number => {
      const { round, orders } = state
      if (orders.pause || orders.rollback) return 0
      return round && round.version < round.configuration.versions
        ? Math.max(0, capacityForLeases(state, round.configuration))
        : 0
    }
    const providers = createProviders({
      host,
      policyInForce: () => state.round?.policyId ?? null,
      onDialable: (peer) => neighbours.note(peer),
      random: Math.random,
      signal,
    })
    const publisher = createPublisher({
      config,
      taskSet,
      frame: () => policyFrame(state.configuration!, environments),
      recorder,
      blobs,
      files,
      losses,
      jobs,
      snapshots,
      host,
      key,
      manifests,
      demand: () => ({ capacity: capacity(), waiting: idle.count() }),
      providers: () => providers.forAnyone(),
      signal,
    })
    const services = await serveRun({ host, key, recorder, leases, intake, bodies, idle, providers })
    cleanUps.push(() => services.close())
    await publisher.restore()

    return {
      leases,
      intake,
      publisher,
      snapshots,
      services,
      bodies,
      failure,
      close,
      async run(trainer) {
        const { logger } = host
        const background = [
          keepHouse(
            {
              releaseLapsed: () => leases.releaseLapsed(),
              takeBack: () => leases.takeBack(),
              openRound: () => publisher.openRound(),
              auditSuspects: () => intake.auditSuspects(),
              nameDoubtedBatches: () => nameDoubtedBatches(recorder, clock),
              clock,
              logger: logger.child({ part: 'housekeeping' }),
            },
            signal,
          ),
          broadcast(
            {
              recorder,
              sendVerdicts: (node, from, count) => services.sendVerdicts(node, from, count),
              announcePolicy: () => publisher.announce(),
              isWanted: () => idle.count() > 0 && capacity() > 0,
              clock,
              logger: logger.child({ part: 'broadcast' }),
            },
            signal,
          ),
        ]
        const onAnnouncement = (hear: () => void): (() => void) =>
          recorder.listen(({ type }) => {
            if (type === 'announced') hear()
          })
        const announcement = (): Announcement | null => state.orders.announcement
        const { addressNotice: file } = folder
        background.push(tellOwnAddresses({ host, key, notices, file, announcement, onAnnouncement }, signal))
        const training = runTraining(
          {
            ...{ jobs, recorder, bodies: judgedBodies, blobs, losses, publisher, trainer },
            ...{ judge, intake, clock, logger: logger.child({ part: 'training' }) },
          },
          signal,
        )
        const ended = training.catch(() => undefined)
        cleanUps.push(() => Promise.all([...background, ended]))
        await Promise.race([training, failure])
      },
    }
  } catch (error) {
    await close()
    throw error
  }
}

const perSecond = (kib: number) => (): number => kib * 1024
