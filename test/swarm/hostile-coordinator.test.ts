import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { openOutbox } from '../../node/delivery/outbox.js'
import { openNodeStore } from '../../node/store/store.js'
import { encodeFrame, PROTOCOLS, refusal, sealGroupAnnouncement, sealVerdictDigest } from '../../proto/index.js'
import { createShardMember, requestLeases, serveGroups, serveVerdicts } from '../../swarm/index.js'
import { acceptedVerdict, announcement, ask, hash, id16 } from '../support/proto-samples.js'
import { connect, createTestSwarm, eventually, soon, type TestSwarm } from '../support/swarm-nodes.js'

let swarm: TestSwarm
test.before.each(async () => {
  swarm = await createTestSwarm()
})
test.after.each(() => swarm.close())

test('a node stops asking a coordinator that always promises more verdicts', async () => {
  const [coordinator, volunteer] = [await swarm.node(1), await swarm.node(2)]
  await connect(volunteer, coordinator)
  /** The node's requests, in order. In each turn it asks for verdicts, then offers the waiting group. */
  const requests: string[] = []
  await serveGroups(coordinator.host, {
    lookup: async () => null,
    onOffer: async () => {
      requests.push('offer')
      throw refusal('overloaded')
    },
  })
  await serveVerdicts(coordinator.host, async ({ cursor }, { peer }) => {
    requests.push('verdicts')
    const nothing = { peerId: peer, fromCursor: cursor, verdicts: [], totalCredit: 0, issuedAtMs: 0 }
    return { digest: await sealVerdictDigest(coordinator.key, swarm.runId, nothing), more: requests.length < 50 }
  })
  const store = await openNodeStore(await swarm.folder(), swarm.runId)
  const sealed = await sealGroupAnnouncement(volunteer.key, swarm.runId, announcement, null)
  const { leaseId, bodySha256 } = announcement
  await store.addPending({ leaseId, bodySha256, sealed, body: new Uint8Array(3) })
  const shard = createShardMember(volunteer.host)
  const parts = { host: volunteer.host, coordinator: swarm.runId, store, onVerdict: () => {}, onDropped: () => {} }
  const outbox = await openOutbox({ ...parts, shard })
  try {
    await eventually('the second turn', () => requests.length >= 4)
    assert.equal(requests.slice(0, 4), ['verdicts', 'offer', 'verdicts', 'offer'])
  } finally {
    await outbox.close()
    await store.close()
  }
})

test('invented verdicts of a coordinator do not fill the disk', async () => {
  const [coordinator, volunteer] = [await swarm.node(1), await swarm.node(2)]
  await connect(volunteer, coordinator)
  let refusedPages = 0
  let lastCursor = -1
  await serveVerdicts(coordinator.host, async ({ cursor }, { peer }) => {
    if (cursor === lastCursor) refusedPages += 1
    lastCursor = cursor
    const verdicts = Array.from({ length: 40 }, (_, i) => ({ ...acceptedVerdict, leaseId: id16(`${cursor + i}`) }))
    const page = { peerId: peer, fromCursor: cursor, verdicts, totalCredit: 0, issuedAtMs: 0 }
    return { digest: await sealVerdictDigest(coordinator.key, swarm.runId, page), more: true }
  })
  const store = await openNodeStore(await swarm.folder(), swarm.runId)
  await store.addPending({
    leaseId: id16('l'),
    bodySha256: hash('b'),
    sealed: new Uint8Array(3),
    body: new Uint8Array(3),
  })
  const outbox = await openOutbox({
    ...{ host: volunteer.host, coordinator: swarm.runId, store, onVerdict: () => {}, onDropped: () => {} },
    shard: createShardMember(volunteer.host),
    earlierVerdicts: 100,
  })
  try {
    await eventually('a page is refused', () => refusedPages > 0)
    assert.is(await store.verdictCount(), 80)
    assert.equal(outbox.waiting, [id16('l')])
  } finally {
    await outbox.close()
    await store.close()
  }
})

test('hostile bytes from a coordinator cause only an error with a code', async () => {
  const [coordinator, volunteer] = [await swarm.node(1), await swarm.node(2)]
  await connect(volunteer, coordinator)
  const huge = new Uint8Array(4).fill(0xff)
  const answers = [
    huge,
    encodeFrame(new Uint8Array(300).fill(0xff)),
    encodeFrame(new Uint8Array()),
    new Uint8Array(),
    huge.subarray(2),
  ]
  let next = 0
  await coordinator.host.handle(PROTOCOLS.lease, (stream) => {
    const answer = answers[next++]!
    if (answer.length > 0) stream.send(answer)
    void stream.close({ signal: soon() }).catch(() => undefined)
  })
  const codes: unknown[] = []
  for (const _ of answers) {
    const why: unknown = await requestLeases(volunteer.host, swarm.runId, ask, soon()).catch((error: unknown) => error)
    codes.push((why as { code?: unknown }).code)
  }
  assert.equal(codes, ['too_large', 'malformed', 'malformed', 'stream_ended', 'stream_ended'])
  assert.ok(volunteer.host.isConnected(swarm.runId))
})

test.run()
