import { randomBytes } from 'node:crypto'
import {
  encodeFrame,
  groupRequest,
  LIMITS,
  leaseRequest,
  PROTOCOLS,
  peerIdOfKey,
  type Shard,
  sealGroupAnnouncement,
  sealPolicyAnnouncement,
  sealVerdictDigest,
  sha256,
  snapshotRequest,
  type TopicNames,
  topicsOf,
  verdictRequest,
} from '../../proto/index.js'
import type { SeededRandom } from '../../servers/kernel/index.js'
import { type Channel, channelsOf, type ReceivedGroup } from '../../swarm/index.js'
import { keyOf, noise } from '../support/swarm-nodes.js'
import type { ChaosRun } from './chaos-run.js'
import { TASKS } from './script-policy.js'
import { addressOf, createSimHost } from './sim-host.js'

/** Puts bytes into gossip as they are, without the size limit that an honest sender checks. */
const unchecked = (topic: string): Channel<Uint8Array> => ({
  topic,
  maxBytes: Number.MAX_SAFE_INTEGER,
  parse: async (data) => data,
})

/** A peer that means harm: one way of doing it per call. */
export type Attack = () => Promise<unknown>

/** How long a hostile stream is left open. */
const LINGER_MS = 2000

/**
 * A hostile peer on a machine of its own, connected to the coordinator and to every volunteer.
 * @returns  everything it can do, by name
 */
export async function hostilePeer(run: ChaosRun, number: number): Promise<Record<string, Attack>> {
  const { simulated: environment, runId } = run
  const { network, directory, random } = environment
  const process = await environment.start(await environment.machine(`hostile-${number}`))
  const key = await keyOf(200 + number)
  const peerId = peerIdOfKey(key)
  const host = createSimHost({ network, directory, process, peerId, runId })
  const understood: ReceivedGroup[] = []
  const shards = [1, 2, 4].flatMap((count) =>
    Array.from({ length: count }, (_, shard): Shard => ({ shards: count, shard })),
  )
  for (const shard of shards)
    host.gossip.join(channelsOf(runId, shard).groups, { deliver: (group) => void understood.push(group) })
  const targets = [runId, ...run.peerIds]
  const topics = [...new Set(shards.flatMap((shard) => Object.values(topicsOf(runId, shard))))]
  const anyShard = (): TopicNames => topicsOf(runId, random.pick(shards))

  const send = async (target: string, protocol: string, bytes: Uint8Array): Promise<void> => {
    await host.dial(addressOf(target), host.clock.timeout(5000))
    const stream = await host.openStream(target, protocol, { signal: host.clock.timeout(5000) })
    stream.send(bytes)
    await host.clock.sleep(LINGER_MS)
    stream.abort(new Error('enough'))
  }
  const request = (protocol: string, content: Uint8Array): Promise<void> => send(runId, protocol, encodeFrame(content))
  const gossip = (topic: string, data: Uint8Array): Promise<number> => host.gossip.publish(unchecked(topic), data)
  const lease = (): string => {
    const ids = [...(run.state?.leases.keys() ?? [])]
    return ids.length === 0 || random.chance(0.2) ? hex(16) : random.pick(ids)
  }
  const announcement = () => ({
    leaseId: lease(),
    taskId: random.pick(TASKS).id,
    policyId: run.state?.current?.policyId ?? hex(32),
    rewards: [1.3, 0, 0],
    bodySha256: hex(32),
    bodySizeBytes: 1000,
    nonce: hex(16),
    tokensGenerated: 100,
  })
  const offer = (sealed: Uint8Array): Promise<void> =>
    request(PROTOCOLS.group, groupRequest.encode({ kind: 'offer', announcement: sealed }))
  const sealedByUs = (): Promise<Uint8Array> => sealGroupAnnouncement(key, runId, announcement(), null)
  const stolen = (): Uint8Array =>
    understood.length > 0 ? random.pick(understood).sealed : noise(200, random.int(1, 1e6))

  return {
    'noise on a stream': () =>
      send(random.pick(targets), random.pick(Object.values(PROTOCOLS)), noise(random.int(1, 3000), random.int(1, 1e6))),
    'a frame of noise': () =>
      send(random.pick(targets), random.pick(Object.values(PROTOCOLS)), encodeFrame(noise(200, random.int(1, 1e6)))),
    'a frame that says it is huge': () =>
      send(random.pick(targets), random.pick(Object.values(PROTOCOLS)), new Uint8Array([255, 255, 255, 255, 1])),
    'half a frame': () =>
      send(random.pick(targets), random.pick(Object.values(PROTOCOLS)), new Uint8Array([0, 0, 0, 100, 1, 2, 3])),
    'an empty frame': () =>
      send(random.pick(targets), random.pick(Object.values(PROTOCOLS)), encodeFrame(new Uint8Array())),
    'an ask that holds the leases of others': () =>
      request(
        PROTOCOLS.lease,
        leaseRequest.encode({
          ...{
            kind: 'ask',
            count: LIMITS.leasesPerRequest.value,
            nonce: hex(16),
            agent: 'x',
            backend: 'cpu',
            tokensPerSecond: 0,
          },
          ...{ policyId: run.state?.current?.policyId ?? hex(32), holding: [lease()] },
        }),
      ),
    'a return of another’s lease': () =>
      request(PROTOCOLS.lease, leaseRequest.encode({ kind: 'return', leaseIds: [lease()], reason: 'failed' })),
    'a renewal of another’s lease': () =>
      request(PROTOCOLS.lease, leaseRequest.encode({ kind: 'renew', leaseIds: [lease()] })),
    'a group for another’s lease': async () => offer(await sealedByUs()),
    'a stolen announcement, offered': () => offer(stolen()),
    'a stolen announcement, gossiped': () => gossip(anyShard().groups, stolen()),
    'a bent announcement': async () => {
      const bent = Uint8Array.from(await sealedByUs())
      bent[random.int(0, bent.length - 1)]! ^= random.int(1, 255)
      return random.chance(0.5) ? offer(bent) : gossip(anyShard().groups, bent)
    },
    'another run’s announcement': async () =>
      gossip(anyShard().groups, await sealGroupAnnouncement(key, peerId, announcement(), null)),
    'noise in gossip': () => gossip(random.pick(topics), noise(random.int(1, 2000), random.int(1, 1e6))),
    'a huge message in gossip': () => gossip(random.pick(topics), noise(200_000, random.int(1, 1e6))),
    'a policy of our own': async () =>
      gossip(
        topicsOf(runId).policy,
        await sealPolicyAnnouncement(key, runId, {
          ...{ manifestId: hex(32), manifestSizeBytes: 1000, round: 1e6, version: 1e6, policyId: hex(32) },
          ...{ expiresAtMs: host.clock.now() + 1e6, capacity: 1000, waiting: 0, providers: [], shards: 1024 },
        }),
      ),
    'verdicts of our own': async () =>
      gossip(
        anyShard().verdicts,
        await sealVerdictDigest(key, runId, {
          ...{ peerId: random.pick(run.peerIds), fromCursor: 0, verdicts: [], totalCredit: 1e6 },
          issuedAtMs: host.clock.now(),
        }),
      ),
    'a body that nobody has': () =>
      send(
        random.pick(targets),
        PROTOCOLS.group,
        encodeFrame(groupRequest.encode({ kind: 'fetch', bodySha256: sha256(randomBytes(8)) })),
      ),
    'chunks that nobody has': () =>
      send(
        random.pick(targets),
        PROTOCOLS.snapshot,
        encodeFrame(
          snapshotRequest.encode({ id: 1, want: { kind: 'chunk', blobSha256: hex(32), index: random.int(0, 99) } }),
        ),
      ),
    'a cursor beyond all verdicts': () =>
      request(PROTOCOLS.verdict, verdictRequest.encode({ cursor: 1e9, max: LIMITS.verdictsPerDigest.value })),
    'a connection that is dropped': async () => {
      await host.dial(addressOf(random.pick(targets)), host.clock.timeout(5000))
      await host.hangUp(random.pick(targets))
    },
  }
}

const hex = (size: number): string => randomBytes(size).toString('hex')

/**
 * Sends so many messages, of every kind, and does not care what becomes of them.
 * @param between  done after each of them
 */
export async function attack(
  run: ChaosRun,
  peers: readonly Record<string, Attack>[],
  messages: number,
  random: SeededRandom,
  between: () => void = () => undefined,
): Promise<void> {
  for (let i = 0; i < messages; i++) {
    const ways = Object.values(random.pick(peers))
    void ways[i % ways.length]!().catch(() => undefined)
    between()
    await run.pass(random.int(1, 50))
  }
}
