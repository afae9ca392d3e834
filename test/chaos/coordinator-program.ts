import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { PrivateKey } from '@libp2p/interface'
import { createAuditLottery } from '../../coordinator/audit/auditor.js'
import { canaryProbes } from '../../coordinator/canary.js'
import type { RunConfig } from '../../coordinator/config.js'
import { createGroupJudge } from '../../coordinator/group-judge.js'
import { keepHouse } from '../../coordinator/housekeeping.js'
import { createIntake } from '../../coordinator/intake.js'
import { createLeaseDesk } from '../../coordinator/lease-desk.js'
import { policyFrame } from '../../coordinator/policy-description.js'
import { createPublisher } from '../../coordinator/publisher.js'
import { openRecorder } from '../../coordinator/recorder.js'
import type { RunState } from '../../coordinator/run-state.js'
import { serveRun } from '../../coordinator/services.js'
import { runTraining } from '../../coordinator/training-loop.js'
import { type Sha256, sha256 } from '../../proto/index.js'
import { createBlobStore, createSnapshotExchange, type RefusalEvent } from '../../swarm/index.js'
import { library } from '../unit/library-world.js'
import { AMPLE, stageOf } from '../unit/scripted.js'
import { openSimLog } from './databases.js'
import { createScriptAuditor } from './script-auditor.js'
import { TASKS, tokenizer } from './script-policy.js'
import { createSimHost } from './sim-host.js'
import type { SimProcess } from './sim-process.js'
import { createSpoolTrainer, type SpoolTrainer } from './spool-trainer.js'
import type { World } from './world.js'

export const BASE_SHA256: Sha256 = sha256(new TextEncoder().encode('the base model of the simulation'))

export interface CoordinatorSettings {
  readonly config: RunConfig
  readonly key: PrivateKey
  readonly peerId: string
  readonly adapterBytes: number
  readonly stepMs: number
  readonly driftsAt: number | null
  readonly onRefusal: (refusal: RefusalEvent) => void
  /** The parts are there, and work has begun. */
  readonly onStarted: (parts: { readonly state: RunState; readonly trainer: SpoolTrainer }) => void
}

/**
 * A coordinator on a simulated machine, put together as `coordinator/coordinator.ts` does it.
 * @returns  when the last version of the run is published; it goes on serving nodes
 */
export async function runCoordinator(world: World, process: SimProcess, settings: CoordinatorSettings): Promise<void> {
  const { config, key, peerId, onRefusal } = settings
  const { clock, machine } = process
  const folder = (name: string): string => join(machine.folder, name)
  const { signal } = new AbortController()
  const [spool, manifests] = [folder('spool'), folder('manifests')]
  for (const path of [manifests, join(spool, 'batches')]) await mkdir(path, { recursive: true })

  const recorder = await openRecorder(await openSimLog(world, process, folder('log')), () => undefined)
  const { state } = recorder
  const { network, directory } = world
  const logger = world.logger(process)
  const host = createSimHost({ network, directory, process, peerId, runId: peerId, onRefusal, logger })
  const blobs = await createBlobStore(folder('blobs'))
  const bodies = await createBlobStore(folder('bodies'))
  const snapshots = await createSnapshotExchange(host, { store: blobs })
  const stage = stageOf([library], tokenizer)
  const tasks = TASKS
  const limits = AMPLE
  const auditor = createScriptAuditor(clock, signal)
  const judge = createGroupJudge({
    ...{ tasks, groupSize: config.groupSize, limits, stage, state, bodies, auditor },
    onUnstable: async (server, { leaseId }) => {
      await recorder.record(() => ({ type: 'world-quarantined', atMs: clock.now(), server, leaseId }))
    },
  })
  const audits = Promise.withResolvers<never>()
  const intake = createIntake({
    ...{ config, tasks, limits, recorder, judge, host, clock, signal },
    lottery: createAuditLottery(key.raw),
    onFailure: audits.reject,
  })
  const desk = createLeaseDesk(config, tasks, recorder, clock, auditor.isCalibrated)
  const publisher = createPublisher({
    ...{ config, limits, recorder, blobs, snapshots, host, key, clock, manifests },
    taskSet: { tasks, servers: [library], datasetSha256: '0'.repeat(64) },
    frame: policyFrame(config, BASE_SHA256, tokenizer.chatTemplate, [library]),
  })
  const services = await serveRun({ host, key, state, desk, intake, bodies, clock })
  const { stepMs, adapterBytes, driftsAt } = settings
  const probes = canaryProbes(tasks, stage, limits)
  const trainer = createSpoolTrainer({ spool, clock, stepMs, adapterBytes, driftsAt, probes })
  await publisher.restore()
  settings.onStarted({ state, trainer })
  void keepHouse(
    {
      ...{ state, clock, logger },
      releaseLapsed: () => desk.releaseLapsed(),
      openRound: () => publisher.openRound(),
      auditSuspects: () => intake.auditSuspects(),
      sendVerdicts: (node, from, count) => services.sendVerdicts(node, from, count),
      announcePolicy: () => publisher.announce(),
    },
    signal,
  )
  const training = runTraining(
    { ...{ config, spool, recorder, intake, publisher, trainer, clock }, baseSha256: BASE_SHA256 },
    signal,
  )
  await Promise.race([training, audits.promise])
}
