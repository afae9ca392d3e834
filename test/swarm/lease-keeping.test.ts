import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Engine } from '../../rollout/engine/index.js'
import { createMovedClock } from '../support/moved-clock.js'
import { createTestSwarm, eventually, type TestSwarm } from '../support/swarm-nodes.js'
import { engine, lease, policyOf, work } from './node-at-work.js'

const test = suite('keeping a lease')

let swarm: TestSwarm
test.before.each(async () => {
  swarm = await createTestSwarm()
})
test.after.each(() => swarm.close())

test('a lease of a newer round is worked on under that round', async () => {
  const worked = await work(swarm, [{ manifestId: policyOf(2).manifestId, leases: [lease] }, {}])
  try {
    await eventually('the group', () => worked.groups.length === 1)
    assert.is(worked.groups[0]!.origin!.round, 2)
    assert.equal(worked.returned, [])
  } finally {
    await worked.stop()
  }
})

test('a lease of a newer policy is given back at once', async () => {
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

test('a lease is renewed until its group is finished', async () => {
  const finish = Promise.withResolvers<void>()
  const slow: Engine = {
    ...engine,
    openSlots: async (requests, ...rest) => {
      await finish.promise
      return engine.openSlots(requests, ...rest)
    },
  }
  const clock = createMovedClock()
  const soonOver = { ...lease, deadlineMs: clock.now() + 20_000 }
  const worked = await work(swarm, [{ leases: [soonOver] }, {}], { engine: slow, clock })
  /** Lets time pass once the node waits for that long, and for nothing else. */
  const pass = async (ms: number): Promise<void> => {
    await eventually(`a pause of ${ms} ms`, () => clock.pauses.join() === String(ms))
    clock.advance(ms)
  }
  try {
    // Half of what is left, at least five seconds.
    for (const [i, ms] of [10_000, 5000, 5000].entries()) {
      await pass(ms)
      await eventually('a renewal', () => worked.renewed.length === i + 1)
    }
    assert.ok(worked.renewed.every((leaseId) => leaseId === lease.leaseId))
    await eventually('the next pause', () => clock.pauses.join() === '5000')
    finish.resolve()
    await eventually('the group', () => worked.groups.length === 1)
    for (let questions = 2; questions <= 4; questions++) {
      await eventually('a question', () => worked.asked.length === questions)
      await pass(100)
      await eventually('the back-off', () => clock.pauses.length === 1 && clock.pauses[0]! >= 2000)
      clock.advance(clock.pauses[0]!)
    }
    assert.is(worked.renewed.length, 3)
  } finally {
    await worked.stop()
  }
})

test.run()
