import { createHash, createHmac } from 'node:crypto'
import * as assert from 'uvu/assert'
import { type Lease, leaveNotice } from '../../proto/index.js'
import { requestLeases } from '../../swarm/index.js'
import { connect, soon } from '../support/swarm-nodes.js'
import { TASKS, type Volunteer } from '../support/test-run.js'
import { leaseFor, offer, runSuite, verdictOn } from './run-suite.js'

const { test } = runSuite('leases')

/** Both rollouts earn the same. */
const ZERO_VARIANCE = {
  scripts: [
    ['No.', 'No.'],
    ['No.', 'No.'],
  ],
}

const leaseIds = (leases: readonly Lease[]): string[] => leases.map(({ leaseId }) => leaseId)

test('a node gets no more leases than the run allows, with the reason', async ({ open }) => {
  const run = await open({ leases: { durationMs: 60_000, perNode: 2 }, batchGroups: 10 })
  const ann = await run.admitted(2)
  const { leases, reason } = await ann.ask({ count: 5 })
  assert.is(leases.length, 2)
  assert.is(reason, 'too_many_leases')
  const more = await ann.ask({ count: 1, holding: leaseIds(leases) })
  assert.equal(more.leases, [])
  assert.is(more.reason, 'too_many_leases')
})

test('a node that has another policy loaded gets no lease but the id of the manifest in force', async ({ open }) => {
  const run = await open()
  const ann = await run.admitted(2)
  const answer = await ann.ask({ policyId: 'ab'.repeat(32) })
  assert.equal(answer.leases, [])
  assert.is(answer.reason, 'wrong_policy')
  assert.is(answer.manifestId, run.coordinator.snapshots.newest()!.manifestId)
})

test('a lease follows from the secret of its round, which is sealed before and shown after', async ({ open }) => {
  const run = await open({ batchGroups: 10, leases: { durationMs: 60_000, perNode: 4 } })
  const ann = await run.admitted(2)
  const ben = await run.admitted(3)
  const first = run.coordinator.snapshots.newest()!.manifest
  const own = (await ann.ask({ count: 2 })).leases
  const other = (await ben.ask({ count: 1 })).leases
  await run.coordinator.publish()
  const { secret } = run.coordinator.snapshots.newest()!.manifest.closedRounds.at(-1)!
  assert.is(createHash('sha256').update(Buffer.from(secret, 'hex')).digest('hex'), first.roundSecretHash)
  const seedOf = (node: Volunteer, index: number): string =>
    createHmac('sha256', Buffer.from(secret, 'hex'))
      .update(JSON.stringify(['prove/lease/1', first.policyId, node.host.peerId, index]))
      .digest('hex')
  assert.equal(
    own.map(({ seed }) => seed),
    [seedOf(ann, 0), seedOf(ann, 1)],
  )
  assert.equal(
    other.map(({ seed }) => seed),
    [seedOf(ben, 0)],
  )
  for (const lease of [...own, ...other]) {
    const draw = createHmac('sha256', Buffer.from(lease.seed, 'hex')).update('["prove/task/1"]').digest()
    assert.is(lease.taskId, TASKS[draw.readUInt32LE(0) % TASKS.length]!.id)
    assert.equal(
      JSON.parse(new TextDecoder().decode(lease.task)),
      TASKS.find(({ id }) => id === lease.taskId),
    )
  }
})

test('leases stop where their groups could only be stale: at S + 1 batches of accepted and running groups', async ({
  open,
}) => {
  const run = await open({ batchGroups: 2, maxStaleness: 1, leases: { durationMs: 60_000, perNode: 2 } })
  const [ann, ben, cleo] = [await run.admitted(2), await run.admitted(3), await run.admitted(4)]
  // Who has delivered shares the room with nobody.
  for (const node of [ann, ben]) {
    const proof = await leaseFor(node)
    await offer(node, await node.finish(proof, ZERO_VARIANCE))
    await verdictOn(run, proof.leaseId)
  }
  const { leases } = await ann.ask({ count: 2 })
  assert.is((await ben.ask({ count: 2 })).leases.length, 2)
  assert.is((await cleo.ask()).leases.length, 1, 'a newcomer has its first lease in addition')
  // A group without variance teaches nothing, so its place is free again; that of a useful one is not.
  await offer(ann, await ann.finish(leases[0]!, ZERO_VARIANCE))
  await verdictOn(run, leases[0]!.leaseId)
  const more = leaseIds((await ann.ask({ count: 2, holding: [leases[1]!.leaseId] })).leases)
  assert.is(more.length, 1)
  await offer(ann, await ann.finish(leases[1]!))
  assert.ok((await verdictOn(run, leases[1]!.leaseId)).accepted)
  assert.is((await ann.ask({ holding: more })).reason, 'no_work')
})

test('a lease that lapsed is released, and its place goes to another node', async ({ open }) => {
  const run = await open({ batchGroups: 1, maxStaleness: 0 })
  const [ann, ben] = [await run.admitted(2), await run.admitted(3)]
  // Keys that have delivered get no first lease in addition to the room.
  for (const node of [ann, ben]) {
    const proof = await leaseFor(node)
    await offer(node, await node.finish(proof, ZERO_VARIANCE))
    await verdictOn(run, proof.leaseId)
  }
  const lease = await leaseFor(ann)
  await run.coordinator.leases.releaseLapsed()
  assert.is((await ben.ask()).reason, 'no_work')
  run.clock.nowMs = lease.deadlineMs + 1
  await run.coordinator.leases.releaseLapsed()
  await run.coordinator.leases.releaseLapsed()
  assert.is((await ben.ask()).leases.length, 1)
  assert.equal(
    run.eventsOf('released').map(({ leaseId, reason }) => [leaseId, reason]),
    [[lease.leaseId, 'lapsed']],
  )
})

test('a node that restarted has forgotten the leases it does not name, and those it names it keeps', async ({
  open,
}) => {
  const run = await open({ batchGroups: 10, leases: { durationMs: 60_000, perNode: 3 } })
  const ann = await run.admitted(2)
  const [kept, forgotten] = leaseIds((await ann.ask({ count: 2 })).leases)
  const [fresh] = leaseIds((await ann.ask({ holding: [kept!] })).leases)
  assert.equal(
    run.eventsOf('released').map(({ leaseId, reason }) => [leaseId, reason]),
    [[forgotten, 'forgotten']],
  )
  assert.equal([...run.coordinator.recorder.state.openLeases.keys()], [kept, fresh])
})

test('a node gives back its own leases and nobody else’s', async ({ open }) => {
  const run = await open({ batchGroups: 10 })
  const [ann, ben] = [await run.admitted(2), await run.admitted(3)]
  const { leaseId } = await leaseFor(ann)
  const giveBack = (node: Volunteer) =>
    requestLeases(node.host, run.swarm.runId, { kind: 'return', leaseIds: [leaseId], reason: 'shutdown' }, soon())
  await giveBack(ben)
  assert.ok(run.coordinator.recorder.state.openLeases.has(leaseId))
  await giveBack(ann)
  assert.not.ok(run.coordinator.recorder.state.openLeases.has(leaseId))
})

test('a node that leaves gives its leases back, and its reason is on record', async ({ open }) => {
  const run = await open({ leases: { durationMs: 60_000, perNode: 4 } })
  const ann = await run.admitted(2)
  const ben = await run.admitted(3)
  await leaseFor(ann)
  const other = await leaseFor(ben)
  const notice = leaveNotice('canary_failed', 'canary 0 on cpu: 0.0143 nats off')
  await requestLeases(ann.host, run.swarm.runId, notice, soon())
  assert.equal([...run.coordinator.recorder.state.openLeases.keys()], [other.leaseId])
  assert.equal(
    run.eventsOf('left').map(({ atMs: _, ...event }) => event),
    [{ type: 'left', node: ann.host.peerId, version: 0, reason: 'canary_failed', detail: notice.detail }],
  )
})

test('leases survive a restart of the coordinator, and their groups are verified afterwards', async ({ open }) => {
  const run = await open()
  const ann = await run.admitted(2)
  const lease = await leaseFor(ann)
  await run.restart()
  await connect(ann, run.coordinator.node)
  await offer(ann, await ann.finish(lease))
  const { accepted, rewards } = await verdictOn(run, lease.leaseId)
  assert.ok(accepted)
  assert.equal(rewards, [1.3, 0])
  assert.is((await ann.ask()).leases[0]!.index, 1)
})

test.run()
