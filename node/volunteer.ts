import type { PrivateKey } from '@libp2p/interface'
import type { Engine, Tokenizer } from '../engine/index.js'
import type { Catalogue } from '../episode/index.js'
import { LIMITS } from '../proto/index.js'
import {
  type BlobStore,
  channelsOf,
  createGroupGate,
  type JoinAddress,
  keepConnected,
  type SnapshotExchange,
  type SwarmHost,
  serveGroups,
} from '../swarm/index.js'
import { createNews } from './news.js'
import { openOutbox } from './outbox.js'
import { peersOf } from './peers.js'
import { createPolicyKeeper } from './policy-keeper.js'
import type { NodeProgress } from './progress.js'
import type { NodeStore } from './store.js'
import { workLoop } from './work-loop.js'

export interface VolunteerParts {
  readonly coordinator: JoinAddress
  readonly host: SwarmHost
  readonly key: PrivateKey
  readonly store: NodeStore
  readonly blobs: BlobStore
  /** In service, over these blobs; it stays open. */
  readonly snapshots: SnapshotExchange
  readonly engine: Engine
  readonly tokenizer: Tokenizer
  readonly baseSha256: string
  /** Tokens of the longest rollout that the engine has room for. */
  readonly contextSize: number
  /** Rollouts that it generates at the same time. */
  readonly lanes: number
  readonly catalogue: Catalogue
  readonly onProgress: (progress: NodeProgress) => void
  /** 0 .. 1, spreads what many nodes do at the same instant. Default: chance. */
  readonly random?: () => number
}

export interface Volunteer {
  /** Rejects with what stopped the work; otherwise pending until `close`. */
  readonly work: Promise<void>
  /** Stops the work. Host, exchange, engine and store stay open: they are their owner's. */
  close(): Promise<void>
}

const AGENT = 'prove-node/0.1.0'

/** Joins a run and works for it. Groups of an earlier run of the node are sent first. */
export async function startVolunteer(parts: VolunteerParts): Promise<Volunteer> {
  const {
    coordinator,
    host,
    key,
    store,
    blobs,
    snapshots,
    engine,
    tokenizer,
    baseSha256,
    contextSize,
    lanes,
    catalogue,
  } = parts
  const { onProgress, random = Math.random } = parts
  const closing = new AbortController()
  const cleanUps: (() => Promise<unknown>)[] = []
  const close = async (): Promise<void> => {
    closing.abort(new Error('the node is closing'))
    for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
  }
  try {
    const connection = keepConnected(host, coordinator)
    cleanUps.push(() => connection.close())
    const groups = await serveGroups(host, { lookup: (hash) => store.body(hash) })
    cleanUps.push(() => groups.close())
    const news = createNews(host.clock)
    const channels = channelsOf(coordinator.peerId)
    host.gossip.join(channels.policy, { deliver: (announcement) => news.tell({ type: 'announced', announcement }) })
    const gate = createGroupGate(host.clock, LIMITS.groupsPerMinute.value, LIMITS.groupsPassedOnPerMinute.value)
    host.gossip.join(channels.groups, { check: gate.check, deliver: () => undefined })
    const outbox = await openOutbox({
      host,
      coordinator: coordinator.peerId,
      store,
      onVerdict: (verdict, earlier) => {
        onProgress({ type: 'verdict', verdict, earlier })
        news.tell({ type: 'settled' })
      },
      onDropped: (leaseId, code) => {
        onProgress({ type: 'dropped', leaseId, code })
        news.tell({ type: 'settled' })
      },
    })
    cleanUps.push(() => outbox.close())
    const keeper = createPolicyKeeper({
      engine,
      contextSize,
      lanes,
      tokenizer,
      baseSha256,
      catalogue,
      snapshots,
      blobs,
      peers: () => peersOf(host, coordinator.peerId),
      clock: host.clock,
    })
    const work = workLoop(
      {
        host,
        key,
        coordinator: coordinator.peerId,
        engine,
        keeper,
        outbox,
        store,
        agent: AGENT,
        connection,
        news,
        random,
        onProgress,
      },
      closing.signal,
    )
    const ended = work.catch((error: unknown) => host.logger.child({ part: 'work' }).debug({ error }, 'the work ended'))
    cleanUps.push(() => ended)
    return { work, close }
  } catch (error) {
    await close()
    throw error
  }
}
