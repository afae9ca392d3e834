import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { LoadedPolicy } from '../../node/policy/policy-keeper.js'
import { NodeError } from '../../node/report/errors.js'
import { verifyGroup } from '../../node/verification/verify-group.js'
import { type Lease, type LeaseResponse, LIMITS, refusal } from '../../proto/index.js'
import type { Engine } from '../../rollout/engine/index.js'
import { createMovedClock } from '../support/moved-clock.js'
import { flightManifest } from '../support/proto-samples.js'
import { lendingTask, writeCall } from '../support/scripted.js'
import { createTestSwarm, eventually, soon, type TestSwarm } from '../support/swarm-nodes.js'
import { engine, engineSaying, lease, policyOf, runtime, type Setting, type Worked, work } from './node-at-work.js'

const test = suite('the work loop')

let swarm: TestSwarm
test.before.each(async () => {
  swarm = await createTestSwarm()
})
test.after.each(() => swarm.close())

const RETRY_MS = 1000
/** From the first failure, or the first answer without a lease, on. */
const PAUSES_MS = [RETRY_MS, 2000, 4000, 8000, 16_000, 30_000]
const task = lendingTask()
/** The pauses between attempts and questions pass in a moment. */
const hurried = (answers: readonly Partial<LeaseResponse>[], setting: Setting = {}): Promise<Worked> =>
  work(swarm, answers, { pace: (ms) => (PAUSES_MS.includes(ms) ? 20 : ms), ...setting })

test('a node without work reports the reason, and keeps the secrets of every manifest', async () => {
  const elsewhere = { manifestId: '00'.repeat(32) }
  const worked = await hurried([elsewhere, elsewhere, { reason: 'uncalibrated', detail: 'cpu' }])
  try {
    await eventually('the reason', () => worked.progress.some(({ type }) => type === 'idle'))
    const types = worked.progress.map(({ type }) => type).slice(0, 2)
    assert.equal(types, ['policy', 'idle'])
    assert.equal(
      worked.kept.map(([round]) => round!.round),
      [0, 1, 2],
    )
  } finally {
    await worked.stop()
  }
})

test('a finished group is kept with all data to verify it again', async () => {
  const worked = await hurried([{ leases: [lease] }, {}])
  try {
    await eventually('the group', () => worked.groups.length === 1)
    const { origin, body, bodySha256 } = worked.groups[0]!
    assert.is(origin!.lease.seed, lease.seed)
    assert.is(origin!.round, 1)
    assert.is(origin!.roundSecretHash, flightManifest.roundSecretHash)
    const group = { origin: origin!, body, bodySha256 }
    const parts = {
      replayContext: runtime,
      engine,
      calibration: null,
      closedRounds: [],
    }
    const [seed, , , , replay] = await verifyGroup(group, parts, soon())
    assert.is(seed!.outcome, 'not checked')
    assert.equal(replay, { name: 'check 3, replay', outcome: 'ok', detail: '2 rollouts with 0 calls' })
  } finally {
    await worked.stop()
  }
})

const badLease = async (leases: readonly Lease[], setting: Setting = {}): Promise<string> => {
  const worked = await hurried([{ leases }], setting)
  const why = await worked.ended
  assert.equal(worked.groups, [])
  return (why as Error).message
}

test('a lease for a wrong number of rollouts, or one lease too many, stops the node', async () => {
  assert.match(await badLease([{ ...lease, groupSize: 3 }]), /^bad_lease: lease a1.* is for 3 rollouts instead of 2$/)
  const other = { ...lease, leaseId: 'a2'.repeat(16) }
  assert.match(await badLease([lease, other]), /^bad_lease: 2 leases instead of 1$/)
})

test('a task that cannot be scored stops the node with its reason', async () => {
  const twice = lendingTask({ toolset: [...task.toolset, { environment: 'library', tool: 'lend_book' }] })
  const hostile = { ...lease, taskId: twice.id, task: new TextEncoder().encode(JSON.stringify(twice)) }
  assert.match(await badLease([hostile]), /^bad_lease: task [0-9a-f]+: duplicate_tool/)
})

test('an environment defect stops the node with the environment, the call and the error', async () => {
  const risky = lendingTask({ toolset: [...task.toolset, { environment: 'library', tool: 'burn_down' }] })
  const fire = { ...lease, taskId: risky.id, task: new TextEncoder().encode(JSON.stringify(risky)) }
  const setting = { engine: engineSaying([writeCall('burn_down', { how: 'throwing' })]) }
  const why = await badLease([fire], setting)
  assert.match(why, /^broken_environment: task [0-9a-f]+: library: .*burn_down .*no water.*report this/)
})

test('a node pauses between requests to a coordinator that does not serve its manifest', async () => {
  const policy = policyOf(1)
  const worked = await hurried([{ manifestId: '00'.repeat(32) }], { update: async () => policy })
  try {
    await eventually('five requests', () => worked.asked.length >= 5)
    const gaps = worked.order.filter((what) => what === 'ask' || what === RETRY_MS).slice(1, 7)
    assert.equal(gaps, ['ask', RETRY_MS, 'ask', RETRY_MS, 'ask', RETRY_MS])
  } finally {
    await worked.stop()
  }
})

test('a node without work loads a version as soon as it is announced, and asks for no lease before', async () => {
  const clock = createMovedClock()
  const policies = [policyOf(1), { ...policyOf(2), manifest: { ...policyOf(2).manifest, version: 8 } }]
  let newest = 0
  const worked = await work(swarm, [{ reason: 'no_work', retryAfterMs: 60_000, manifestId: policies[0]!.manifestId }], {
    clock,
    update: async () => policies[newest]!,
  })
  try {
    await eventually('it waits', () => clock.pauses.includes(60_000))
    newest = 1
    const { version, round, policyId } = policies[1]!.manifest
    worked.events.publish({
      type: 'announced',
      announcement: {
        manifestId: policies[1]!.manifestId,
        manifestSizeBytes: 1000,
        round,
        version,
        policyId,
        expiresAtMs: 1e13,
        capacity: 0,
        waiting: 3,
        providers: [],
        shards: 1,
      },
    })
    await eventually('it is woken', () => clock.pauses.join() === '50')
    clock.advance(50)
    await eventually('the next question', () => worked.asked.length >= 2)
    const taken = worked.progress.flatMap((news) => (news.type === 'policy' ? [news.version] : []))
    assert.equal(taken, [7, 8])
  } finally {
    await worked.stop()
  }
})

test('a repeated failure is reported once, and again when the reason changes', async () => {
  let attempts = 0
  const update = async (): Promise<LoadedPolicy> => {
    attempts += 1
    throw refusal('expired', attempts < 8 ? 'round 3' : 'round 4')
  }
  const worked = await hurried([{}], { update })
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

test('a node that an error ends reports it to the coordinator, without paths of its machine', async () => {
  const ends = async (error: unknown): Promise<Worked> => {
    const worked = await hurried([{}], { update: () => Promise.reject(error) })
    assert.is(await worked.ended, error)
    return worked
  }
  const why = `canary 0 on cpu: ${'0.0143 nats off '.repeat(20)}`
  const [failed] = (await ends(new NodeError('canary_failed', why))).left
  assert.is(failed!.reason, 'canary_failed')
  assert.ok(why.startsWith(failed!.detail) && failed!.detail.length > 200)
  const [full] = (await ends(new NodeError('unwritable', '/home/ann/.local/share/prove: disk full'))).left
  assert.equal(full, { kind: 'leave', reason: 'unwritable', detail: '' })
  const [odd] = (await ends(new TypeError('/home/ann: undefined'))).left
  assert.equal(odd, { kind: 'leave', reason: 'failed', detail: '' })
})

test('a node that its owner ends sends no notice', async () => {
  const worked = await hurried([{ reason: 'no_work' }])
  await eventually('a question', () => worked.asked.length > 0)
  await worked.stop()
  assert.equal(worked.left, [])
})

test('a node whose groups get no verdicts stops generating, and reports that', async () => {
  const waiting = Array.from({ length: LIMITS.leasesHeld.value }, (_, i) => i.toString(16).padStart(32, '0'))
  const worked = await hurried([{ leases: [lease] }], { waiting })
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

const leaseOf = (number: number): Lease => ({ ...lease, leaseId: number.toString(16).padStart(32, '0'), index: number })

/** An engine whose groups the test finishes, in the order of their start. */
function heldEngine() {
  const held: (() => void)[] = []
  const slow: Engine = {
    ...engine,
    openSlots: async (requests, signal) => {
      await new Promise<void>((resolve, reject) => {
        held.push(resolve)
        signal.addEventListener('abort', () => reject(signal.reason))
      })
      return engine.openSlots(requests, signal)
    },
  }
  return { slow, held }
}

test('a node that knows the duration of a group uses free slots for the next one, and names its leases', async () => {
  const { slow, held } = heldEngine()
  const policy = policyOf(1)
  const answers = [1, 2, 3].map((number) => ({ leases: [leaseOf(number)], manifestId: policy.manifestId }))
  const worked = await hurried([...answers, { manifestId: policy.manifestId, reason: 'too_many_leases' }], {
    ...{ engine: slow, update: async () => policy, capacity: async () => undefined },
  })
  try {
    await eventually('the first', () => held.length === 1)
    assert.is(worked.asked.length, 1, 'the first one is made alone')
    held[0]!()
    await eventually('two at once', () => held.length === 3 && worked.asked.length >= 4)
    assert.equal([...worked.asked[3]!.holding].sort(), [leaseOf(2).leaseId, leaseOf(3).leaseId])
    assert.not(
      worked.progress.some(({ type }) => type === 'idle'),
      'it is not idle while it makes groups',
    )
    held[2]!()
    await eventually('the third before the second', () => worked.groups.length === 2)
    held[1]!()
    await eventually('all', () => worked.groups.length === 3)
    assert.equal(
      worked.groups.map(({ leaseId }) => leaseId),
      [1, 3, 2].map((number) => leaseOf(number).leaseId),
    )
    const inProgress = worked.progress.flatMap((news) =>
      news.type === 'leased' || news.type === 'group' ? [news.inProgress] : [],
    )
    assert.equal(inProgress, [1, 0, 1, 2, 1, 0])
    await eventually('it is idle', () => worked.progress.some(({ type }) => type === 'idle'))
    assert.equal(worked.returned, [])
  } finally {
    for (const finish of held) finish()
    await worked.stop()
  }
})

test('a failed group ends the work after the other groups in progress', async () => {
  const { slow, held } = heldEngine()
  const policy = policyOf(1)
  const wrong = { ...leaseOf(3), groupSize: 3 }
  const answers = [leaseOf(1), leaseOf(2), wrong].map((one) => ({ leases: [one], manifestId: policy.manifestId }))
  // While it gives the wrong one back it may ask once more.
  const worked = await hurried([...answers, { manifestId: policy.manifestId }], {
    ...{ engine: slow, update: async () => policy, capacity: async () => undefined },
  })
  await eventually('the first', () => held.length === 1)
  held[0]!()
  await eventually('the wrong one is back', () => worked.returned.length === 1)
  held[1]!()
  assert.match(((await worked.ended) as Error).message, /^bad_lease: .* 3 rollouts instead of 2$/)
  assert.is(worked.groups.length, 2)
})

test('a machine whose leases end too early gets advice, and asks for no lease for hours', async () => {
  const { slow, held } = heldEngine()
  const policy = policyOf(1)
  let rests = 0
  const worked = await work(swarm, [{ leases: [{ ...lease, deadlineMs: 0 }], manifestId: policy.manifestId }], {
    ...{ engine: slow, update: async () => policy, lapsed: () => true, onRest: async () => void rests++ },
    pace: (ms) => (ms === 5000 ? 20 : ms),
  })
  try {
    await eventually('it rests', () => rests === 1)
    assert.equal([held.length, worked.asked.length, worked.groups.length, worked.returned.length], [2, 2, 0, 0])
    const words = worked.progress.flatMap((news) => (news.type === 'rest' ? [news.why] : []))
    assert.match(
      words.join(),
      /too slow for the run: groups were not ready 2 times in a row .*smaller model.*--mirror$/,
    )
    assert.is(worked.order.at(-1), 6 * 3_600_000)
  } finally {
    await worked.stop()
  }
})

test('leases that end while the machine sleeps do not make it too slow', async () => {
  const { slow, held } = heldEngine()
  const policy = policyOf(1)
  const clock = createMovedClock()
  const answers = [1, 2, 3].map((i) => ({
    leases: [{ ...leaseOf(i), deadlineMs: clock.now() + (i - 1) * 3_600_000 + 60_000 }],
    manifestId: policy.manifestId,
  }))
  const worked = await work(swarm, answers, {
    ...{ engine: slow, update: async () => policy, lapsed: () => true, clock, capacity: async () => undefined },
  })
  try {
    for (const begun of [1, 2, 3]) {
      await eventually('a group is in progress', () => held.length === begun && clock.pauses.includes(30_000))
      // The wait for half of the lease ends an hour late.
      clock.advance(3_600_000)
    }
    await eventually('the third lease is lost too', () => worked.renewed.length === 3)
    assert.not(worked.progress.some(({ type }) => type === 'rest'))
  } finally {
    await worked.stop()
  }
})

test('a machine that the coordinator finds too slow is measured once more, and then rests with the coordinator’s reason', async () => {
  const tried: number[] = []
  const speeds = [3, Number.POSITIVE_INFINITY]
  let rests = 0
  const words = 'a usual group samples 24000 tokens, which take this node 61 min'
  const worked = await work(swarm, [{ reason: 'too_slow', detail: words, manifestId: policyOf(1).manifestId }], {
    update: async () => policyOf(1),
    onRest: async () => void rests++,
    trySpeed: async (rollouts) => {
      tried.push(rollouts)
      return speeds.shift() ?? null
    },
  })
  try {
    await eventually('it rests', () => rests === 1)
    assert.equal(
      worked.asked.map(({ tokensPerSecond }) => tokensPerSecond),
      [3, 1_000_000],
    )
    assert.equal(tried, [2, 2], 'rollouts of a group')
    const stated = worked.progress.flatMap((news) => (news.type === 'rest' ? [news.why] : []))
    assert.equal(stated, [`this machine is too slow for the run: ${words}`])
    assert.is(worked.order.at(-1), 6 * 3_600_000)
  } finally {
    await worked.stop()
  }
})

test('a machine that cannot be measured in time reports no speed, and is not measured at each request', async () => {
  let tries = 0
  const worked = await hurried([{ manifestId: policyOf(1).manifestId }], {
    update: async () => policyOf(1),
    trySpeed: async () => {
      tries += 1
      return null
    },
  })
  try {
    await eventually('three questions', () => worked.asked.length >= 3)
    assert.equal(new Set(worked.asked.map(({ tokensPerSecond }) => tokensPerSecond)), new Set([0]))
    assert.is(tries, 1)
  } finally {
    await worked.stop()
  }
})

test.run()
