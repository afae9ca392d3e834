import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import {
  encodeFrame,
  groupRequest,
  LIMITS,
  leaseRequest,
  openVerdictDigest,
  PROTOCOLS,
  refusal,
  sealGroupAnnouncement,
  sealVerdictDigest,
  sha256,
} from '../../proto/index.js'
import {
  fetchGroupBody,
  keepConnected,
  offerGroup,
  type ReceivedGroup,
  requestLeases,
  requestVerdicts,
  serveGroups,
  serveLeases,
  serveVerdicts,
} from '../../swarm/index.js'
import { announcement, ask, digest, leases } from '../support/proto-samples.js'
import {
  connect,
  createTestSwarm,
  eventually,
  failure,
  noise,
  soon,
  type TestNode,
  type TestSwarm,
} from '../support/swarm-nodes.js'

const test = suite<{ swarm: TestSwarm; coordinator: TestNode; ann: TestNode }>('exchanges')

test.before.each(async (context) => {
  context.swarm = await createTestSwarm()
  context.coordinator = await context.swarm.node(1)
  context.ann = await context.swarm.node(2, false)
  await connect(context.ann, context.coordinator)
})
test.after.each((context) => context.swarm.close())

/** Opens a stream and sends raw bytes, as an attacker would. */
async function raw(from: TestNode, to: TestNode, protocol: string, bytes: Uint8Array, end = true) {
  const stream = await from.host.openStream(to.host.peerId, protocol, { signal: soon() })
  stream.send(bytes)
  if (end) await stream.close()
  return stream
}

test('the coordinator knows a node that asks for leases by the key of its connection', async ({ coordinator, ann }) => {
  const asked: unknown[] = []
  await serveLeases(coordinator.host, async (request, { peer }) => {
    asked.push([peer, request])
    return leases
  })
  const response = await requestLeases(ann.host, coordinator.host.peerId, ask, soon())
  assert.equal(asked, [[ann.host.peerId, ask]])
  assert.equal({ ...response, leases: [] }, { ...leases, leases: [] })
  assert.is(sha256(response.leases[0]?.task ?? new Uint8Array()), sha256(leases.leases[0]?.task ?? new Uint8Array()))
})

test('the largest lease response arrives, although it exceeds the stream buffer', async ({ coordinator, ann }) => {
  const task = noise(LIMITS.taskBytes.value)
  const lease = leases.leases[0]
  assert.ok(lease)
  const full = { ...leases, leases: new Array(LIMITS.leasesPerRequest.value).fill({ ...lease, task }) }
  await serveLeases(coordinator.host, async () => full)
  const response = await requestLeases(ann.host, coordinator.host.peerId, ask, soon())
  assert.equal(new Set(response.leases.map((one) => sha256(one.task))), new Set([sha256(task)]))
})

test('a node receives a refusal with code and detail, and a bug of the server as internal', async ({
  coordinator,
  ann,
}) => {
  let calls = 0
  await serveLeases(coordinator.host, async () => {
    calls += 1
    if (calls === 1) throw refusal('quarantined', 'for one hour\u0007')
    throw new TypeError('a bug of ours')
  })
  const first = await failure(requestLeases(ann.host, coordinator.host.peerId, ask, soon()))
  assert.equal([first.code, first.refusal, first.detail], ['refused', 'quarantined', 'quarantined for one hour'])
  const second = await failure(requestLeases(ann.host, coordinator.host.peerId, ask, soon()))
  assert.is(second.refusal, 'internal')
  assert.equal(
    coordinator.refusals.map((event) => event.code),
    ['quarantined'],
  )
})

test('hostile requests are refused with a code and reported, and the server keeps working', async ({
  coordinator,
  ann,
}) => {
  await serveLeases(coordinator.host, async () => leases)
  const good = leaseRequest.encode(ask)
  const cases: [string, Uint8Array][] = [
    ['malformed', encodeFrame(new Uint8Array([255, 255, 255]))],
    ['malformed', encodeFrame(new Uint8Array())],
    ['malformed', encodeFrame(good.subarray(0, good.length - 1))],
    ['too_large', Uint8Array.from([0, 0, 0x10, 1])],
    ['too_large', Uint8Array.from([255, 255, 255, 255, 1, 2, 3])],
  ]
  for (const [code, bytes] of cases) {
    const before = coordinator.refusals.length
    await raw(ann, coordinator, PROTOCOLS.lease, bytes)
    await eventually(code, () => coordinator.refusals.length === before + 1)
    assert.is(coordinator.refusals.at(-1)?.code, code)
    assert.is(coordinator.refusals.at(-1)?.peer, ann.host.peerId)
  }
  // Streams that end early or are reset are not refusals.
  await raw(ann, coordinator, PROTOCOLS.lease, encodeFrame(good).subarray(0, 9))
  const reset = await raw(ann, coordinator, PROTOCOLS.lease, encodeFrame(good).subarray(0, 9), false)
  reset.abort(new Error('gone'))
  assert.is((await requestLeases(ann.host, coordinator.host.peerId, ask, soon())).leases.length, 1)
  assert.is(coordinator.refusals.length, cases.length)
})

test('a node that asks too often is refused, and the open streams of a node are limited', async ({
  swarm,
  coordinator,
  ann,
}) => {
  await serveLeases(coordinator.host, async () => leases, { requestsPerMinute: 1 })
  assert.is((await requestLeases(ann.host, coordinator.host.peerId, ask, soon())).leases.length, 1)
  const why = await failure(requestLeases(ann.host, coordinator.host.peerId, ask, soon()))
  assert.is(why.refusal, 'rate_limited')

  const mallory = await swarm.node(9, false)
  await connect(mallory, coordinator)
  const held = LIMITS.inboundStreamsPerPeer.value
  const streams = await Promise.allSettled(
    Array.from({ length: held + 4 }, () => raw(mallory, coordinator, PROTOCOLS.lease, new Uint8Array([0]), false)),
  )
  assert.ok(streams.filter((stream) => stream.status === 'fulfilled').length >= held)
  const ben = await swarm.node(3, false)
  await connect(ben, coordinator)
  assert.is((await requestLeases(ben.host, coordinator.host.peerId, ask, soon())).leases.length, 1)
})

test('keys that open all streams and send nothing do not exclude other nodes', async ({ swarm, coordinator, ann }) => {
  let open = 0
  const never = Promise.withResolvers<never>()
  await serveLeases(
    coordinator.host,
    async (_, { peer }) => {
      if (peer === ann.host.peerId) return leases
      open += 1
      return never.promise
    },
    { timeoutMs: 600_000 },
  )
  const { inboundStreams, inboundStreamsPerPeer } = LIMITS
  // The server never answers these requests, so they keep their streams at any speed of the machine.
  for (let seed = 10; open < inboundStreams.value; seed++) {
    const mallory = await swarm.node(seed, false)
    await connect(mallory, coordinator)
    for (let i = 0; i < inboundStreamsPerPeer.value; i++)
      requestLeases(mallory.host, coordinator.host.peerId, ask, soon(), 120_000).catch(() => undefined)
    const expected = (seed - 9) * inboundStreamsPerPeer.value
    await eventually('the streams are open', () => open === expected)
  }
  assert.is((await requestLeases(ann.host, coordinator.host.peerId, ask, soon())).leases.length, 1)
})

test('a client stops waiting for a silent server at its time limit', async ({ coordinator, ann }) => {
  await coordinator.host.handle(PROTOCOLS.lease, () => {})
  const why = await failure(requestLeases(ann.host, coordinator.host.peerId, ask, soon(), 300))
  assert.is(why.code, 'timeout')
})

test('a node receives signed verdicts, and only its own', async ({ swarm, coordinator, ann }) => {
  await serveVerdicts(coordinator.host, async ({ cursor }, { peer }) => ({
    digest: await sealVerdictDigest(coordinator.key, swarm.runId, { ...digest, peerId: peer, fromCursor: cursor }),
    more: false,
  }))
  const page = await requestVerdicts(ann.host, coordinator.host.peerId, { cursor: 12, max: 5 }, soon())
  const opened = await openVerdictDigest(page.digest, swarm.runId)
  assert.equal(opened, { ...digest, peerId: ann.host.peerId, fromCursor: 12 })
})

test('the coordinator fetches a body of 1 MiB from a node that only dials', async ({ coordinator, ann }) => {
  const body = noise(LIMITS.groupBodyBytes.value)
  const want = { bodySha256: sha256(body), bodySizeBytes: body.length }
  await serveGroups(ann.host, { lookup: async (hash) => (hash === want.bodySha256 ? body : null) })
  assert.is(ann.host.addresses().length, 0)
  const pulled = await fetchGroupBody(coordinator.host, [ann.host.peerId], want, soon())
  assert.is(sha256(pulled), want.bodySha256)
})

test('a body is fetched from the next holder if one lacks it, sends false bytes or is offline', async ({
  swarm,
  coordinator,
  ann,
}) => {
  const body = noise(20_000)
  const want = { bodySha256: sha256(body), bodySizeBytes: body.length }
  const [liar, empty, gone] = [await swarm.node(4, false), await swarm.node(5, false), await swarm.node(6, false)]
  await connect(liar, coordinator)
  await connect(empty, coordinator)
  await serveGroups(liar.host, { lookup: async () => noise(20_000, 2) })
  await serveGroups(empty.host, { lookup: async () => null })
  await serveGroups(ann.host, { lookup: async () => body })
  const holders = [gone, liar, empty, ann].map((node) => node.host.peerId)
  assert.is(sha256(await fetchGroupBody(coordinator.host, holders, want, soon())), want.bodySha256)
  assert.equal(
    coordinator.refusals.map(({ peer, code }) => [peer, code]),
    [[liar.host.peerId, 'body_mismatch']],
  )
  const why = await failure(fetchGroupBody(coordinator.host, holders.slice(0, 3), want, soon()))
  assert.is(why.code, 'no_source')
})

test('a directly offered announcement is checked like one from gossip, and acknowledged', async ({
  swarm,
  coordinator,
  ann,
}) => {
  const taken: [ReceivedGroup, string][] = []
  await serveGroups(coordinator.host, {
    lookup: async () => null,
    onOffer: async (group, from) => {
      if (taken.length > 0) throw refusal('unknown_lease', group.announcement.leaseId)
      taken.push([group, from])
    },
  })
  const sealed = await sealGroupAnnouncement(ann.key, swarm.runId, announcement, null)
  await offerGroup(ann.host, swarm.runId, sealed, soon())
  assert.is(taken.length, 1)
  assert.equal(taken[0]?.[0].announcement, announcement)
  assert.is(taken[0]?.[1], ann.host.peerId)
  assert.is((await failure(offerGroup(ann.host, swarm.runId, sealed, soon()))).refusal, 'unknown_lease')
  const bent = Uint8Array.from(sealed)
  bent[60] = (bent[60] ?? 0) ^ 1
  assert.is((await failure(offerGroup(ann.host, swarm.runId, bent, soon()))).code, 'refused')
  assert.is(taken.length, 1)
})

test('a reply above its size limit is not read', async ({ coordinator, ann }) => {
  await ann.host.handle(PROTOCOLS.group, (stream) => {
    stream.send(Uint8Array.from([0x7f, 255, 255, 255]))
    void stream.close()
  })
  const stream = fetchGroupBody(
    coordinator.host,
    [ann.host.peerId],
    { bodySha256: sha256(noise(8)), bodySizeBytes: 8 },
    soon(),
  )
  const why = await failure(stream)
  assert.match(String(why.cause), /too_large/)
  assert.ok(groupRequest.maxBytes > LIMITS.announcementBytes.value)
})

test('a lost connection is dialled again until the coordinator is back', async ({ swarm, coordinator }) => {
  const ben = await swarm.node(3, false)
  const [address] = coordinator.host.addresses()
  assert.ok(address)
  const kept = keepConnected(ben.host, { addresses: () => [address], peerId: coordinator.host.peerId }, () => 0)
  await kept.connected(soon())
  let losses = 0
  ben.host.onPeer(({ connected }) => {
    if (!connected) losses += 1
  })
  await eventually('the coordinator knows Ben', () => coordinator.host.isConnected(ben.host.peerId))
  await coordinator.host.hangUp(ben.host.peerId)
  await eventually('the connection is lost', () => losses === 1)
  await kept.connected(soon())
  assert.ok(ben.host.isConnected(coordinator.host.peerId))
  await kept.close()
})

test.run()
