import type { PrivateKey } from '@libp2p/interface'
import { createCleanUp } from '../../common/cleanup/index.js'
import { LIMITS } from '../../proto/index.js'
import type { Task } from '../../rollout/episode/index.js'
import type { CheckWatch } from '../../rollout/verification/index.js'
import {
  type AddressNotices,
  type BlobStore,
  createSnapshotExchange,
  followPeers,
  keepNeighbours,
  type Metrics,
  openAddressNotices,
  type PeerTier,
  type SnapshotExchange,
  type SwarmHost,
} from '../../swarm/index.js'
import { noteAddresses } from '../intake/address-notes.js'
import type { AuditLottery } from '../intake/audit-lottery.js'
import type { Auditor } from '../intake/auditor.js'
import type { Intake } from '../intake/intake.js'
import type { Replays } from '../intake/replays.js'
import { createLeaseService, type LeaseService } from '../leases/lease-service.js'
import { createDiskLosses, type DiskLosses } from '../ledger/disk-losses.js'
import { meterRun } from '../ledger/metrics.js'
import type { Recorder } from '../ledger/recorder.js'
import type { RunState } from '../ledger/run-state.js'
import type { RunConfig } from '../settings/config.js'
import type { DataFolder } from '../settings/data-folder.js'
import type { TaskSet } from '../settings/task-set.js'
import { policyFrame } from '../versions/policy-frame.js'
import { createPublishedFiles, type PublishedFiles } from '../versions/published-files.js'
import { createPublisher, type Publisher } from '../versions/publisher.js'
import type { RunTrainer } from '../versions/run-trainer.js'
import { trainingEvidence } from '../versions/training-evidence.js'
import { runTraining } from '../versions/training-loop.js'
import { createVersionArchive, type VersionArchive } from '../versions/version-archive.js'
import { createAttendance } from './attendance.js'
import { runBackground } from './background.js'
import { hearGroups } from './hear-groups.js'
import { heldOutSet } from './held-out.js'
import { createIdleNodes } from './idle-nodes.js'
import { openIntake } from './open-intake.js'
import { openPeerFile } from './peer-file.js'
import type { StartScope } from './progress.js'
import { createProviders } from './providers.js'
import { type RunServices, serveRun } from './services.js'
import { createStrainWatch } from './strain-watch.js'

/** Dependencies of a coordinator. */
export interface CoordinatorParts {
  readonly config: RunConfig
  readonly folder: DataFolder
  readonly key: PrivateKey
  /** All parts use the clock of the host. */
  readonly host: SwarmHost
  /** Recorder of a run that has agreed on its configuration, see `agreeOnConfiguration`. */
  readonly recorder: Recorder
  /** Published files. */
  readonly blobs: BlobStore
  readonly taskSet: TaskSet
  /** Registry for the metrics of all parts, not shared with another coordinator. */
  readonly metrics: Metrics
  /** Observes the verification checks. */
  readonly watch: CheckWatch
  /** Verification checks 1 to 3. */
  readonly replays: Replays
  /** Verification checks 5 to 7; null: the run has no calibration, so these checks do not run. */
  readonly auditor: Auditor | null
  readonly lottery: AuditLottery
  /** Tasks by which versions are scored. Default: none. */
  readonly scoringTasks?: readonly Task[]
  /** Number of nodes that a gossip shard should have. Default: `LIMITS.shardNodes`. */
  readonly shardNodes?: number
}

/** A run's coordinator, in service. It trains nothing before `run`. */
export interface Coordinator {
  readonly leases: LeaseService
  readonly intake: Intake
  readonly publisher: Publisher
  readonly snapshots: SnapshotExchange
  readonly services: RunServices
  /** Bodies of groups, as they were verified. */
  readonly bodies: BlobStore
  /** Rejects when the coordinator can make no verdicts, or record no events, any more. */
  readonly failure: Promise<never>
  /**
   * Trains, and runs the background duties until `close`.
   * @returns  when the last version of the run is published
   * @throws the error that stopped the run before
   */
  run(trainer: RunTrainer): Promise<void>
  /** Stops the work. Does not close the dependencies. */
  close(): Promise<void>
}

/** Assembles a coordinator and puts it into service. Serves earlier publications of its run again. */
export async function openCoordinator(parts: CoordinatorParts): Promise<Coordinator> {
  const { config, folder, key, host, recorder, blobs, taskSet, metrics, scoringTasks = [] } = parts
  const { clock, logger } = host
  meterRun(metrics, recorder)
  const { state } = recorder
  const closing = new AbortController()
  const { signal } = closing
  const cleanUp = createCleanUp()
  const close = (): Promise<void> => {
    closing.abort(new Error('the coordinator is closing'))
    return cleanUp.close()
  }
  try {
    const losses = createDiskLosses(metrics, logger)
    const { uploadKiB } = config
    if (uploadKiB !== undefined) host.serving.limitUpload(() => uploadKiB * 1024)
    host.serving.knowTiers((peer) => tierIn(state, peer))
    const archive = createVersionArchive({
      ...{ folder: folder.versions, runId: host.runId, blobs, logger },
      versions: config.rederivation.versions,
    })
    const { notices, neighbours, snapshots, files } = await openArtifacts(parts, losses, archive, { cleanUp, signal })
    const addressBlockOf = noteAddresses(host, signal)
    const opened = await openIntake({ ...parts, losses, addressBlockOf }, { cleanUp, signal })
    const { bodies, judgedBodies, judge, intake } = opened
    const failure = Promise.race([opened.failure, recorder.failure])
    // Only `run` awaits `failure`. Without a handler Node.js would end the process for an earlier rejection.
    failure.catch(() => undefined)
    const { registrationMs } = config.rounds
    const { tasks, environments } = taskSet
    const leases = createLeaseService({ tasks, recorder, registrationMs, addressBlockOf, metrics, clock })
    const idle = createIdleNodes(clock)
    const attendance = createAttendance({ host, recorder, signal })
    const peers = followPeers(host)
    cleanUp.add(() => peers.close())
    const strain = createStrainWatch({
      ...{ host, recorder, peers: () => peers.size, capacity: leases.capacity, signal },
      isAuditBehind: () => parts.auditor?.isBehind ?? false,
    })
    const shards = hearGroups(host, intake)
    cleanUp.add(() => shards.close())
    const providers = createProviders({
      host,
      shards: () => shards.shards,
      policyInForce: () => state.round?.policyId ?? null,
      onDialable: (peer) => neighbours.note(peer),
      random: Math.random,
      signal,
    })
    const publisher = createPublisher({
      ...{ config, taskSet, recorder, blobs, files, losses, archive, jobs: folder.jobs, snapshots, host, key, signal },
      heldOut: () => heldOutSet(scoringTasks, state.configuration!),
      evidenceOf: (step) =>
        trainingEvidence(step, {
          ...{ runId: host.runId, state, taskSet, jobs: folder.jobs, bodies: judgedBodies, logger, signal },
          calibrations: folder.calibrations,
        }),
      frame: () => policyFrame(state.configuration!, environments),
      manifests: folder.manifests,
      ...{ shards, peers },
      shardNodes: parts.shardNodes ?? LIMITS.shardNodes.value,
      demand: () => ({ capacity: leases.capacity(), waiting: idle.count() }),
      providers: () => providers.forAnyone(),
    })
    const services = await serveRun({
      ...{ host, key, recorder, leases, intake, bodies, idle, attendance, providers, shards },
      rederivationCredit: config.rederivation.credit,
    })
    cleanUp.add(() => services.close())
    await publisher.restore()

    return {
      ...{ leases, intake, publisher, snapshots, services, bodies, failure, close },
      async run(trainer) {
        const background = runBackground(
          {
            ...{ host, key, recorder, leases, intake, publisher, services, attendance, strain, notices },
            addressNotice: folder.addressNotice,
            isWanted: () => idle.count() > 0 && leases.capacity() > 0,
          },
          signal,
        )
        const training = runTraining(
          {
            ...{ jobs: folder.jobs, recorder, bodies: judgedBodies, blobs, losses, publisher, trainer },
            ...{ judge, intake, clock, logger: logger.child({ part: 'training' }) },
          },
          signal,
        )
        const ended = training.catch(() => undefined)
        cleanUp.add(() => Promise.all([background, ended]))
        await Promise.race([training, failure])
      },
    }
  } catch (error) {
    await close()
    throw error
  }
}

interface OpenedArtifacts {
  readonly notices: AddressNotices
  readonly neighbours: ReturnType<typeof keepNeighbours>
  readonly snapshots: SnapshotExchange
  readonly files: PublishedFiles
}

/** Opens the exchange of published files and of peer addresses. */
async function openArtifacts(
  { config, folder, host, recorder, blobs }: CoordinatorParts,
  losses: DiskLosses,
  archive: VersionArchive,
  { cleanUp, signal }: StartScope,
): Promise<OpenedArtifacts> {
  const notices = await openAddressNotices({ host, known: null, onNewer: () => undefined })
  cleanUp.add(() => notices.close())
  const neighbours = keepNeighbours({ host, random: Math.random, ...(await openPeerFile(folder.knownPeers)) })
  cleanUp.add(() => neighbours.close())
  const snapshots = await createSnapshotExchange(host, {
    store: blobs,
    onLost: (blob) => files.lose(blob),
    archive: (version) => archive.read(version),
    notice: () => notices.newest()?.sealed ?? null,
  })
  cleanUp.add(() => snapshots.close())
  const peers = (): string[] => host.connections().map(({ peer }) => peer)
  const files = createPublishedFiles({
    ...{ blobs, snapshots, peers, state: recorder.state, jobs: folder.jobs, clock: host.clock, losses, signal },
    keepsEvidence: config.rederivation.versions === undefined,
    logger: host.logger,
  })
  cleanUp.add(() => files.idle())
  return { notices, neighbours, snapshots, files }
}

function tierIn({ reliable, registered }: RunState, peer: string): PeerTier {
  if (reliable.has(peer)) return 'reliable'
  return registered.has(peer) ? 'registered' : 'stranger'
}
