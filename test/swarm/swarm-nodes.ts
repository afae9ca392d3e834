import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { generateKeyPairFromSeed } from '@libp2p/crypto/keys'
import type { PrivateKey } from '@libp2p/interface'
import * as assert from 'uvu/assert'
import { peerIdOfKey } from '../../proto/index.js'
import { createHost, type RefusalEvent, type SwarmHost, TransportError } from '../../swarm/index.js'

export interface TestNode {
  readonly host: SwarmHost
  readonly key: PrivateKey
  readonly refusals: RefusalEvent[]
}

export interface TestSwarm {
  readonly runId: string
  /** Node 1 has the coordinator's key. @param listen  false: it can only dial out */
  node(seed: number, listen?: boolean): Promise<TestNode>
  folder(): Promise<string>
  close(): Promise<void>
}

export const keyOf = (seed: number): Promise<PrivateKey> =>
  generateKeyPairFromSeed('Ed25519', new Uint8Array(32).fill(seed))

/** Real libp2p nodes on the loopback interface, all closed at the end. */
export async function createTestSwarm(): Promise<TestSwarm> {
  const runId = peerIdOfKey(await keyOf(1))
  const hosts: SwarmHost[] = []
  const folders: string[] = []
  return {
    runId,
    async node(seed, listen = true) {
      const refusals: RefusalEvent[] = []
      const key = await keyOf(seed)
      const host = await createHost({
        privateKey: key,
        runId,
        listen: listen ? ['/ip4/127.0.0.1/tcp/0'] : [],
        connectionsPerSecond: 1000,
        peersPerAddress: 1000,
        onRefusal: (event) => refusals.push(event),
      })
      hosts.push(host)
      return { host, key, refusals }
    },
    async folder() {
      const folder = await mkdtemp(join(tmpdir(), 'prove-swarm-'))
      folders.push(folder)
      return folder
    },
    async close() {
      await Promise.all(hosts.map((host) => host.close()))
      await Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true })))
    },
  }
}

export const soon = (ms = 60_000): AbortSignal => AbortSignal.timeout(ms)

export async function connect(from: TestNode, to: TestNode): Promise<void> {
  const [address] = to.host.addresses()
  if (!address) throw new Error('the other node does not listen')
  await from.host.dial(address, soon())
  // The dialled side finishes its handshake a moment later.
  await eventually('both sides know', () => to.host.isConnected(from.host.peerId))
}

/** Waits for something that another node does. The bound ends a run that hangs; a busy machine must not reach it. */
export async function eventually(what: string, ready: () => boolean, ms = 60_000): Promise<void> {
  const deadline = Date.now() + ms
  while (!ready()) {
    if (Date.now() > deadline) throw new Error(`not within ${ms} ms: ${what}`)
    await sleep(10)
  }
}

/** The error of the transport with which something ends. */
export async function failure(work: Promise<unknown>): Promise<TransportError> {
  try {
    await work
  } catch (why) {
    assert.instance(why, TransportError)
    return why as TransportError
  }
  throw new Error('it went well')
}

/** Bytes that differ everywhere and are the same in every run. */
export function noise(sizeBytes: number, seed = 1): Uint8Array {
  const bytes = new Uint8Array(sizeBytes)
  const words = new Uint32Array(bytes.buffer, 0, sizeBytes >> 2)
  let state = seed
  for (let index = 0; index < words.length; index += 1) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    words[index] = state
  }
  return bytes
}
