import { randomBytes } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { sealGroupAnnouncement } from '../../proto/index.js'
import { channelsOf } from '../../swarm/index.js'
import { announcement } from '../support/proto-samples.js'
import { connect, eventually, type TestNode } from '../support/swarm-nodes.js'
import { createTestRun, type TestRun, type Volunteer } from '../support/test-run.js'

// An honest node shares its network with attackers: it forwards their messages, and may have their address. Neither may keep the
// coordinator from accepting the honest node's messages.

const test = suite<{ run: TestRun }>('a network shared with attackers')
test.before.each(async (context) => {
  context.run = await createTestRun()
})
test.after.each(({ run }) => run.close())

/** Publishes a group that reaches the coordinator only through gossip. */
async function gossipGroup(run: TestRun, node: Volunteer): Promise<void> {
  const [lease] = (await node.ask()).leases
  const { sealed } = await node.finish(lease!, { inline: true })
  const { groups } = channelsOf(run.swarm.runId)
  await eventually('the coordinator is subscribed', () => node.host.gossip.listeners(groups).includes(run.swarm.runId))
  await node.host.gossip.publish(groups, sealed)
  await eventually('the verdict', () => run.coordinator.recorder.state.judged.has(lease!.leaseId))
  assert.ok(run.coordinator.recorder.state.judged.get(lease!.leaseId)!.accepted)
}

test('forwarding a group that only the coordinator can refute does not lower a node’s score', async ({ run }) => {
  const { groups } = channelsOf(run.swarm.runId)
  const ann = await run.admitted(2)
  const [lease] = (await ann.ask()).leases
  const forwarder: TestNode = await run.swarm.node(4)
  const mallory: TestNode = await run.swarm.node(5, false)
  await connect(forwarder, run.coordinator.node)
  await connect(mallory, forwarder)
  forwarder.host.gossip.join(groups, { deliver: () => undefined })
  await eventually('the forwarding node is subscribed', () => mallory.host.gossip.listeners(groups).length === 1)
  await eventually('it forwards to the coordinator', () => forwarder.host.gossip.mesh(groups).includes(run.swarm.runId))
  const { refusals } = run.coordinator.node
  for (let lie = 1; lie <= 12; lie++) {
    const stolen = { ...announcement, leaseId: lease!.leaseId, nonce: randomBytes(16).toString('hex') }
    await mallory.host.gossip.publish(groups, await sealGroupAnnouncement(mallory.key, run.swarm.runId, stolen, null))
    await eventually('the false group is refused', () => refusals.length === lie)
  }
  assert.ok(refusals.every(({ peer, code }) => peer === mallory.host.peerId && code === 'lease_owner'))
  // A rejected message lowers the score of its last sender, which is the forwarding node.
  assert.ok(refusals.every(({ effect }) => effect === 'ignore'))
})

test('a node’s messages arrive however many keys share its address', async ({ run }) => {
  const ann = await run.admitted(2)
  for (let seed = 10; seed < 50; seed++) await connect(await run.swarm.node(seed, false), run.coordinator.node)
  await gossipGroup(run, ann)
})

test.run()
