import { randomBytes } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ControlRoute } from '../../common/control/index.js'
import { createAuditLottery } from '../../coordinator/intake/audit-lottery.js'
import type { Auditor } from '../../coordinator/intake/auditor.js'
import { replayContexts } from '../../coordinator/intake/replay-contexts.js'
import { replaysHere } from '../../coordinator/intake/replays.js'
import { agreeOnConfiguration, configurationOf } from '../../coordinator/ledger/agree-run-configuration.js'
import { type ChainedLog, openEventLog } from '../../coordinator/ledger/event-log.js'
import type { RunEvent } from '../../coordinator/ledger/events.js'
import { openRecorder, type Recorder } from '../../coordinator/ledger/recorder.js'
import { controlRoutes } from '../../coordinator/service/control-routes.js'
import { type Coordinator, openCoordinator } from '../../coordinator/service/coordinator.js'
import { createOrderService, type OrderAnswer, type OrderAsk } from '../../coordinator/service/order-service.js'
import { createSettingsService } from '../../coordinator/service/settings-service.js'
import { episodeLimits, type RunConfig } from '../../coordinator/settings/config.js'
import { openDataFolder } from '../../coordinator/settings/data-folder.js'
import { checkPromptCapacity } from '../../coordinator/settings/first-prompts.js'
import { chatTemplateSha256 } from '../../coordinator/versions/policy-frame.js'
import { groupAnnouncementOf } from '../../node/delivery/group-body.js'
import { type NodeStore, openNodeStore, type PendingGroup } from '../../node/store/store.js'
import {
  type GroupAnnouncement,
  groupBody,
  type Lease,
  type LeaseAsk,
  type LeaseResponse,
  sealGroupAnnouncement,
  sha256,
} from '../../proto/index.js'
import type { Rollout, Task } from '../../rollout/episode/index.js'
import { UNMEASURED_TOLERANCE, UNWATCHED } from '../../rollout/verification/index.js'
import { type Clock, createBlobStore, createMetrics, requestLeases, serveGroups } from '../../swarm/index.js'
import { library } from './library-environment.js'
import { hash } from './proto-samples.js'
import { smallRun } from './run-config.js'
import { bodyOf, groundTruthScript, lendingTask, play, runtimeOf } from './scripted.js'
import {
  connect,
  createTestSwarm,
  eventually,
  patientClock,
  soon,
  type TestNode,
  type TestSwarm,
} from './swarm-nodes.js'

/** A whole run in one process: the coordinator's real parts on disk and on the loopback interface, and volunteers that follow scripts. */

export const GROUP_SIZE = 2
const runtime = runtimeOf()

export const TASKS: readonly Task[] = [
  'Please lend emma to Ada.',
  'Could Ada have emma?',
  'Ada wants to read emma.',
].map((wish) => lendingTask({ turns: [wish, 'Now take that loan back.'] }))
/** Scripted tokens are improbable, so two equal groups of a task would count as copies. */
const HELPFUL = (task: Task, leaseId: string): string[] =>
  groundTruthScript(task).map((message) => (message.includes('<tool_call>') ? message : `${message} ${leaseId}`))
const LAZY = (words: string): string[] => [`No, ${words}.`, 'No.']

export interface RunSettings
  extends Partial<
    Pick<RunConfig, 'batchGroups' | 'maxStaleness' | 'versions' | 'leases' | 'influence' | 'audit' | 'uploadKiB'>
  > {
  /** Verification checks 5 to 7: no policy can recompute scripted tokens. Default: none. */
  readonly auditor?: Auditor
  /** Whether a body is selected for an audit. Default: as in a run. */
  readonly draws?: (bodySha256: string, share: number) => boolean
}

export interface TestCoordinator extends Coordinator {
  readonly node: TestNode
  readonly recorder: Recorder
  readonly log: ChainedLog
  /** Answers requests of the operator's commands. */
  readonly routes: readonly ControlRoute[]
  /** Executes an order of the operator. */
  order(ask: OrderAsk): Promise<OrderAnswer>
  /** Publishes the next version with a new adapter. */
  publish(): Promise<void>
}

export interface Volunteer extends TestNode {
  store: NodeStore
  /** Requests of the coordinator for bodies, with their answers. */
  readonly pulls: string[]
  /** Answers a request of the coordinator for a body. Tests replace it. */
  serve: (hash: string) => Promise<Uint8Array | null>
  ask(change?: Partial<LeaseAsk>): Promise<LeaseResponse>
  /** Returns an honest group for the lease, or a dishonest one after changes. */
  finish(lease: Lease, change?: GroupChange): Promise<PendingGroup>
  reopenStore(): Promise<void>
}

export interface GroupChange {
  /** Messages of the policy in each rollout. */
  readonly scripts?: readonly (readonly string[])[]
  readonly announce?: Partial<GroupAnnouncement>
  readonly policyId?: string
  /** Whether the announcement contains the body. Default: the coordinator has to fetch it. */
  readonly inline?: boolean
}

export interface TestRun {
  readonly swarm: TestSwarm
  /** The current `run.yaml`. */
  readonly config: RunConfig
  /** Data folder of the coordinator. */
  readonly folder: string
  readonly clock: Clock & { nowMs: number }
  /** Reported events since the start of this process. */
  readonly events: RunEvent[]
  coordinator: TestCoordinator
  volunteer(seed: number): Promise<Volunteer>
  /** Adds a volunteer whose key may have leases: it has registered, and a round has opened since. */
  admitted(seed: number): Promise<Volunteer>
  /**
   * Stops the coordinator and starts it again from its files. Volunteers have to connect again.
   * @param change  fields to change in `run.yaml`
   * @param meanwhile  changes the data folder while the coordinator is stopped
   */
  restart(change?: Partial<RunConfig>, meanwhile?: () => Promise<unknown>): Promise<void>
  eventsOf<T extends RunEvent['type']>(type: T): Extract<RunEvent, { type: T }>[]
  close(): Promise<void>
}

/** Starts a run. @param waiting  clock for all waits; `TestRun.clock` is the clock of timestamps */
export async function createTestRun(settings: RunSettings = {}, waiting: Clock = patientClock): Promise<TestRun> {
  const swarm = await createTestSwarm()
  const folder = await swarm.folder()
  const { auditor = null, draws, ...change } = settings
  let config = smallRun({
    ...{ dataDir: folder, groupSize: GROUP_SIZE, versions: 100, rounds: { registrationMs: 1 } },
    ...change,
  })
  const clock = { ...waiting, nowMs: Date.now(), now: () => clock.nowMs, elapsedMs: () => clock.nowMs }
  const events: RunEvent[] = []
  const stores: NodeStore[] = []
  const volunteers: Volunteer[] = []

  const taskSet = { tasks: TASKS, environments: [library], datasetSha256: hash('tasks') }

  const start = async (): Promise<TestCoordinator> => {
    const data = await openDataFolder(config.dataDir)
    const log = await openEventLog(data.log)
    const recorder = await openRecorder(log, (event) => events.push(event))
    const node = await swarm.node(1, true, clock)
    const { host, key } = node
    const sources = {
      baseSha256: sha256(new Uint8Array([1])),
      chatTemplateSha256: chatTemplateSha256(runtime),
      parameters: 5_000_000,
      taskSet,
      calibrations: auditor ? { cpu: hash('calibration') } : {},
      canaryTolerance: UNMEASURED_TOLERANCE,
    }
    const configuration = configurationOf(config, sources)
    const open = async (): Promise<Coordinator> => {
      await agreeOnConfiguration(recorder, configuration, clock)
      return openCoordinator({
        ...{ config, folder: data, key, host, recorder, auditor },
        blobs: await createBlobStore(data.blobs),
        taskSet,
        metrics: createMetrics(),
        watch: UNWATCHED,
        replays: replaysHere(replayContexts(runtime, [library]), UNWATCHED),
        lottery: draws ? { draws } : createAuditLottery(key.raw),
      })
    }
    const coordinator = await open().catch(async (error: unknown) => {
      await host.close()
      await recorder.close()
      throw error
    })
    const settings = createSettingsService({
      ...{ config, recorder, clock },
      configurationOf: (wanted) => configurationOf(wanted, sources),
      checkTasks: (wanted) => checkPromptCapacity(TASKS, runtime, episodeLimits(wanted)),
    })
    const orders = createOrderService({
      recorder,
      settings,
      taskSet,
      jobs: data.jobs,
      clock,
      signal: new AbortController().signal,
    })
    return {
      ...coordinator,
      node,
      recorder,
      log,
      routes: controlRoutes({ log, recorder, metrics: createMetrics(), orders }),
      order: (ask) => orders.take(ask, { who: 'operator', via: 'a test' }),
      async publish() {
        const version = (recorder.state.current?.version ?? -1) + 1
        await coordinator.publisher.publish(version, await trainerStep(folder, version))
      },
      async close() {
        await coordinator.close()
        await host.close()
        await recorder.close()
      },
    }
  }

  const run: TestRun = {
    swarm,
    get config() {
      return config
    },
    folder,
    clock,
    events,
    coordinator: await start(),
    async restart(change = {}, meanwhile = async () => undefined) {
      await run.coordinator.close()
      await meanwhile()
      const before = config
      config = { ...config, ...change }
      // A request to the next coordinator must not use a connection to this one.
      for (const { host } of volunteers)
        await eventually('the connection is gone', () => !host.isConnected(swarm.runId))
      try {
        run.coordinator = await start()
      } catch (error) {
        config = before
        throw error
      }
    },
    eventsOf: (type) => events.filter((event) => event.type === type) as never,
    async volunteer(seed) {
      const volunteer = await createVolunteer(run, await swarm.node(seed, false, waiting), await swarm.folder(), stores)
      volunteers.push(volunteer)
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

/** Writes files as the trainer does, with meaningless content. */
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
    worldSize: 1,
    adapterStep: step,
    lora,
    recipe: null,
    warmStart: null,
    files: {},
    stats: null,
    canaries: [],
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
          policyId: run.coordinator.recorder.state.round!.policyId,
          nonce: randomBytes(16).toString('hex'),
          holding: [],
          agent: 'test/1',
          backend: 'cpu',
          tokensPerSecond: 0,
          ...change,
        },
        soon(),
      ),
    async finish(lease, { scripts, announce, policyId = lease.policyId, inline = false } = {}) {
      const task = TASKS.find(({ id }) => id === lease.taskId)!
      const rollouts: Rollout[] = []
      const lazy = Array.from({ length: lease.groupSize - 1 }, (_, i) => LAZY(`${lease.leaseId}${'!'.repeat(i)}`))
      for (const script of scripts ?? [HELPFUL(task, lease.leaseId), ...lazy])
        rollouts.push(await play(task, script, runtime))
      const body = groupBody.encode({ ...bodyOf(task, rollouts), leaseId: lease.leaseId, policyId })
      made.set(sha256(body), body)
      const announcement = { ...groupAnnouncementOf({ ...lease, policyId }, rollouts, body), ...announce }
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
