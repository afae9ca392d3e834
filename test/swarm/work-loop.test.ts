import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Engine } from '../../engine/index.js'
import type { LoadedPolicy } from '../../node/policy-keeper.js'
import type { NodeProgress } from '../../node/progress.js'
import type { PendingGroup } from '../../node/store.js'
import { verifyGroup } from '../../node/verify.js'
import { workLoop } from '../../node/work-loop.js'
import { type Lease, type LeaseAsk, type LeaseResponse, type PolicyManifest, sha256 } from '../../proto/index.js'
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
  stop(): Promise<void>
}

/** A node at work for a coordinator that gives these answers, then none any more. Its keeper finds a new round each time. */
async function work(answers: readonly Partial<LeaseResponse>[]): Promise<Worked> {
  const [coordinator, volunteer] = [await swarm.node(1), await swarm.node(2)]
  await connect(volunteer, coordinator)
  const worked: Omit<Worked, 'stop'> = { asked: [], progress: [], groups: [], kept: [] }
  await serveLeases(coordinator.host, async (request) => {
    if (request.kind === 'ask') worked.asked.push(request)
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
      connected: async () => undefined,
      onProgress: (progress) => worked.progress.push(progress),
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

test.run()
