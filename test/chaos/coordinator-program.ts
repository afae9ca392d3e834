import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { PrivateKey } from '@libp2p/interface'
import { createAuditLottery } from '../../coordinator/intake/audit-lottery.js'
import type { Auditor } from '../../coordinator/intake/auditor.js'
import { replayContexts } from '../../coordinator/intake/replay-contexts.js'
import { type Replays, replaysHere } from '../../coordinator/intake/replays.js'
import { agreeOnConfiguration, configurationOf } from '../../coordinator/ledger/agree-run-configuration.js'
import { openCheckpoints } from '../../coordinator/ledger/checkpoints.js'
import { openRecorder, type Recorder } from '../../coordinator/ledger/recorder.js'
import type { RunState } from '../../coordinator/ledger/run-state.js'
import { openCoordinator } from '../../coordinator/service/coordinator.js'
import { episodeLimits, type RunConfig } from '../../coordinator/settings/config.js'
import { openDataFolder } from '../../coordinator/settings/data-folder.js'
import { canaryPrompts } from '../../coordinator/versions/canary.js'
import { chatTemplateSha256 } from '../../coordinator/versions/policy-frame.js'
import { type Sha256, sha256 } from '../../proto/index.js'
import { UNWATCHED } from '../../rollout/verification/index.js'
import { createBlobStore, createMetrics, type RefusalEvent } from '../../swarm/index.js'
import { library } from '../support/library-environment.js'
import { runtimeOf } from '../support/scripted.js'
import { openSimLog } from './databases.js'
import { createJobTrainer, type JobTrainer } from './job-trainer.js'
import { createScriptAuditor } from './script-auditor.js'
import { SCRIPTED_BACKEND } from './script-engine.js'
import { TASKS, tokenizer } from './script-policy.js'
import { createSimHost, type SimHostOptions } from './sim-host.js'
import type { SimProcess } from './sim-process.js'
import type { SimulatedRun } from './simulated-run.js'

export const BASE_SHA256: Sha256 = sha256(new TextEncoder().encode('the base model of the simulation'))

/** Hash that the run configuration has for its calibration. The scripted auditor reads none. */
const CALIBRATION = '0'.repeat(64)
/** So few that most starts find a checkpoint. */
const CHECKPOINT_EVENTS = 8

export interface CoordinatorSettings {
  readonly config: RunConfig
  readonly key: PrivateKey
  readonly peerId: string
  readonly adapterBytes: number
  readonly stepMs: number
  readonly driftsAt: number | null
  readonly onRefusal: (refusal: RefusalEvent) => void
  /** The parts are there, and work has begun. */
  readonly onStarted: (parts: {
    readonly recorder: Recorder
    readonly state: RunState
    readonly trainer: JobTrainer
  }) => void
  /** Default: audits say the script again. */
  readonly auditor?: Auditor
  /** Where it is, and how it gossips. Default: as all others. */
  readonly placed?: Pick<SimHostOptions, 'address' | 'isDialable' | 'gossip'>
  /** Number of nodes that a gossip shard should have. Default: as in a run. */
  readonly shardNodes?: number
  /** Changes how groups are replayed. Default: in this thread, unobserved. */
  readonly replaysOf?: (own: Replays) => Replays
  /** Events between two checkpoints. Default: so few that most starts find one. */
  readonly checkpointEvents?: number
}

/**
 * A coordinator on a simulated machine: all that `coordinator/start-coordinator.ts` starts, with scripts for audits and trainer.
 * @returns  when the last version of the run is published; it goes on serving nodes
 */
export async function runCoordinator(
  simulated: SimulatedRun,
  process: SimProcess,
  settings: CoordinatorSettings,
): Promise<void> {
  const { key, peerId, onRefusal, stepMs, adapterBytes, driftsAt, placed } = settings
  const { checkpointEvents = CHECKPOINT_EVENTS, replaysOf = (own) => own } = settings
  const { clock, machine } = process
  const config: RunConfig = { ...settings.config, dataDir: machine.folder }
  const folder = await openDataFolder(config.dataDir)
  await mkdir(folder.calibrations, { recursive: true })
  await writeFile(join(folder.calibrations, `${CALIBRATION}.json`), '{}')
  const { network, directory } = simulated
  const logger = simulated.logger(process)
  const log = await openSimLog(simulated, process, folder.log)
  const checkpoints = openCheckpoints({ file: folder.checkpoint, log, logger, leastEvents: checkpointEvents })
  const recorder = await openRecorder(log, () => undefined, { checkpoints, clock })
  const host = createSimHost({ network, directory, process, peerId, runId: peerId, onRefusal, logger, ...placed })
  const runtime = runtimeOf([library], tokenizer)
  const taskSet = { tasks: TASKS, environments: [library], datasetSha256: '0'.repeat(64) }
  const configuration = configurationOf(config, {
    baseSha256: BASE_SHA256,
    chatTemplateSha256: chatTemplateSha256(runtime),
    parameters: 5_000_000,
    taskSet,
    calibrations: { [SCRIPTED_BACKEND]: CALIBRATION },
    canaryTolerance: { mean: 0.02, max: 0.3 },
  })
  await agreeOnConfiguration(recorder, configuration, clock)
  const coordinator = await openCoordinator({
    ...{ config, folder, key, host, recorder },
    blobs: await createBlobStore(folder.blobs),
    taskSet,
    metrics: createMetrics(),
    watch: UNWATCHED,
    replays: replaysOf(replaysHere(replayContexts(runtime, [library]), UNWATCHED)),
    auditor: settings.auditor ?? createScriptAuditor(clock),
    lottery: createAuditLottery(key.raw),
    ...(settings.shardNodes === undefined ? {} : { shardNodes: settings.shardNodes }),
  })
  const canaries = canaryPrompts(TASKS, runtime, episodeLimits(config))
  const trainer = createJobTrainer({ jobs: folder.jobs, clock, stepMs, adapterBytes, driftsAt, canaries })
  settings.onStarted({ recorder, state: recorder.state, trainer })
  await coordinator.run(trainer)
}
