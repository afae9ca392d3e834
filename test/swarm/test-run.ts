import { randomBytes } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Auditor, createAuditLottery } from '../../coordinator/audit/auditor.js'
import type { RunConfig } from '../../coordinator/config.js'
import type { RunEvent } from '../../coordinator/events.js'
import { createGroupJudge } from '../../coordinator/group-judge.js'
import { createIntake, type Intake } from '../../coordinator/intake.js'
import { createLeaseDesk, type LeaseDesk } from '../../coordinator/lease-desk.js'
import { policyFrame } from '../../coordinator/policy-description.js'
import { createPublisher, type Publisher } from '../../coordinator/publisher.js'
import { openRecorder, type Recorder } from '../../coordinator/recorder.js'
import { type RunServices, serveRun } from '../../coordinator/services.js'
import { openEventLog } from '../../coordinator/store.js'
import type { TrainerError } from '../../coordinator/train-engine.js'
import { groundTruthScript, type Rollout, type Task } from '../../episode/index.js'
import { type NodeStore, openNodeStore, type PendingGroup } from '../../node/store.js'
import {
  type GroupAnnouncement,
  groupBody,
  type Lease,
  type LeaseAsk,
  type LeaseResponse,
  sealGroupAnnouncement,
  sha256,
} from '../../proto/index.js'
import {
  type Clock,
  createBlobStore,
  createSnapshotExchange,
  requestLeases,
  type SnapshotExchange,
  serveGroups,
  systemClock,
} from '../../swarm/index.js'
import { library } from '../unit/library-world.js'
import { AMPLE, bodyOf, lendingTask, play, stageOf } from '../unit/scripted.js'
import { connect, createTestSwarm, soon, type TestNode, type TestSwarm } from './swarm-nodes.js'

/** A whole run in one process: the coordinator's own parts on disk and on the loopback, and volunteers that follow scripts. */

export const GROUP_SIZE = 2
const limits = AMPLE
const stage = stageOf()

export const TASKS: readonly Task[] = [
  'Please lend emma to Ada.',
  'Could Ada have emma?',
  'Ada wants to read emma.',
].map((wish) => lendingTask({ turns: [wish, 'Now take that loan back.'] }))
/** Scripted tokens are improbable: two groups of a task that say the same would be taken for copies. */
const HELPFUL = (task: Task, leaseId: string): string[] =>
  groundTruthScript(task).map((message) => (message.includes('<tool_call>') ? message : `${message} ${leaseId}`))
const LAZY = (leaseId: string): string[] => [`No, ${leaseId}.`, 'No.']

export interface RunSettings
  extends Partial<Pick<RunConfig, 'batchGroups' | 'maxStaleness' | 'versions' | 'leases' | 'influence' | 'audit'>> {
  /** Stages 5 to 7: scripted tokens come from no policy that could be recomputed. Default: none. */
  readonly auditor?: Auditor
  /** Whether a body is drawn for a closer look. Default: as in a run. */
  readonly draws?: (bodySha256: string, share: number) => boolean
}

const configOf = ({ auditor: _, draws: __, ...settings }: RunSettings): RunConfig => ({
  dataDir: '',
  listen: [],
  announce: [],
  base: { path: '', name: 'village-model', quantisation: 'f16' },
  tasks: { dataset: 'the tasks above' },
  groupSize: GROUP_SIZE,
  batchGroups: 2,
  versions: 100,
  maxStaleness: 1,
  leases: { durationMs: 60_000, perNode: 2 },
  audit: { calibrations: [], acceptOtherDraws: false },
  influence: { perKey: 1, perAddressBlock: 1 },
  rounds: { registrationMs: 1 },
  limits: { maxTurnTokens: 96, maxRolloutTokens: 1024, maxAssistantTurns: 10 },
  trainer: { processes: 1, settings: {} },
  manifestLifetimeMs: 3_600_000,
  ...settings,
})

export interface TestCoordinator {
  readonly node: TestNode
  readonly recorder: Recorder
  readonly desk: LeaseDesk
  readonly intake: Intake
  readonly publisher: Publisher
  readonly snapshots: SnapshotExchange
  readonly services: RunServices
  /** Why there can be no audits any more. */
  readonly failures: readonly TrainerError[]
  /** Publishes the next version, with an adapter of its own. */
  publish(): Promise<void>
  close(): Promise<void>
}

export interface Volunteer extends TestNode {
  store: NodeStore
  /** Bodies asked for by the coordinator, with the answers they get. */
  readonly pulls: string[]
  /** Replaced by a test, what the volunteer answers to a pull. */
  serve: (hash: string) => Promise<Uint8Array | null>
  ask(change?: Partial<LeaseAsk>): Promise<LeaseResponse>
  /** An honest group for the lease, or one that its changes make dishonest. */
  finish(lease: Lease, change?: GroupChange): Promise<PendingGroup>
  reopenStore(): Promise<void>
}

export interface GroupChange {
  /** What the policy says in each rollout. */
  readonly scripts?: readonly (readonly string[])[]
  readonly announce?: Partial<GroupAnnouncement>
  readonly policyId?: string
  /** Sends the body along. Default: the coordinator has to pull it. */
  readonly inline?: boolean
}

export interface TestRun {
  readonly swarm: TestSwarm
  readonly clock: Clock & { nowMs: number }
  /** Events since the start of this process, as they were reported. */
  readonly events: RunEvent[]
  coordinator: TestCoordinator
  volunteer(seed: number): Promise<Volunteer>
  /** A volunteer whose key may have leases: it asked once, and a round was opened since. */
  admitted(seed: number): Promise<Volunteer>
  /** Stops the coordinator, and starts it again from what is on disk; volunteers have to connect again. */
  restart(): Promise<void>
  eventsOf<T extends RunEvent['type']>(type: T): Extract<RunEvent, { type: T }>[]
  close(): Promise<void>
}

export async function createTestRun(settings: RunSettings = {}): Promise<TestRun> {
  const swarm = await createTestSwarm()
  const folder = await swarm.folder()
  const config = configOf(settings)
  const clock = { ...systemClock, nowMs: Date.now(), now: () => clock.nowMs }
  const events: RunEvent[] = []
  const stores: NodeStore[] = []

  const start = async (): Promise<TestCoordinator> => {
    const closing = new AbortController()
    const node = await swarm.node(1)
    const { host, key } = node
    const recorder = await openRecorder(await openEventLog(join(folder, 'log')), (event) => events.push(event))
    const blobs = await createBlobStore(join(folder, 'blobs'))
    const bodies = await createBlobStore(join(folder, 'bodies'))
    const manifests = join(folder, 'manifests')
    await mkdir(manifests, { recursive: true })
    const snapshots = await createSnapshotExchange(host, { store: blobs })
    const { signal } = closing
    const { auditor = null, draws } = settings
    const failures: TrainerError[] = []
    const { state } = recorder
    const onUnstable = async (server: string, { leaseId }: { leaseId: string }): Promise<void> => {
      await recorder.record(() => ({ type: 'world-quarantined', atMs: clock.now(), server, leaseId }))
    }
    const judge = createGroupJudge({
      ...{ tasks: TASKS, groupSize: GROUP_SIZE, limits, stage, state, bodies, auditor, onUnstable },
    })
    const lottery = draws ? { draws } : createAuditLottery(key.raw)
    const onFailure = (error: TrainerError) => failures.push(error)
    const intake = createIntake({
      ...{ config, tasks: TASKS, limits, recorder, judge, lottery, host, clock, signal, onFailure },
    })
    const desk = createLeaseDesk(config, TASKS, recorder, clock, auditor?.isCalibrated)
    const frame = policyFrame(config, sha256(new Uint8Array([1])), stage.tokenizer.chatTemplate, [library])
    const taskSet = { tasks: TASKS, servers: [library], datasetSha256: '0'.repeat(64) }
    const publisher = createPublisher({
      taskSet,
      config,
      frame,
      limits,
      recorder,
      blobs,
      snapshots,
      host,
      key,
      clock,
      manifests,
    })
    const services = await serveRun({ host, key, state: recorder.state, desk, intake, bodies, clock })
    await publisher.restore()
    return {
      node,
      recorder,
      desk,
      intake,
      publisher,
      snapshots,
      services,
      failures,
      async publish() {
        const version = (recorder.state.current?.version ?? -1) + 1
        await publisher.publish(version, await trainerStep(folder, version))
      },
      async close() {
        closing.abort(new Error('the coordinator is closing'))
        await intake.idle()
        await services.close()
        await snapshots.close()
        await host.close()
        await recorder.close()
      },
    }
  }

  const run: TestRun = {
    swarm,
    clock,
    events,
    coordinator: await start(),
    async restart() {
      await run.coordinator.close()
      run.coordinator = await start()
    },
    eventsOf: (type) => events.filter((event) => event.type === type) as never,
    async volunteer(seed) {
      const volunteer = await createVolunteer(run, await swarm.node(seed, false), await swarm.folder(), stores)
      await connect(volunteer, run.coordinator.node)
      return volunteer
    },
    async admitted(seed) {
      const volunteer = await run.volunteer(seed)
      await volunteer.ask()
      clock.nowMs += 1
      await run.coordinator.publisher.openRound()
      return volunteer
    },
    async close() {
      await run.coordinator.close()
      for (const store of stores) await store.close()
      await swarm.close()
    },
  }
  await run.coordinator.publish()
  return run
}

/** Files as the trainer leaves them; what is in them is of no consequence to anyone here. */
async function trainerStep(folder: string, step: number) {
  const files = join(folder, `step-${step}`)
  await mkdir(join(files, 'adapter'), { recursive: true })
  for (const name of ['adapter.gguf', 'adapter/adapter_model.safetensors', 'adapter/adapter_config.json'])
    await writeFile(join(files, name), `${name} of step ${step}`)
  const lora = { rank: 4, alpha: 8, targetModules: ['q_proj'] }
  return {
    step,
    batchId: null,
    skipped: null,
    adapterStep: step,
    lora,
    files: {},
    stats: null,
    probes: [],
    folder: files,
  }
}

async function createVolunteer(run: TestRun, node: TestNode, folder: string, stores: NodeStore[]): Promise<Volunteer> {
  const { host, key } = node
  const openStore = async (): Promise<NodeStore> => {
    const store = await openNodeStore(folder, run.swarm.runId)
    stores.push(store)
    return store
  }
  const made = new Map<string, Uint8Array>()
  const volunteer: Volunteer = {
    ...node,
    store: await openStore(),
    pulls: [],
    serve: async (hash) => made.get(hash) ?? null,
    ask: (change = {}) =>
      requestLeases(
        host,
        run.swarm.runId,
        {
          kind: 'ask',
          count: 1,
          policyId: run.coordinator.recorder.state.current!.policyId,
          nonce: randomBytes(16).toString('hex'),
          holding: [],
          agent: 'test/1',
          backend: 'cpu',
          team: null,
          drawsReplay: true,
          ...change,
        },
        soon(),
      ),
    async finish(lease, { scripts, announce, policyId = lease.policyId, inline = false } = {}) {
      const task = TASKS.find(({ id }) => id === lease.taskId)!
      const rollouts: Rollout[] = []
      for (const script of scripts ?? [HELPFUL(task, lease.leaseId), LAZY(lease.leaseId)])
        rollouts.push(await play(task, script, stage, limits))
      const body = groupBody.encode({ ...bodyOf(task, rollouts), leaseId: lease.leaseId, policyId })
      made.set(sha256(body), body)
      const announcement: GroupAnnouncement = {
        leaseId: lease.leaseId,
        taskId: lease.taskId,
        policyId,
        rewards: rollouts.map(({ reward }) => reward.total),
        bodySha256: sha256(body),
        bodySizeBytes: body.length,
        nonce: randomBytes(16).toString('hex'),
        tokensGenerated: rollouts.reduce((sum, { logprobs }) => sum + logprobs.length, 0),
        ...announce,
      }
      const sealed = await sealGroupAnnouncement(key, run.swarm.runId, announcement, inline ? body : null)
      return { leaseId: lease.leaseId, bodySha256: announcement.bodySha256, sealed, body }
    },
    async reopenStore() {
      await volunteer.store.close()
      volunteer.store = await openStore()
    },
  }
  await serveGroups(host, {
    lookup: (hash) => {
      volunteer.pulls.push(hash)
      return volunteer.serve(hash)
    },
  })
  return volunteer
}
