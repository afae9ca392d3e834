import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import {
  type GroupAnnouncement,
  LIMITS,
  type PolicyAnnouncement,
  refusal,
  SwarmRefusal,
  sealGroupAnnouncement,
  sealPolicyAnnouncement,
  sha256,
  topicsOf,
} from '../../proto/index.js'
import { type Channel, channelsOf, createAnnouncementFilter, type ReceivedGroup } from '../../swarm/index.js'
import { hash, announcement as sampleGroup } from '../support/proto-samples.js'
import { connect, createTestSwarm, eventually, noise, type TestNode, type TestSwarm } from '../support/swarm-nodes.js'

const test = suite<{ swarm: TestSwarm; coordinator: TestNode; ann: TestNode; ben: TestNode }>('gossip')

/** Ann and Ben only dial, so the coordinator has checked every message that reaches Ben from Ann. */
test.before.each(async (context) => {
  context.swarm = await createTestSwarm()
  context.coordinator = await context.swarm.node(1)
  context.ann = await context.swarm.node(2, false)
  context.ben = await context.swarm.node(3, false)
  await connect(context.ann, context.coordinator)
  await connect(context.ben, context.coordinator)
})
test.after.each((context) => context.swarm.close())

const news = (version: number): PolicyAnnouncement => ({
  manifestId: hash(`manifest ${version}`),
  manifestSizeBytes: 5000,
  round: version,
  version,
  policyId: hash('policy'),
  expiresAtMs: 4_000_000_000_000,
  capacity: 2,
  waiting: 3,
  providers: [],
  shards: 1,
})
const group = (nonce: string): GroupAnnouncement => ({ ...sampleGroup, nonce: hash(nonce).slice(0, 32) })

/** Sends bytes without the checks of an honest sender. */
const unchecked = (topic: string): Channel<unknown> => ({ topic, maxBytes: 3_000_000, parse: async (data) => data })

test('a message of the coordinator reaches nodes that only dial', async ({ swarm, coordinator, ann, ben }) => {
  const { policy } = channelsOf(swarm.runId)
  const understood: string[] = []
  for (const [name, node] of Object.entries({ ann, ben })) {
    node.host.gossip.join(policy, { deliver: ({ version }, from) => understood.push(`${name} ${version} ${from}`) })
  }
  coordinator.host.gossip.join(policy, { deliver: () => {} })
  await eventually('both are subscribed', () => coordinator.host.gossip.listeners(policy).length === 2)
  const sealed = await sealPolicyAnnouncement(coordinator.key, swarm.runId, news(4))
  assert.is(await coordinator.host.gossip.publish(policy, sealed), 2)
  await eventually('both have received it', () => understood.length === 2)
  assert.equal(understood.sort(), [`ann 4 ${swarm.runId}`, `ben 4 ${swarm.runId}`])
})

/**
 * Lets Ann send messages on the topic of groups, and returns the coordinator's refusals and the messages that reach Ben. A valid message
 * after the others is the mark: earlier messages on the same connection have arrived before it. Signatures are checked concurrently, so
 * the mark may overtake valid messages.
 * @param good  number of messages that must reach Ben
 */
async function send(
  context: { swarm: TestSwarm; coordinator: TestNode; ann: TestNode; ben: TestNode },
  topic: 'groups' | 'policy',
  messages: Uint8Array[],
  good: number,
) {
  const { swarm, coordinator, ann, ben } = context
  const channel: Channel<unknown> = channelsOf(swarm.runId)[topic]
  const delivered: unknown[] = []
  /** Ben accepts everything, so only the coordinator's check can keep a message from him. */
  const understood: Uint8Array[] = []
  coordinator.host.gossip.join(channel, { deliver: (value) => delivered.push(value) })
  ben.host.gossip.join(unchecked(channel.topic), { deliver: (data) => understood.push(data as Uint8Array) })
  await eventually('the coordinator is subscribed', () => ann.host.gossip.listeners(channel).length === 1)
  await eventually('Ben is in the mesh', () => coordinator.host.gossip.mesh(channel).length === 1)
  for (const message of messages) await ann.host.gossip.publish(unchecked(channel.topic), message)
  await eventually('every message is checked', () => delivered.length + coordinator.refusals.length >= messages.length)
  const mark = await sealPolicyAnnouncement(coordinator.key, swarm.runId, news(99))
  await coordinator.host.gossip.publish(unchecked(channel.topic), mark)
  const isMark = (data: Uint8Array) => sha256(data) === sha256(mark)
  await eventually('the mark has arrived', () => understood.some(isMark) && understood.length > good)
  return {
    delivered,
    forwarded: understood.filter((data) => !isMark(data)),
    codes: coordinator.refusals.map((event) => `${event.effect} ${event.code}`),
  }
}

test('random, unsigned and oversize announcements, and those of another run, are rejected and not forwarded', async (context) => {
  const { swarm, ann } = context
  const sealed = await sealGroupAnnouncement(ann.key, swarm.runId, group('a'), null)
  const bent = Uint8Array.from(sealed)
  bent[bent.length - 10] = (bent[bent.length - 10] ?? 0) ^ 1
  const seen = await send(
    context,
    'groups',
    [
      new Uint8Array([1, 2, 3]),
      bent,
      new Uint8Array(LIMITS.announcementBytes.value + 1),
      await sealGroupAnnouncement(ann.key, 'another-run', group('b'), null),
    ],
    0,
  )
  assert.equal(seen.codes.sort(), ['reject bad_signature', 'reject malformed', 'reject too_large', 'reject wrong_run'])
  assert.equal(seen.forwarded, [])
  assert.equal(seen.delivered, [])
})

test('a valid policy announcement that the coordinator has not signed is rejected', async (context) => {
  const seen = await send(
    context,
    'policy',
    [await sealPolicyAnnouncement(context.ann.key, context.swarm.runId, news(9))],
    0,
  )
  assert.equal(seen.codes, ['reject wrong_signer'])
  assert.equal(seen.forwarded, [])
})

test('a group with its body is forwarded with its author’s signature', async (context) => {
  const { swarm, ann } = context
  const body = new Uint8Array(50_000).fill(3)
  const about = { ...group('c'), bodySha256: sha256(body), bodySizeBytes: body.length }
  const sealed = await sealGroupAnnouncement(ann.key, swarm.runId, about, body)
  const seen = await send(context, 'groups', [sealed], 1)
  assert.is(seen.delivered.length, 1)
  const received = seen.delivered[0] as ReceivedGroup
  assert.is(received.signer, ann.host.peerId)
  assert.is(received.body && sha256(received.body), about.bodySha256)
  assert.equal(
    [received.sealed, ...seen.forwarded].map((bytes) => sha256(bytes)),
    [sha256(sealed), sha256(sealed)],
  )
})

test('a replayed nonce and a flood are ignored without lowering the sender’s score', async ({
  swarm,
  coordinator,
  ann,
}) => {
  const { groups } = channelsOf(swarm.runId)
  const gate = createAnnouncementFilter({ elapsedMs: () => 1000 }, 8)
  let delivered = 0
  coordinator.host.gossip.join(groups, {
    check: gate.check,
    deliver: () => {
      delivered += 1
    },
  })
  await eventually('the coordinator is subscribed', () => ann.host.gossip.listeners(groups).length === 1)
  const names = ['a', 'a', 'b', 'c', 'd']
  for (const [i, name] of names.entries()) {
    await ann.host.gossip.publish(groups, await sealGroupAnnouncement(ann.key, swarm.runId, group(name), null))
    // One by one, because signatures are checked concurrently and the last message could be first.
    await eventually('it is checked', () => delivered + coordinator.refusals.length === i + 1)
  }
  assert.is(delivered, 2)
  assert.equal(
    coordinator.refusals.map((event) => `${event.effect} ${event.code}`),
    ['ignore replayed', 'ignore rate_limited', 'ignore rate_limited'],
  )
})

test('forwarded announcements are limited in total, for any number of keys', () => {
  const gate = createAnnouncementFilter({ elapsedMs: () => 1000 }, 8, 16)
  const codeOf = (signer: string, nonce: string): string | null => {
    try {
      gate.check({ announcement: group(nonce), signer, body: null, sealed: new Uint8Array() })
      return null
    } catch (why) {
      return (why as SwarmRefusal).code
    }
  }
  const codes = ['ann', 'ben', 'cleo', 'dora', 'emil'].map((signer) => codeOf(signer, signer))
  assert.equal(codes, [null, null, null, null, 'rate_limited'])
})

test('an unexpected error in a check does not lower the sender’s score or stop gossip', async ({
  swarm,
  coordinator,
  ann,
}) => {
  const { groups } = channelsOf(swarm.runId)
  let calls = 0
  const delivered: ReceivedGroup[] = []
  coordinator.host.gossip.join(groups, {
    check: () => {
      calls += 1
      if (calls === 1) throw new TypeError('a bug of ours')
      if (calls === 2) throw refusal('unknown_lease')
    },
    deliver: (value) => delivered.push(value),
  })
  await eventually('the coordinator is subscribed', () => ann.host.gossip.listeners(groups).length === 1)
  for (const name of ['a', 'b', 'c']) {
    await ann.host.gossip.publish(groups, await sealGroupAnnouncement(ann.key, swarm.runId, group(name), null))
  }
  await eventually('the third arrives', () => delivered.length === 1)
  assert.equal(
    coordinator.refusals.map((event) => event.code),
    ['unknown_lease'],
  )
})

test('after hundreds of hostile messages of every kind an honest message still arrives', async (context) => {
  const { swarm, coordinator, ann, ben } = context
  const { groups } = channelsOf(swarm.runId)
  const gate = createAnnouncementFilter({ elapsedMs: () => 1000 })
  const understood: string[] = []
  coordinator.host.gossip.join(groups, { check: gate.check, deliver: ({ signer }) => understood.push(signer) })
  await eventually('the coordinator is subscribed', () => ann.host.gossip.listeners(groups).length === 1)
  await eventually('Ben knows the subscriber', () => ben.host.gossip.listeners(groups).length === 1)
  const sealed = await sealGroupAnnouncement(ann.key, swarm.runId, group('a'), null)
  for (let index = 0; index < 300; index += 1) {
    const bent = Uint8Array.from(sealed)
    const at = (index * 37) % bent.length
    bent[at] = (bent[at] ?? 0) ^ (1 + (index % 255))
    await ann.host.gossip.publish(unchecked(groups.topic), index % 3 === 0 ? noise(index + 1, index) : bent)
  }
  await ben.host.gossip.publish(groups, await sealGroupAnnouncement(ben.key, swarm.runId, group('b'), null))
  await eventually('the message of Ben arrives', () => understood.length > 0)
  assert.equal(understood, [ben.host.peerId])
  assert.ok(coordinator.refusals.every((event) => event.peer === ann.host.peerId && event.effect === 'reject'))
})

test('an oversize message is refused by its sender, and a message without subscribers is not sent', async ({
  swarm,
  ann,
}) => {
  const { groups, policy } = channelsOf(swarm.runId)
  try {
    await ann.host.gossip.publish(groups, new Uint8Array(LIMITS.announcementBytes.value + 1))
    assert.unreachable()
  } catch (why) {
    assert.instance(why, SwarmRefusal)
  }
  assert.is(await ann.host.gossip.publish(policy, new Uint8Array(10)), 0)
  assert.is(policy.topic, topicsOf(swarm.runId).policy)
})

test.run()
