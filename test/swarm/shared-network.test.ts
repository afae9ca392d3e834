import { randomBytes } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { sealGroupAnnouncement } from '../../proto/index.js'
import { channelsOf } from '../../swarm/index.js'
import { announcement } from '../support/proto-samples.js'
import { connect, eventually, type TestNode } from '../support/swarm-nodes.js'
import { createTestRun, type TestRun, type Volunteer } from '../support/test-run.js'

// An honest node shares its network with others: it passes on what they sign, and may have their address. Neither may cost it
// the coordinator's ear.

const test = suite<{ run: TestRun }>('a network shared with attackers')
test.before.each(async (context) => {
  context.run = await createTestRun()
})
test.after.each(({ run }) => run.close())

/** A group that the coordinator can know of through gossip only. */
async function gossipGroup(run: TestRun, node: Volunteer): Promise<void> {
  const [lease] = (await node.ask()).leases
  const { sealed } = await node.finish(lease!, { inline: true })
  const { groups } = channelsOf(run.swarm.runId)
  await eventually('the coordinator listens', () => node.host.gossip.listeners(groups).includes(run.swarm.runId))
  await node.host.gossip.publish(groups, sealed)
  await eventually('the verdict', () => run.coordinator.recorder.state.judged.has(lease!.leaseId))
  assert.ok(run.coordinator.recorder.state.judged.get(lease!.leaseId)!.accepted)
}

test('forwarding a group that only the coordinator can refute does not lower a node’s score', async ({ run }) => {
  const { groups } = channelsOf(run.swarm.runId)
  const ann = await run.admitted(2)
  const [lease] = (await ann.ask()).leases
  const relay: TestNode = await run.swarm.node(4)
  const mallory: TestNode = await run.swarm.node(5, false)
  await connect(relay, run.coordinator.node)
  await connect(mallory, relay)
  relay.host.gossip.join(groups, { deliver: () => undefined })
  await eventually('the relay listens', () => mallory.host.gossip.listeners(groups).length === 1)
  await eventually('it passes on to the coordinator', () => relay.host.gossip.mesh(groups).includes(run.swarm.runId))
  const { refusals } = run.coordinator.node
  for (let lie = 1; lie <= 12; lie++) {
    const stolen = { ...announcement, leaseId: lease!.leaseId, nonce: randomBytes(16).toString('hex') }
    await mallory.host.gossip.publish(groups, await sealGroupAnnouncement(mallory.key, run.swarm.runId, stolen, null))
    await eventually('the lie is known', () => refusals.length === lie)
  }
  assert.ok(refusals.every(({ peer, code }) => peer === mallory.host.peerId && code === 'lease_owner'))
  // A rejected message lowers the score of its last sender, which is the relay.
  assert.ok(refusals.every(({ effect }) => effect === 'ignore'))
})

test('a node’s messages arrive however many keys share its address', async ({ run }) => {
  const ann = await run.admitted(2)
  for (let seed = 10; seed < 50; seed++) await connect(await run.swarm.node(seed, false), run.coordinator.node)
  await gossipGroup(run, ann)
})

test.run()
