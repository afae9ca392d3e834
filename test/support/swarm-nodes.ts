import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { generateKeyPairFromSeed } from '@libp2p/crypto/keys'
import type { PrivateKey } from '@libp2p/interface'
import * as assert from 'uvu/assert'
import { LIMITS, peerIdOfKey } from '../../proto/index.js'
import {
  type Clock,
  createHost,
  type RefusalEvent,
  type SwarmHost,
  systemClock,
  TransportError,
} from '../../swarm/index.js'
import { PATIENCE_MS, patience } from './patience.js'

export interface TestNode {
  readonly host: SwarmHost
  readonly key: PrivateKey
  readonly refusals: RefusalEvent[]
}

export interface TestSwarm {
  readonly runId: string
  /**
   * Starts a node. Node 1 has the coordinator's key.
   * @param listen  false: the node can only dial out
   * @param clock  default: a clock without time limits for peers
   */
  node(seed: number, listen?: boolean, clock?: Clock): Promise<TestNode>
  folder(): Promise<string>
  close(): Promise<void>
}

export const keyOf = (seed: number): Promise<PrivateKey> =>
  generateKeyPairFromSeed('Ed25519', new Uint8Array(32).fill(seed))

/** Waits of at least this length are time limits. Shorter waits are pauses. */
const SHORTEST_LIMIT_MS = LIMITS.progressTimeoutMs.value

/** The system's clock without time limits for slow peers of a busy machine. A test of a time limit sets a short one. */
export const patientClock: Clock = {
  ...systemClock,
  sleep: (ms, signal) => systemClock.sleep(ms < SHORTEST_LIMIT_MS ? ms : PATIENCE_MS, signal),
  timeout: (ms) => systemClock.timeout(ms < SHORTEST_LIMIT_MS ? ms : PATIENCE_MS),
  after: (ms, action) => systemClock.after(ms < SHORTEST_LIMIT_MS ? ms : PATIENCE_MS, action),
}

/** Creates real libp2p nodes on the loopback interface. `close` closes all of them. */
export async function createTestSwarm(): Promise<TestSwarm> {
  const runId = peerIdOfKey(await keyOf(1))
  const hosts: SwarmHost[] = []
  const folders: string[] = []
  return {
    runId,
    async node(seed, listen = true, clock = patientClock) {
      const refusals: RefusalEvent[] = []
      const key = await keyOf(seed)
      const host = await createHost({
        privateKey: key,
        runId,
        listen: listen ? ['/ip4/127.0.0.1/tcp/0'] : [],
        connectionsPerSecond: 1000,
        clock,
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

export const soon = patience

export async function connect(from: TestNode, to: TestNode): Promise<void> {
  const [address] = to.host.addresses()
  if (!address) throw new Error('the other node does not listen')
  await eventually('both sides know', async () => {
    // A dial returns at once while a connection exists, which may be the last one of a host that has closed.
    await from.host.dial(address, soon())
    return to.host.isConnected(from.host.peerId)
  })
}

/** Waits until a condition that depends on another node is true. */
export async function eventually(what: string, ready: () => boolean | Promise<boolean>): Promise<void> {
  const signal = soon()
  while (!(await ready())) {
    if (signal.aborted) throw new Error(`waited in vain: ${what}`)
    await sleep(10)
  }
}

/** Returns the transport error with which a promise rejects. */
export async function failure(work: Promise<unknown>): Promise<TransportError> {
  try {
    await work
  } catch (why) {
    assert.instance(why, TransportError)
    return why as TransportError
  }
  throw new Error('it went well')
}

/** Returns varied bytes that are the same in every run. */
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
