import { randomBytes } from 'node:crypto'
import { encodeFrame, LIMITS, PROTOCOLS } from '../../proto/index.js'
import type { SeededRandom } from '../../servers/kernel/index.js'
import { requestVerdicts } from '../../swarm/index.js'
import type { InForce } from './messages.js'
import { openSoakNode, type SoakNode, soon } from './soak-node.js'

/** State of a running soak. */
export interface Scene {
  readonly random: SeededRandom
  readonly inForce: () => InForce
  /** Honest nodes. */
  readonly honest: readonly SoakNode[]
  /** Dishonest nodes. The coordinator quarantines them, and they return with new keys. */
  readonly liars: SoakNode[]
  /** The newest delivered announcements. */
  readonly delivered: Uint8Array[]
}

/** One action against the coordinator. @returns the number of messages */
export type Act = (scene: Scene) => Promise<number>

const EXCHANGES = [PROTOCOLS.lease, PROTOCOLS.group, PROTOCOLS.verdict] as const
const MAX_DELIVERED = 200
const FLOOD = 30

/** Opens a stream, writes bytes and ignores the answer. */
async function write({ host }: SoakNode, protocol: string, bytes: Uint8Array, leave: boolean): Promise<void> {
  const stream = await host.openStream(host.runId, protocol, { signal: soon() })
  stream.send(bytes)
  // The coordinator has to time out a half-open stream.
  if (!leave) await stream.close({ signal: soon() })
}

const deliver = async (scene: Scene, node: SoakNode, inline: boolean): Promise<number> => {
  const { leases } = await node.ask()
  for (const lease of leases) {
    const sealed = await node.offer(await node.make(lease), {}, inline)
    scene.delivered.push(sealed)
    if (scene.delivered.length > MAX_DELIVERED) scene.delivered.shift()
  }
  return 1 + leases.length
}

/** Sends a group with a false claim, which the coordinator finds in the announcement or in the replay. */
const lie =
  (change: (group: Awaited<ReturnType<SoakNode['make']>>) => object): Act =>
  async ({ random, liars }) => {
    const liar = random.pick(liars)
    const { leases } = await liar.ask()
    for (const lease of leases) {
      const group = await liar.make(lease)
      await liar.offer(group, change(group))
    }
    return 1 + leases.length
  }

/** Actions by name, with their relative frequencies. */
export const ACTS: Readonly<Record<string, readonly [share: number, act: Act]>> = {
  'honest group, body along': [24, (scene) => deliver(scene, scene.random.pick(scene.honest), true)],
  'honest group, body pulled': [8, (scene) => deliver(scene, scene.random.pick(scene.honest), false)],
  'verdicts asked for': [
    6,
    async ({ random, honest }) => {
      const { host } = random.pick(honest)
      await requestVerdicts(host, host.runId, { cursor: random.int(0, 50), max: 16 }, soon())
      return 1
    },
  ],
  'malformed frame': [
    16,
    async ({ random, liars }) => {
      await write(random.pick(liars), random.pick(EXCHANGES), encodeFrame(randomBytes(random.int(1, 400))), false)
      return 1
    },
  ],
  'oversized frame': [
    6,
    async ({ random, liars }) => {
      const header = new Uint8Array(4 + 64)
      new DataView(header.buffer).setUint32(0, random.pick([LIMITS.manifestBytes.value * 8, 0xffffffff]))
      await write(random.pick(liars), random.pick(EXCHANGES), header, false)
      return 1
    },
  ],
  'half-open stream': [
    3,
    async ({ random, liars }) => {
      await write(random.pick(liars), random.pick(EXCHANGES), new Uint8Array(2), true)
      return 1
    },
  ],
  'replayed announcement': [
    12,
    async ({ random, liars, honest, delivered }) => {
      const sealed = delivered.length > 0 ? random.pick(delivered) : randomBytes(300)
      await random.pick(random.chance(0.5) ? liars : honest).reoffer(sealed)
      return 1
    },
  ],
  'lease of nobody or of somebody else': [
    6,
    async ({ random, honest, liars }) => {
      const { leases } = await random.pick(honest).ask()
      for (const lease of leases) {
        const liar = random.pick(liars)
        const leaseId = random.chance(0.5) ? lease.leaseId : randomBytes(16).toString('hex')
        await liar.offer(await liar.make({ ...lease, leaseId }))
      }
      return 1 + leases.length
    },
  ],
  'forged rewards': [5, lie(() => ({ rewards: [1.3, 1.2] }))],
  'body of another hash': [3, lie(() => ({ bodySha256: randomBytes(32).toString('hex') }))],
  'another policy': [2, lie(() => ({ policyId: randomBytes(32).toString('hex') }))],
  flood: [
    3,
    async ({ random, liars }) => {
      const liar = random.pick(liars)
      const asks = Array.from({ length: FLOOD }, () => liar.ask(8).catch(() => undefined))
      await Promise.all(asks)
      return FLOOD
    },
  ],
  'a liar takes another key': [
    2,
    async ({ random, inForce, liars }) => {
      const next = await openSoakNode(inForce)
      // No await in between: other actions replace dishonest nodes too, and every node must be closed.
      const at = random.int(0, liars.length - 1)
      const former = liars[at]!
      liars[at] = next
      await former.close()
      await next.ask()
      return 1
    },
  ],
  'new key, one message, gone': [
    4,
    async ({ inForce }) => {
      const stranger = await openSoakNode(inForce)
      try {
        await stranger.ask()
      } finally {
        await stranger.close()
      }
      return 1
    },
  ],
}
