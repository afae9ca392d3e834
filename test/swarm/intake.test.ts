import * as assert from 'uvu/assert'
import { connect, eventually } from '../support/swarm-nodes.js'
import { GROUP_SIZE, TASKS } from '../support/test-run.js'
import { leaseFor, offer, refusalOf, runSuite, verdictOn } from './run-suite.js'

const { test } = runSuite('the intake of groups')

test('a group for a lease that nobody gave out is turned down', async ({ open }) => {
  const run = await open()
  const ann = await run.admitted(2)
  const lease = { ...(await leaseFor(ann)), leaseId: 'ab'.repeat(16) }
  assert.is(await refusalOf(offer(ann, await ann.finish(lease))), 'unknown_lease')
})

test('a group for another node’s lease is turned down, and the owner can still deliver', async ({ open }) => {
  const run = await open()
  const [ann, ben] = [await run.admitted(2), await run.admitted(3)]
  const lease = await leaseFor(ann)
  assert.is(await refusalOf(offer(ben, await ben.finish(lease))), 'lease_owner')
  await offer(ann, await ann.finish(lease))
  assert.is((await verdictOn(run, lease.leaseId)).node, ann.host.peerId)
})

test('an announcement for another policy, task or group size than the lease is turned down', async ({ open }) => {
  const run = await open()
  const ann = await run.admitted(2)
  const lease = await leaseFor(ann)
  const other = TASKS.find(({ id }) => id !== lease.taskId)!.id
  const announced = async (announce: object) => refusalOf(offer(ann, await ann.finish(lease, { announce })))
  assert.is(await announced({ policyId: 'cd'.repeat(32) }), 'wrong_policy')
  assert.is(await announced({ taskId: other }), 'body_mismatch')
  assert.is(await announced({ rewards: new Array(GROUP_SIZE + 1).fill(0.5) }), 'wrong_group_size')
  assert.is(run.eventsOf('judged').length, 0)
})

test('a group that is offered repeatedly is verified once, and another body for its lease is not', async ({ open }) => {
  const run = await open()
  const ann = await run.admitted(2)
  const lease = await leaseFor(ann)
  const group = await ann.finish(lease)
  await Promise.all([offer(ann, group), offer(ann, group), offer(ann, group)])
  await verdictOn(run, lease.leaseId)
  await offer(ann, group)
  await run.coordinator.intake.idle()
  assert.is(run.eventsOf('judged').length, 1)
  assert.is(ann.pulls.length, 1)
  const better = await ann.finish(lease, {
    scripts: [
      ['No.', 'No.'],
      ['Hm.', 'No.'],
    ],
    inline: true,
  })
  assert.is(await refusalOf(offer(ann, better)), 'replayed')
  assert.is(run.eventsOf('judged').length, 1)
})

test('a late group is turned down, one that is late by a moment is not', async ({ open }) => {
  const run = await open()
  const ann = await run.admitted(2)
  const [late, lateByAMoment] = (await ann.ask({ count: 2 })).leases
  run.clock.nowMs = lateByAMoment!.deadlineMs + 4000
  await offer(ann, await ann.finish(lateByAMoment!))
  assert.ok((await verdictOn(run, lateByAMoment!.leaseId)).accepted)
  run.clock.nowMs = late!.deadlineMs + 6000
  assert.is(await refusalOf(offer(ann, await ann.finish(late!))), 'lease_expired')
})

test('a group that is older than the staleness limit is refused and its body not pulled', async ({ open }) => {
  const run = await open({ maxStaleness: 1 })
  const ann = await run.admitted(2)
  const [old, older] = (await ann.ask({ count: 2 })).leases
  await run.coordinator.publish()
  await offer(ann, await ann.finish(old!))
  assert.ok((await verdictOn(run, old!.leaseId)).accepted)
  await run.coordinator.publish()
  const pulls = ann.pulls.length
  await offer(ann, await ann.finish(older!))
  const { accepted, code } = await verdictOn(run, older!.leaseId)
  assert.equal([accepted, code], [false, 'stale_policy'])
  assert.is(ann.pulls.length, pulls)
})

test('a body larger than any that the run allows is refused and not pulled', async ({ open }) => {
  const run = await open()
  const ann = await run.admitted(2)
  const lease = await leaseFor(ann)
  await offer(ann, await ann.finish(lease, { announce: { bodySizeBytes: 2_000_000 } }))
  const { accepted, code } = await verdictOn(run, lease.leaseId)
  assert.equal([accepted, code, ann.pulls], [false, 'too_large', []])
})

test('a group without reward variance that is not drawn is recorded without a pull, and earns nothing', async ({
  open,
}) => {
  const run = await open({ draws: () => false })
  const ann = await run.admitted(2)
  const lease = await leaseFor(ann)
  const group = await ann.finish(lease, {
    scripts: [
      ['No.', 'No.'],
      ['Never.', 'No.'],
    ],
  })
  await offer(ann, group)
  const { accepted, zeroVariance, credit, rewards } = await verdictOn(run, lease.leaseId)
  assert.equal({ accepted, zeroVariance, rewards }, { accepted: true, zeroVariance: true, rewards: [0, 0] })
  assert.is(credit, 0)
  assert.equal(ann.pulls, [])
  assert.equal(run.coordinator.recorder.state.trainable(1), [])
})

test('a body that cannot be downloaded gives no verdict: offered again, the group is verified', async ({ open }) => {
  const run = await open()
  const ann = await run.admitted(2)
  const lease = await leaseFor(ann)
  const group = await ann.finish(lease)
  ann.serve = async () => null
  await offer(ann, group)
  await run.coordinator.intake.idle()
  assert.is(ann.pulls.length, 1)
  assert.is(run.eventsOf('judged').length, 0)
  ann.serve = async () => new Uint8Array([...group.body.subarray(1), 0])
  await offer(ann, group)
  await run.coordinator.intake.idle()
  assert.is(run.eventsOf('judged').length, 0)
  ann.serve = async () => group.body
  await offer(ann, group)
  assert.ok((await verdictOn(run, lease.leaseId)).accepted)
})

test('a node that delivers slowly holds up no other, and its own groups only up to a bound', async ({ open }) => {
  const run = await open({ batchGroups: 10, leases: { durationMs: 60_000, perNode: 1 } })
  const [slow, ben] = [await run.admitted(2), await run.admitted(3)]
  const stalled = Promise.withResolvers<null>()
  slow.serve = () => stalled.promise
  await offer(slow, await slow.finish(await leaseFor(slow)))
  await eventually('the pull', () => slow.pulls.length === 1)
  // A node that forgets a lease gets another when a version is out; that must not make room for more of its groups.
  await run.coordinator.publish()
  assert.is(await refusalOf(offer(slow, await slow.finish(await leaseFor(slow)))), 'overloaded')
  const lease = await leaseFor(ben)
  await offer(ben, await ben.finish(lease))
  assert.ok((await verdictOn(run, lease.leaseId)).accepted)
  assert.is(slow.pulls.length, 1)
  stalled.resolve(null)
})

test('an interrupted verification leaves no verdict, and continues after the restart', async ({ open }) => {
  const run = await open()
  const ann = await run.admitted(2)
  const lease = await leaseFor(ann)
  const group = await ann.finish(lease)
  const stalled = Promise.withResolvers<null>()
  ann.serve = () => stalled.promise
  await offer(ann, group)
  await eventually('the pull', () => ann.pulls.length === 1)
  await run.restart()
  assert.is(run.eventsOf('judged').length, 0)
  stalled.resolve(null)
  ann.serve = async () => group.body
  await connect(ann, run.coordinator.node)
  await offer(ann, group)
  assert.ok((await verdictOn(run, lease.leaseId)).accepted)
})

test.run()
