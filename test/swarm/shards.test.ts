import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import {
  peerIdOfKey,
  sealGroupAnnouncement,
  sealVerdictDigest,
  shardOf,
  topicsOf,
  type VerdictDigest,
} from '../../proto/index.js'
import { type Channel, type Clock, createShardHub, createShardMember, type ReceivedGroup } from '../../swarm/index.js'
import { SHARD_CHANGE_MS } from '../../swarm/shards.js'
import { announcement, id16 } from '../support/proto-samples.js'
import {
  connect,
  createTestSwarm,
  eventually,
  keyOf,
  patientClock,
  type TestNode,
  type TestSwarm,
} from '../support/swarm-nodes.js'

const test = suite<{ swarm: TestSwarm }>('gossip in shards')

test.before.each(async (context) => {
  context.swarm = await createTestSwarm()
})
test.after.each((context) => context.swarm.close())

const SHARDS = 4

/** A clock with which changes of the shards are over when the test says so. */
function changingClock(): { readonly clock: Clock; readonly over: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>()
  const sleep: Clock['sleep'] = (ms, signal) => (ms === SHARD_CHANGE_MS ? promise : patientClock.sleep(ms, signal))
  return { clock: { ...patientClock, sleep }, over: resolve }
}

/** Returns seeds of keys in one shard, and of a key in another one. */
async function seedsIn(runId: string): Promise<{ readonly mates: readonly number[]; readonly foreign: number }> {
  const shards = new Map<number, number[]>()
  for (let seed = 2; seed < 60; seed++) {
    const { shard } = shardOf(runId, peerIdOfKey(await keyOf(seed)), SHARDS)
    shards.set(shard, [...(shards.get(shard) ?? []), seed])
  }
  const [own, other] = [...shards.values()]
  return { mates: own!.slice(0, 2), foreign: other![0]! }
}

const member = ({ host }: TestNode) => {
  const groups: string[] = []
  const verdicts: VerdictDigest[] = []
  const shard = createShardMember(host)
  shard.join('groups', { deliver: ({ signer }) => groups.push(signer) })
  shard.join('verdicts', { deliver: (digest) => verdicts.push(digest) })
  return { shard, groups, verdicts }
}
const sealed = ({ key }: TestNode, runId: string, nonce: string) =>
  sealGroupAnnouncement(key, runId, { ...announcement, nonce: id16(nonce) }, null)

test('a node without a connection to the coordinator reaches it through its shard, and its verdict comes back', async ({
  swarm,
}) => {
  const { runId } = swarm
  const { mates, foreign } = await seedsIn(runId)
  const { clock, over } = changingClock()
  const coordinator = await swarm.node(1, true, clock)
  const [near, far, other] = await Promise.all(
    [mates[0]!, mates[1]!, foreign].map((seed) => swarm.node(seed, true, clock)),
  )
  assert.ok(near && far && other)
  for (const node of [near, other]) await connect(node, coordinator)
  await connect(far, near)
  await connect(far, other)
  const received: ReceivedGroup[] = []
  const hub = createShardHub(coordinator.host, { deliver: (group) => void received.push(group) })
  hub.follow(SHARDS)
  const [ofNear, ofFar, ofOther] = [near, far, other].map(member)
  for (const { shard } of [ofNear!, ofFar!, ofOther!]) shard.follow({ round: 1, shards: SHARDS })
  over()
  const { groups } = topicsOf(runId, shardOf(runId, far.host.peerId, SHARDS))
  await eventually('the shard is known', () => far.host.gossip.listeners({ topic: groups }).includes(near.host.peerId))
  await eventually('the hub is known', () => near.host.gossip.listeners({ topic: groups }).includes(runId))
  let nonce = 0
  await eventually('its group arrives', async () => {
    nonce += 1
    await ofFar!.shard.publish(await sealed(far, runId, `${nonce}`))
    return received.some(({ signer }) => signer === far.host.peerId)
  })
  const digest = { peerId: far.host.peerId, fromCursor: 0, verdicts: [], totalCredit: 0, issuedAtMs: 0 }
  await eventually('its verdict arrives', async () => {
    await hub.publishVerdicts(far.host.peerId, await sealVerdictDigest(coordinator.key, runId, digest))
    return ofFar!.verdicts.length > 0
  })
  await eventually('a node of the same shard passed it on', () => ofNear!.groups.includes(far.host.peerId))
  assert.not(far.host.isConnected(runId))
  // A later message of its own shard would have come behind one of another shard.
  const own = shardOf(runId, other.host.peerId, SHARDS)
  await eventually('the other shard works', async () => {
    await hub.publishVerdicts(
      other.host.peerId,
      await sealVerdictDigest(coordinator.key, runId, { ...digest, peerId: other.host.peerId }),
    )
    return ofOther!.verdicts.length > 0
  })
  assert.is.not(own.shard, shardOf(runId, far.host.peerId, SHARDS).shard)
  assert.equal(ofOther!.groups, [])
  assert.ok(ofOther!.verdicts.every(({ peerId }) => peerId === other.host.peerId))
  for (const { shard } of [ofNear!, ofFar!, ofOther!]) shard.close()
  hub.close()
})

test('gossip ignores a peer that subscribes to the shard of others', async ({ swarm }) => {
  const { runId } = swarm
  const { mates, foreign } = await seedsIn(runId)
  const coordinator = await swarm.node(1)
  const [honest, hostile] = await Promise.all([swarm.node(mates[0]!), swarm.node(foreign)])
  const received: string[] = []
  const hub = createShardHub(coordinator.host, { deliver: ({ signer }) => void received.push(signer) })
  hub.follow(SHARDS)
  for (const node of [honest, hostile]) await connect(node, coordinator)
  const topic = topicsOf(runId, shardOf(runId, honest.host.peerId, SHARDS)).groups
  const channel: Channel<Uint8Array> = { topic, maxBytes: 1 << 16, parse: async (data) => data }
  hostile.host.gossip.join(channel, { deliver: () => undefined })
  await eventually('it is refused', () =>
    coordinator.refusals.some(({ peer, protocol }) => peer === hostile.host.peerId && protocol === topic),
  )
  const { shard, groups } = member(honest)
  shard.follow({ round: 1, shards: SHARDS })
  await eventually('the honest node is a listener', () =>
    coordinator.host.gossip.listeners({ topic }).includes(honest.host.peerId),
  )
  await hostile.host.gossip.publish(channel, await sealed(hostile, runId, 'hostile'))
  let nonce = 0
  await eventually('the honest group arrives', async () => {
    nonce += 1
    await shard.publish(await sealed(honest, runId, `${nonce}`))
    return received.includes(honest.host.peerId)
  })
  assert.not(received.includes(hostile.host.peerId))
  assert.equal(groups, [])
  shard.close()
  hub.close()
})

test.run()
