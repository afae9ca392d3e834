import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Engine } from '../../engine/index.js'
import type { LoadedPolicy } from '../../node/policy-keeper.js'
import type { NodeProgress } from '../../node/progress.js'
import type { PendingGroup } from '../../node/store.js'
import { type WorkLoopParts, workLoop } from '../../node/work-loop.js'
import { type Lease, type LeaseAsk, type LeaseResponse, type PolicyManifest, sha256 } from '../../proto/index.js'
import { type SwarmHost, serveLeases, systemClock } from '../../swarm/index.js'
import { flightManifest } from '../unit/proto-samples.js'
import { AMPLE, lendingTask, scriptedSource, stageOf } from '../unit/scripted.js'
import { connect, createTestSwarm, eventually, type TestSwarm } from './swarm-nodes.js'

const test = suite('keeping a lease')

let swarm: TestSwarm
test.before.each(async () => {
  swarm = await createTestSwarm()
})
test.after.each(() => swarm.close())

const stage = stageOf()
const task = lendingTask()
const unasked = () => Promise.reject(new Error('nobody should ask for this'))
/** A policy that declines in every rollout. */
const engine: Engine = {
  build: { nodeLlamaCpp: 'none', backend: 'cpu' },
  usePolicy: unasked,
  openLanes: async (requests) => requests.map(() => scriptedSource(['No.', 'No.'], stage.tokenizer)),
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
  /** Leases given back, and those renewed. */
  readonly returned: string[]
  readonly renewed: string[]
  stop(): Promise<void>
}

/** A node at work for a coordinator that gives these answers, then none any more. Its keeper finds a new round each time. */
async function work(
  answers: readonly Partial<LeaseResponse>[],
  change: (host: SwarmHost) => Partial<WorkLoopParts> = () => ({}),
): Promise<Worked> {
  const [coordinator, volunteer] = [await swarm.node(1), await swarm.node(2)]
  await connect(volunteer, coordinator)
  const worked: Omit<Worked, 'stop'> = { asked: [], progress: [], groups: [], kept: [], returned: [], renewed: [] }
  await serveLeases(coordinator.host, async (request) => {
    if (request.kind === 'ask') worked.asked.push(request)
    if (request.kind === 'return') worked.returned.push(...request.leaseIds)
    if (request.kind === 'renew') {
      worked.renewed.push(...request.leaseIds)
      const { manifestId } = policyOf(worked.kept.length)
      return { leases: [], renewed: [], retryAfterMs: 100, reason: null, detail: '', manifestId }
    }
    const answer = answers[Math.min(worked.asked.length, answers.length) - 1]
    return {
      ...{ leases: [], renewed: [], retryAfterMs: 100, reason: null, detail: '' },
      ...{ manifestId: policyOf(worked.kept.length).manifestId },
      ...answer,
    }
  })
  const closing = new AbortController()
  let loaded: LoadedPolicy | null = null
  const working = workLoop(
    {
      ...{
        host: volunteer.host,
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
          loaded = policyOf((loaded?.manifest.round ?? 0) + 1)
          return loaded
        },
      },
      outbox: {
        waiting: [],
        add: async (group) => void worked.groups.push(group),
        close: async () => undefined,
      },
      store: { keepRounds: async (rounds) => void worked.kept.push(rounds) },
      connection: { connected: async () => undefined, problem: null },
      onProgress: (progress) => worked.progress.push(progress),
      ...change(volunteer.host),
    },
    closing.signal,
  )
  const ended = working.catch((error: unknown) => error)
  return {
    ...worked,
    async stop() {
      closing.abort(new Error('enough'))
      assert.is(await ended, undefined)
    },
  }
}

test('a lease that comes with a newer round is worked on, under that round', async () => {
  const worked = await work([{ manifestId: policyOf(2).manifestId, leases: [lease] }, {}])
  try {
    await eventually('the group', () => worked.groups.length === 1)
    assert.is(worked.groups[0]!.origin!.round, 2)
    assert.equal(worked.returned, [])
  } finally {
    await worked.stop()
  }
})

test('a lease that comes with a newer policy is given back at once', async () => {
  const newer = { ...policyOf(2), manifest: { ...policyOf(2).manifest, policyId: 'ee'.repeat(32) } }
  let loaded: LoadedPolicy | null = null
  const keeper = {
    get loaded() {
      return loaded
    },
    update: async () => {
      loaded = loaded ? newer : policyOf(1)
      return loaded
    },
  }
  const worked = await work([{ manifestId: newer.manifestId, leases: [lease] }, {}], () => ({ keeper }))
  try {
    await eventually('the lease is back', () => worked.returned.length === 1)
    await eventually('the next question', () => worked.asked.length > 1)
    assert.is(worked.asked[1]!.policyId, newer.manifest.policyId)
    assert.equal(worked.groups, [])
  } finally {
    await worked.stop()
  }
})

test('a lease is renewed as long as its group is not finished, and no longer', async () => {
  const slept: number[] = []
  /** The pauses of the loop pass in a moment; the requests, which wait by the same clock, keep their 15 seconds. */
  const clock = {
    ...systemClock,
    sleep: (ms: number, signal?: AbortSignal) => {
      slept.push(ms)
      return systemClock.sleep(ms <= 10_000 ? ms / 1000 : ms, signal)
    },
  }
  const finish = Promise.withResolvers<void>()
  const slow: Engine = {
    ...engine,
    openLanes: async (requests, ...rest) => {
      await finish.promise
      return engine.openLanes(requests, ...rest)
    },
  }
  const soonOver = { ...lease, deadlineMs: Date.now() + 20_000 }
  const worked = await work([{ leases: [soonOver] }, {}], (host) => ({ engine: slow, host: { ...host, clock } }))
  try {
    await eventually('three renewals', () => worked.renewed.length >= 3)
    assert.ok(worked.renewed.every((leaseId) => leaseId === lease.leaseId))
    assert.ok(
      slept.every((ms) => ms <= 60_000),
      String(slept),
    )
    finish.resolve()
    await eventually('the group', () => worked.groups.length === 1)
    await eventually('the next question', () => worked.asked.length > 1)
    const { length } = worked.renewed
    await eventually('more questions', () => worked.asked.length > 10)
    assert.is(worked.renewed.length, length)
  } finally {
    await worked.stop()
  }
})

test.run()
