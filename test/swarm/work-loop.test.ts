import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Engine } from '../../engine/index.js'
import { writeCall } from '../../episode/index.js'
import type { LoadedPolicy } from '../../node/policy-keeper.js'
import type { NodeProgress } from '../../node/progress.js'
import type { PendingGroup } from '../../node/store.js'
import { verifyGroup } from '../../node/verify.js'
import { workLoop } from '../../node/work-loop.js'
import {
  type Lease,
  type LeaseAsk,
  type LeaseResponse,
  LIMITS,
  type PolicyManifest,
  refusal,
  sha256,
} from '../../proto/index.js'
import { serveLeases } from '../../swarm/index.js'
import { flightManifest } from '../unit/proto-samples.js'
import { AMPLE, lendingTask, scriptedSource, stageOf } from '../unit/scripted.js'
import { connect, createTestSwarm, eventually, soon, type TestSwarm } from './swarm-nodes.js'

const test = suite('the work loop')

let swarm: TestSwarm
test.before.each(async () => {
  swarm = await createTestSwarm()
})
test.after.each(() => swarm.close())

const RETRY_MS = 1000
const stage = stageOf()
const task = lendingTask()
const unasked = () => Promise.reject(new Error('nobody should ask for this'))
/** What the policy says in every rollout: it declines. */
let script = ['No.', 'No.']
const engine: Engine = {
  build: { nodeLlamaCpp: 'none', backend: 'cpu' },
  usePolicy: unasked,
  openLanes: async (requests) => requests.map(() => scriptedSource(script, stage.tokenizer)),
  score: unasked,
  intervals: unasked,
  close: unasked,
}

const lease: Lease = {
  leaseId: 'a1'.repeat(16),
  index: 2,
  policyId: flightManifest.policyId,
  version: 7,
  taskId: task.id,
  task: new TextEncoder().encode(JSON.stringify(task)),
  seed: '5e'.repeat(32),
  deadlineMs: 1e13,
  groupSize: 2,
}

const policyOf = (round: number): LoadedPolicy => {
  const manifest: PolicyManifest = {
    ...flightManifest,
    limits: { ...flightManifest.limits, groupSize: 2 },
    round,
    closedRounds: [{ round: round - 1, secret: 'cd'.repeat(32) }],
  }
  return { manifestId: sha256(new Uint8Array([round])), manifest, limits: AMPLE, drawsReplay: false }
}

interface Worked {
  readonly asked: LeaseAsk[]
  readonly progress: NodeProgress[]
  readonly groups: PendingGroup[]
  readonly kept: (readonly { readonly round: number }[])[]
  /** Requests, and pauses between attempts (ms), as they came. */
  readonly order: ('ask' | number)[]
  /** What ended the work. */
  readonly ended: Promise<unknown>
  stop(): Promise<void>
}

interface Setting {
  /** In place of a keeper that finds a new round each time. */
  readonly update?: () => Promise<LoadedPolicy>
  /** Groups without a verdict. */
  readonly waiting?: readonly string[]
}

/** A node at work for a coordinator that gives these answers, the last of them for ever. */
async function work(
  answers: readonly Partial<LeaseResponse>[],
  { update, waiting = [] }: Setting = {},
): Promise<Worked> {
  const [coordinator, volunteer] = [await swarm.node(1), await swarm.node(2)]
  await connect(volunteer, coordinator)
  const worked: Omit<Worked, 'stop' | 'ended'> = { asked: [], progress: [], groups: [], kept: [], order: [] }
  await serveLeases(coordinator.host, async (request) => {
    if (request.kind === 'ask') {
      worked.asked.push(request)
      worked.order.push('ask')
    }
    const answer = answers[Math.min(worked.asked.length, answers.length) - 1]
    return {
      ...{ leases: [], renewed: [], retryAfterMs: 100, reason: null, detail: '' },
      ...{ manifestId: policyOf(worked.kept.length).manifestId },
      ...answer,
    }
  })
  const closing = new AbortController()
  const sleep = async (ms: number, signal?: AbortSignal): Promise<void> => {
    // Only the pauses between attempts: the limits of time of requests hold.
    if (ms === RETRY_MS) worked.order.push(ms)
    await volunteer.host.clock.sleep(ms === RETRY_MS ? 20 : ms, signal)
  }
  let loaded: LoadedPolicy | null = null
  const working = workLoop(
    {
      ...{
        host: { ...volunteer.host, clock: { ...volunteer.host.clock, sleep } },
        key: volunteer.key,
        coordinator: swarm.runId,
        engine,
        stage,
        agent: 'test/1',
        team: null,
      },
      keeper: {
        get loaded() {
          return loaded
        },
        async update() {
          loaded = update ? await update() : policyOf((loaded?.manifest.round ?? 0) + 1)
          return loaded
        },
      },
      outbox: {
        waiting,
        add: async (group) => void worked.groups.push(group),
        close: async () => undefined,
      },
      store: { keepRounds: async (rounds) => void worked.kept.push(rounds) },
      connection: { connected: async () => undefined, problem: null },
      onProgress: (progress) => worked.progress.push(progress),
    },
    closing.signal,
  )
  const ended = working.catch((error: unknown) => error)
  return {
    ...worked,
    ended,
    async stop() {
      closing.abort(new Error('enough'))
      assert.is(await ended, undefined)
    },
  }
}

test('a node whose sampler draws otherwise says so to the coordinator each time, and to its owner once', async () => {
  const elsewhere = { manifestId: '00'.repeat(32) }
  const worked = await work([elsewhere, elsewhere, { reason: 'draws_differ', detail: 'cpu' }])
  try {
    await eventually('the reason', () => worked.progress.some(({ type }) => type === 'idle'))
    assert.equal(
      worked.asked.slice(0, 3).map(({ drawsReplay }) => drawsReplay),
      [false, false, false],
    )
    const types = worked.progress.map(({ type }) => type).slice(0, 3)
    assert.equal(types, ['policy', 'draws-differ', 'idle'])
    assert.equal(
      worked.kept.map(([round]) => round!.round),
      [0, 1, 2],
    )
  } finally {
    await worked.stop()
  }
})

test('a finished group is kept with all that is needed to judge it at home', async () => {
  const worked = await work([{ leases: [lease] }, {}])
  try {
    await eventually('the group', () => worked.groups.length === 1)
    const { origin, body, bodySha256 } = worked.groups[0]!
    assert.is(origin!.lease.seed, lease.seed)
    assert.is(origin!.round, 1)
    assert.is(origin!.roundSecretHash, flightManifest.roundSecretHash)
    const group = { origin: origin!, body, bodySha256 }
    const parts = { stage, engine: { ...engine, intervals: async () => [] }, calibration: null, closedRounds: [] }
    const [seed, replay] = await verifyGroup(group, parts, soon())
    assert.is(seed!.outcome, 'not checked')
    assert.equal(replay, {
      name: 'stages 1 to 3, replay',
      outcome: 'ok',
      detail: '2 rollouts with 0 calls are the same again',
    })
  } finally {
    await worked.stop()
  }
})

const badLease = async (leases: readonly Lease[]): Promise<string> => {
  const worked = await work([{ leases }])
  const why = await worked.ended
  assert.equal(worked.groups, [])
  return (why as Error).message
}

test('a lease that is for another number of rollouts than the run says, or one too many, stops the node', async () => {
  assert.match(await badLease([{ ...lease, groupSize: 3 }]), /^bad_lease: lease a1.* is for 3 rollouts instead of 2$/)
  const other = { ...lease, leaseId: 'a2'.repeat(16) }
  assert.match(await badLease([lease, other]), /^bad_lease: 2 leases instead of 1$/)
})

test('a task that cannot be scored stops the node with its reason', async () => {
  const twice = lendingTask({ toolset: [...task.toolset, { server: 'library', tool: 'lend_book' }] })
  const hostile = { ...lease, taskId: twice.id, task: new TextEncoder().encode(JSON.stringify(twice)) }
  assert.match(await badLease([hostile]), /^bad_lease: task [0-9a-f]+: duplicate_tool/)
})

test('a world that breaks stops the node with the world, the call and what went wrong', async () => {
  const risky = lendingTask({ toolset: [...task.toolset, { server: 'library', tool: 'burn_down' }] })
  const fire = { ...lease, taskId: risky.id, task: new TextEncoder().encode(JSON.stringify(risky)) }
  script = [writeCall('burn_down', { how: 'throwing' })]
  try {
    assert.match(await badLease([fire]), /^broken_world: task [0-9a-f]+: library: .*burn_down .*no water.*report this/)
  } finally {
    script = ['No.', 'No.']
  }
})

test('a coordinator that names a manifest which it does not serve is asked with pauses', async () => {
  const policy = policyOf(1)
  const worked = await work([{ manifestId: '00'.repeat(32) }], { update: async () => policy })
  try {
    await eventually('five requests', () => worked.asked.length >= 5)
    const gaps = worked.order.slice(1, 7)
    assert.equal(gaps, ['ask', RETRY_MS, 'ask', RETRY_MS, 'ask', RETRY_MS])
  } finally {
    await worked.stop()
  }
})

test('what goes on failing is told once, and again when the reason changes', async () => {
  let attempts = 0
  const update = async (): Promise<LoadedPolicy> => {
    attempts += 1
    throw refusal('expired', attempts < 8 ? 'round 3' : 'round 4')
  }
  const worked = await work([{}], { update })
  try {
    await eventually('twelve attempts', () => attempts >= 12)
    assert.equal(
      worked.progress.filter(({ type }) => type === 'trouble'),
      [
        { type: 'trouble', detail: 'expired: round 3' },
        { type: 'trouble', detail: 'expired: round 4' },
      ],
    )
  } finally {
    await worked.stop()
  }
})

test('a node whose groups get no verdicts makes no more of them, and says so', async () => {
  const waiting = Array.from({ length: LIMITS.leasesHeld.value }, (_, i) => i.toString(16).padStart(32, '0'))
  const worked = await work([{ leases: [lease] }], { waiting })
  try {
    await eventually('some pauses', () => worked.order.length >= 3)
    assert.equal([worked.asked, worked.groups], [[], []])
    const troubles = worked.progress.filter(({ type }) => type === 'trouble')
    assert.equal(troubles, [{ type: 'trouble', detail: '64 groups wait for their verdicts' }])
    waiting.pop()
    await eventually('a group', () => worked.groups.length > 0)
  } finally {
    await worked.stop()
  }
})

test.run()
