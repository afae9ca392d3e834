import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Engine } from '../../engine/index.js'
import { createTestSwarm, eventually, type TestSwarm } from '../support/swarm-nodes.js'
import { engine, lease, policyOf, work } from './node-at-work.js'

const test = suite('keeping a lease')

let swarm: TestSwarm
test.before.each(async () => {
  swarm = await createTestSwarm()
})
test.after.each(() => swarm.close())

test('a lease that comes with a newer round is worked on, under that round', async () => {
  const worked = await work(swarm, [{ manifestId: policyOf(2).manifestId, leases: [lease] }, {}])
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
  const worked = await work(swarm, [{ manifestId: newer.manifestId, leases: [lease] }, {}], {
    update: async (loaded) => (loaded ? newer : policyOf(1)),
  })
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
  const finish = Promise.withResolvers<void>()
  const slow: Engine = {
    ...engine,
    openLanes: async (requests, ...rest) => {
      await finish.promise
      return engine.openLanes(requests, ...rest)
    },
  }
  const soonOver = { ...lease, deadlineMs: Date.now() + 20_000 }
  const worked = await work(swarm, [{ leases: [soonOver] }, {}], { engine: slow, pace: (ms) => ms / 1000 })
  try {
    await eventually('three renewals', () => worked.renewed.length >= 3)
    assert.ok(worked.renewed.every((leaseId) => leaseId === lease.leaseId))
    assert.ok(worked.order.every((what) => what === 'ask' || what <= 60_000))
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
