import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { createProviders } from '../../coordinator/service/providers.js'
import type { PeerAddresses } from '../../proto/index.js'
import { createHost, withoutPeer } from '../../swarm/index.js'
import { connect, createTestSwarm, eventually, keyOf, type TestSwarm } from '../support/swarm-nodes.js'

const test = suite<{ swarm: TestSwarm }>('providers')

test.before.each(async (context) => {
  context.swarm = await createTestSwarm()
})
test.after.each((context) => context.swarm.close())

test('a node is named to others if it has the adapter in force and answers at its announced address', async ({
  swarm,
}) => {
  const coordinator = await swarm.node(1)
  const [ann, ben, cara] = [await swarm.node(2), await swarm.node(3), await swarm.node(4, false)]
  const at = ann.host.addresses().map(withoutPeer)
  // Dan announces Ann's address.
  const dan = {
    host: await createHost({
      privateKey: await keyOf(5),
      runId: swarm.runId,
      listen: ['/ip4/127.0.0.1/tcp/0'],
      announce: at,
      connectionsPerSecond: 1000,
    }),
  }
  const closing = new AbortController()
  const dialable: PeerAddresses[] = []
  let inForce = 'policy 1'
  try {
    for (const node of [ann, ben, cara]) await connect(node, coordinator)
    await dan.host.dial(coordinator.host.addresses()[0]!, closing.signal)
    const providers = createProviders({
      host: coordinator.host,
      shards: () => 1,
      policyInForce: () => inForce,
      onDialable: (peer) => dialable.push(peer),
      random: Math.random,
      signal: closing.signal,
    })
    await eventually('they have announced their addresses', async () => {
      const claims = await Promise.all([ann, dan].map(({ host }) => coordinator.host.claimedAddresses(host.peerId)))
      return claims.every(({ length }) => length > 0)
    })
    const { peerId } = ann.host
    for (const { host } of [cara, dan, ann]) providers.note(host.peerId, 'policy 1')
    await eventually('Ann has answered', () => dialable.length > 0)
    assert.equal(dialable, [{ peerId, addresses: at }])
    assert.equal(providers.nearTo(ben.host.peerId), [{ peerId, addresses: at }])
    assert.equal(providers.nearTo(peerId), [], 'nobody is named to itself')
    assert.equal(providers.forAnyone(), [{ peerId, addresses: at }], 'all are on one machine')

    inForce = 'policy 2'
    assert.equal(providers.nearTo(ben.host.peerId), [])
    providers.note(peerId, 'policy 2')
    assert.equal(providers.nearTo(ben.host.peerId), [{ peerId, addresses: at }])
    await ann.host.hangUp(swarm.runId)
    await eventually('a disconnected node is not named', () => providers.nearTo(ben.host.peerId).length === 0)
  } finally {
    closing.abort(new Error('the test is over'))
    await dan.host.close()
  }
})

test.run()
