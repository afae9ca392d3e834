import * as assert from 'uvu/assert'
import { createNodeEvents, type NodeEvents } from '../../node/network/events.js'
import type { LoadedPolicy } from '../../node/policy/policy-keeper.js'
import type { NodeProgress } from '../../node/report/progress.js'
import type { PendingGroup } from '../../node/store/store.js'
import type { PauseControl } from '../../node/work/pause-control.js'
import { workLoop } from '../../node/work/work-loop.js'
import {
  type Lease,
  type LeaseAsk,
  type LeaseResponse,
  type Leave,
  type PolicyManifest,
  sha256,
} from '../../proto/index.js'
import type { Engine } from '../../rollout/engine/index.js'
import { type Clock, serveLeases } from '../../swarm/index.js'
import { patience } from '../support/patience.js'
import { flightManifest } from '../support/proto-samples.js'
import { AMPLE, lendingTask, runtimeOf, scriptedSource } from '../support/scripted.js'
import { connect, type TestSwarm } from '../support/swarm-nodes.js'

/** A node's work loop on a real host, and a coordinator that answers what a test says. */

const unasked = () => Promise.reject(new Error('nobody should ask for this'))
const task = lendingTask()

export const runtime = runtimeOf()

/** An engine whose policy says the same in every rollout. */
export const engineSaying = (script: readonly string[]): Engine => ({
  build: { nodeLlamaCpp: 'none', backend: 'cpu' },
  usePolicy: unasked,
  openSlots: async (requests) => requests.map(() => scriptedSource(script, runtime.tokenizer)),
  score: unasked,
  scoreTokens: async () => [],
  close: unasked,
})

/** Its policy declines. */
export const engine = engineSaying(['No.', 'No.'])

export const lease: Lease = {
  leaseId: 'a1'.repeat(16),
  index: 2,
  policyId: flightManifest.policyId,
  version: 7,
  taskId: task.id,
  task: new TextEncoder().encode(JSON.stringify(task)),
  seed: '5e'.repeat(32),
  deadlineMs: 1e13,
  groupSize: 2,
  configurationId: flightManifest.configurationId,
}

export const policyOf = (round: number): LoadedPolicy => {
  const manifest: PolicyManifest = {
    ...flightManifest,
    limits: { ...flightManifest.limits, groupSize: 2 },
    round,
    closedRounds: [{ round: round - 1, secret: 'cd'.repeat(32) }],
  }
  return { manifestId: sha256(new Uint8Array([round])), manifest, limits: AMPLE, runtime }
}

export interface Worked {
  readonly asked: LeaseAsk[]
  readonly progress: NodeProgress[]
  readonly groups: PendingGroup[]
  readonly kept: (readonly { readonly round: number }[])[]
  /** Notices of the node's end. */
  readonly left: Leave[]
  /** Leases given back, and those renewed. */
  readonly returned: string[]
  readonly renewed: string[]
  /** Requests for leases, and the node's pauses (ms), as they came. */
  readonly order: ('ask' | number)[]
  /** Where what the node hears is told. */
  readonly events: NodeEvents
  /** What ended the work. */
  readonly ended: Promise<unknown>
  stop(): Promise<void>
}

export interface Setting {
  readonly engine?: Engine
  /** In place of a keeper that finds a new round each time. @param loaded  what it found last */
  readonly update?: (loaded: LoadedPolicy | null) => Promise<LoadedPolicy>
  /** Default: there is nothing to fetch. */
  readonly fetchAhead?: (signal: AbortSignal) => Promise<void>
  /** Groups without a verdict. */
  readonly waiting?: readonly string[]
  /** How long (ms) a pause of so many milliseconds takes. */
  readonly pace?: (ms: number) => number
  /** The node's clock, in place of one that the pace hurries on. */
  readonly clock?: Clock
  readonly pauseControl?: PauseControl
  readonly onRest?: () => Promise<void>
  readonly stay?: boolean
  /** Whether leases are over before their groups are ready. */
  readonly lapsed?: () => boolean
  readonly capacity?: (signal: AbortSignal) => Promise<void>
  readonly trySpeed?: (rollouts: number, signal: AbortSignal) => Promise<number | null>
}

/** A node at work for a coordinator that gives these answers, the last of them for ever. */
export async function work(
  swarm: TestSwarm,
  answers: readonly Partial<LeaseResponse>[],
  setting: Setting = {},
): Promise<Worked> {
  const { update, waiting = [], pace = (ms) => ms, lapsed = () => false } = setting
  const [coordinator, volunteer] = [await swarm.node(1), await swarm.node(2)]
  await connect(volunteer, coordinator)
  const { host, key } = volunteer
  const waitingBy = setting.clock ?? host.clock
  const sleep = (ms: number, signal?: AbortSignal): Promise<void> => {
    worked.order.push(ms)
    return waitingBy.sleep(setting.clock ? ms : pace(ms), signal)
  }
  // What a node gives back it says with little patience, and a busy machine takes longer than that.
  const timeout = (ms: number): AbortSignal => (setting.clock ? setting.clock.timeout(ms) : patience())
  const clock = { ...waitingBy, sleep, timeout }
  const worked = {
    asked: [] as LeaseAsk[],
    progress: [] as NodeProgress[],
    groups: [] as PendingGroup[],
    kept: [] as Worked['kept'],
    left: [] as Leave[],
    returned: [] as string[],
    renewed: [] as string[],
    order: [] as Worked['order'],
    events: createNodeEvents(clock),
  }
  await serveLeases(coordinator.host, async (request) => {
    if (request.kind === 'ask') {
      worked.asked.push(request)
      worked.order.push('ask')
    }
    if (request.kind === 'leave') worked.left.push(request)
    if (request.kind === 'return') worked.returned.push(...request.leaseIds)
    if (request.kind === 'renew') worked.renewed.push(...request.leaseIds)
    const asked = new Set(request.kind === 'renew' ? request.leaseIds : [])
    const held = lapsed()
      ? []
      : answers.flatMap(({ leases = [] }) => leases).filter(({ leaseId }) => asked.has(leaseId))
    const answer = request.kind === 'ask' ? answers[Math.min(worked.asked.length, answers.length) - 1] : {}
    return {
      leases: [],
      renewed: held.map(({ leaseId, deadlineMs }) => ({ leaseId, deadlineMs })),
      retryAfterMs: 100,
      reason: null,
      detail: '',
      providers: [],
      manifestId: policyOf(worked.kept.length).manifestId,
      ...answer,
    }
  })
  const closing = new AbortController()
  let loaded: LoadedPolicy | null = null
  const working = workLoop(
    {
      host: { ...host, clock },
      key,
      coordinator: swarm.runId,
      agent: 'test/1',
      events: worked.events,
      onProviders: () => undefined,
      random: () => 1,
      engine: setting.engine ?? engine,
      keeper: {
        get loaded() {
          return loaded
        },
        async update() {
          loaded = update ? await update(loaded) : policyOf((loaded?.manifest.round ?? 0) + 1)
          return loaded
        },
        fetchAhead: setting.fetchAhead ?? (async () => undefined),
        fetchRest: async () => undefined,
      },
      outbox: {
        waiting,
        add: async (group) => void worked.groups.push(group),
        close: async () => undefined,
      },
      store: { keepRounds: async (rounds) => void worked.kept.push(rounds) },
      connection: { connected: async () => undefined, problem: null },
      onProgress: (progress) => worked.progress.push(progress),
      ...(setting.pauseControl ? { pauseControl: setting.pauseControl } : {}),
      ...(setting.onRest ? { onRest: setting.onRest } : {}),
      ...(setting.stay === undefined ? {} : { stay: setting.stay }),
      ...(setting.capacity ? { capacity: setting.capacity } : {}),
      ...(setting.trySpeed ? { trySpeed: setting.trySpeed } : {}),
    },
    closing.signal,
  )
  const ended = working.catch((error: unknown) => error)
  return {
    ...worked,
    ended,
    async stop() {
      closing.abort(new Error('enough'))
      assert.is(await ended, 'closed')
    },
  }
}
