import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { policyIdOf, sealAddressNotice, sealManifest } from '../../proto/index.js'
import {
  channelsOf,
  createBlobStore,
  createSnapshotExchange,
  type KnownPeer,
  keepConnected,
  keepNeighbours,
  openAddressNotices,
  type SealedNotice,
  withoutPeer,
} from '../../swarm/index.js'
import { PATIENCE_MS } from '../support/patience.js'
import { flightManifest, flightPolicy } from '../support/proto-samples.js'
import {
  connect,
  createTestSwarm,
  eventually,
  noise,
  soon,
  type TestNode,
  type TestSwarm,
} from '../support/swarm-nodes.js'

const test = suite<{ swarm: TestSwarm }>('mesh')

test.before.each(async (context) => {
  context.swarm = await createTestSwarm()
})
test.after.each((context) => context.swarm.close())

const HOSTS = 20

const listen = (swarm: TestSwarm, { host }: TestNode): void => {
  const { policy, groups, verdicts } = channelsOf(swarm.runId)
  host.gossip.join(policy, { deliver: () => undefined })
  host.gossip.join(groups, { deliver: () => undefined })
  host.gossip.join(verdicts, { deliver: () => undefined })
}

/** Returns the number of neighbours of each host, without the coordinator. */
const among = (swarm: TestSwarm, nodes: readonly TestNode[]): number[] =>
  nodes.map(
    ({ host }) => new Set(host.connections().map(({ peer }) => peer)).size - Number(host.isConnected(swarm.runId)),
  )

test('hosts that know only the coordinator connect to each other', async ({ swarm }) => {
  const coordinator = await swarm.node(1)
  const nodes = await Promise.all(Array.from({ length: HOSTS }, (_, i) => swarm.node(i + 2)))
  for (const node of nodes) {
    await connect(node, coordinator)
    const { peerId } = node.host
    await eventually(
      'it has said where it is',
      async () => (await coordinator.host.claimedAddresses(peerId)).length > 0,
    )
  }
  assert.is(Math.max(...among(swarm, nodes)), 0)
  // More subscribers than fit the coordinator's mesh: it prunes some, and names other peers to them.
  for (const node of [coordinator, ...nodes]) listen(swarm, node)
  const total = (): number => among(swarm, nodes).reduce((sum, count) => sum + count, 0)
  await eventually('three each', () => total() >= 3 * HOSTS)
})

const MIB = 2 ** 20
const CHUNKS = 12
const VOLUNTEERS = 6
const NEIGHBOURS = 4

test('volunteers that fetch an adapter at the same time cost the coordinator fewer than three uploads', async ({
  swarm,
}) => {
  const coordinator = await swarm.node(1)
  const adapter = noise(CHUNKS * MIB)
  let uploaded = 0
  const store = await createBlobStore(await swarm.folder())
  const counted: typeof store = {
    ...store,
    async readChunk(...chunk) {
      uploaded += 1
      return store.readChunk(...chunk)
    },
  }
  const blob = await store.describe(await store.put(adapter), 'adapter')
  const policy = {
    ...flightPolicy,
    adapter: { ...flightPolicy.adapter!, sha256: blob.sha256, sizeBytes: adapter.length },
  }
  const manifest = { ...flightManifest, policy, policyId: policyIdOf(policy), blobs: [blob] }
  const served = await createSnapshotExchange(coordinator.host, { store: counted })
  served.offer(await sealManifest(coordinator.key, swarm.runId, manifest))

  const nodes = await Promise.all(Array.from({ length: VOLUNTEERS }, (_, i) => swarm.node(i + 2)))
  for (const [i, node] of nodes.entries()) {
    await connect(node, coordinator)
    for (let step = 1; step <= NEIGHBOURS / 2; step++) await connect(node, nodes[(i + step) % VOLUNTEERS]!)
  }
  const exchanges = await Promise.all(
    nodes.map(async ({ host }) => createSnapshotExchange(host, { store: await createBlobStore(await swarm.folder()) })),
  )
  await Promise.all(
    exchanges.map(async (exchange, i) => {
      const others = nodes[i]!.host.connections().map(({ peer }) => peer)
      await exchange.fetchManifest([swarm.runId], 'newest', soon())
      await exchange.fetchBlob(blob, others, { signal: soon(), origin: swarm.runId, originPatienceMs: PATIENCE_MS })
    }),
  )
  assert.ok(uploaded >= CHUNKS && uploaded < 3 * CHUNKS, `${uploaded} chunks of ${CHUNKS}`)
})

test('a restarted node finds its earlier neighbours without the coordinator', async ({ swarm }) => {
  const [ann, ben] = [await swarm.node(2), await swarm.node(3)]
  let kept: readonly KnownPeer[] = []
  const keep = async (peers: readonly KnownPeer[]): Promise<void> => {
    kept = peers
  }
  const random = (): number => 0
  const first = keepNeighbours({ host: ann.host, known: [], keep, random })
  first.suggest([{ peerId: ben.host.peerId, addresses: ben.host.addresses().map(withoutPeer) }], true)
  await eventually('the node is reached', () => kept.length === 1)
  assert.equal(first.connected(), [ben.host.peerId])
  await first.close()
  await ann.host.hangUp(ben.host.peerId)
  await eventually('they are disconnected', () => !ben.host.isConnected(ann.host.peerId))

  const long = { ...kept[0]!, peerId: swarm.runId, reachedAtMs: 0 }
  const second = keepNeighbours({ host: ann.host, known: [long, ...kept], keep, random })
  await eventually('the node is found again', () => ann.host.isConnected(ben.host.peerId))
  await eventually('the node is saved', () => kept.every(({ peerId }) => peerId === ben.host.peerId))
  await second.close()
})

test('nodes pass on the signed address notice of a coordinator that has moved', async ({ swarm }) => {
  const coordinator = await swarm.node(1)
  const [ann, ben] = [await swarm.node(2), await swarm.node(3)]
  const gone = `/ip4/127.0.0.1/tcp/1/p2p/${swarm.runId}`
  const notice = {
    number: 7,
    addresses: coordinator.host.addresses().map(withoutPeer),
    issuedAtMs: Date.now(),
    expiresAtMs: Date.now() + 3_600_000,
    message: '',
  }
  const sealed = await sealAddressNotice(coordinator.key, swarm.runId, notice)
  const news: SealedNotice[] = []
  const known = await openAddressNotices({ host: ann.host, known: sealed, onNewer: () => undefined })
  const hearing = await openAddressNotices({
    host: ben.host,
    known: null,
    onNewer: (next) => {
      news.push(next)
      kept.retry()
    },
  })
  const kept = keepConnected(ben.host, {
    peerId: swarm.runId,
    addresses: () => [gone, ...news.flatMap((next) => next.notice.addresses).map((at) => `${at}/p2p/${swarm.runId}`)],
  })
  const asking = await createSnapshotExchange(ben.host, { store: await createBlobStore(await swarm.folder()) })
  await createSnapshotExchange(ann.host, {
    store: await createBlobStore(await swarm.folder()),
    notice: () => known.newest()?.sealed ?? null,
  })
  await eventually('the coordinator is not at its old address', () => kept.problem !== null)
  await connect(ben, ann)

  const passedOn = await asking.fetchNotice(ann.host.peerId, soon())
  assert.ok(await hearing.take(passedOn!))
  assert.not.ok(await hearing.take(passedOn!), 'it is no news twice')
  await kept.connected(soon())
  await eventually('Ben is connected', () => coordinator.host.isConnected(ben.host.peerId))

  const later = await sealAddressNotice(coordinator.key, swarm.runId, { ...notice, number: 8 })
  await known.take(later)
  await eventually('gossip has the notice', async () => {
    await known.publish()
    return hearing.newest()?.notice.number === 8
  })
  const older = await sealAddressNotice(coordinator.key, swarm.runId, { ...notice, number: 6 })
  assert.not.ok(await hearing.take(older))
  const forged = await sealAddressNotice(ann.key, swarm.runId, { ...notice, number: 9 })
  assert.is(await hearing.take(forged).catch(({ code }) => code), 'wrong_signer')
  const over = await sealAddressNotice(coordinator.key, swarm.runId, { ...notice, number: 9, expiresAtMs: 1 })
  assert.is(await hearing.take(over).catch(({ code }) => code), 'expired')
  await kept.close()
})

test.run()
