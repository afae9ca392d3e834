import type { PrivateKey } from '@libp2p/interface'
import type { Engine, Tokenizer } from '../engine/index.js'
import type { Catalogue } from '../episode/index.js'
import { LIMITS } from '../proto/index.js'
import {
  type Bandwidth,
  type BlobStore,
  channelsOf,
  createGroupGate,
  createSnapshotExchange,
  type JoinAddress,
  keepConnected,
  keepNeighbours,
  openAddressNotices,
  type SwarmHost,
  serveGroups,
} from '../swarm/index.js'
import { createNews } from './news.js'
import { openOutbox } from './outbox.js'
import { createPolicyKeeper } from './policy-keeper.js'
import type { NodeProgress } from './progress.js'
import type { NodeStore } from './store.js'
import { type WorkEnd, type WorkLoopParts, workLoop } from './work-loop.js'

export interface VolunteerParts extends Pick<WorkLoopParts, 'gate' | 'onRest' | 'stay'> {
  readonly coordinator: JoinAddress
  readonly host: SwarmHost
  readonly key: PrivateKey
  readonly store: NodeStore
  readonly blobs: BlobStore
  readonly engine: Engine
  readonly tokenizer: Tokenizer
  readonly baseSha256: string
  /** Tokens of the longest rollout that the engine has room for. */
  readonly contextSize: number
  /** Rollouts that it generates at the same time, as things stand. */
  readonly lanes: () => number
  readonly catalogue: Catalogue
  readonly onProgress: (progress: NodeProgress) => void
  /** 0 .. 1, spreads what many nodes do at the same instant. Default: chance. */
  readonly random?: () => number
  /** What others may be sent, and what is fetched, in a time. Default: no limit. */
  readonly bandwidth?: Bandwidth
}

export interface Volunteer {
  /** Resolves when the work is over. Rejects with what stopped it. */
  readonly work: Promise<WorkEnd>
  /** Finished groups without a verdict. */
  readonly waiting: number
  /** Rollouts of a group of the policy in force; null: none is loaded yet. */
  readonly groupSize: number | null
  /** Stops the work. Host, engine and store stay open: they are their owner's. */
  close(): Promise<void>
}

const AGENT = 'prove-node/0.1.0'

/** Joins a run and works for it. Groups of an earlier run of the node are sent first. */
export async function startVolunteer(parts: VolunteerParts): Promise<Volunteer> {
  const { coordinator, host, key, store, blobs, engine, tokenizer, baseSha256, contextSize, lanes, catalogue } = parts
  const { onProgress, random = Math.random, bandwidth = {}, gate: duty, onRest, stay } = parts
  const closing = new AbortController()
  const cleanUps: (() => Promise<unknown>)[] = []
  const close = async (): Promise<void> => {
    closing.abort(new Error('the node is closing'))
    for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
  }
  try {
    const logger = host.logger.child({ part: 'finding' })
    const notices = await openAddressNotices({
      host,
      known: await store.notice(),
      onNews: ({ sealed }) => {
        store.keepNotice(sealed).catch((error: unknown) => logger.warn({ error }, 'a notice could not be kept'))
        connection.retry()
      },
    })
    cleanUps.push(async () => notices.close())
    // The run's key knows best; where the user was told to look may still be right, and is all there is at first.
    const addresses = (): string[] => [
      ...new Set([
        ...(notices.newest()?.notice.addresses ?? []).map((address) => `${address}/p2p/${coordinator.peerId}`),
        coordinator.address,
      ]),
    ]
    const connection = keepConnected(host, { peerId: coordinator.peerId, addresses }, random)
    cleanUps.push(() => connection.close())
    const snapshots = await createSnapshotExchange(host, {
      store: blobs,
      ...bandwidth,
      notice: () => notices.newest()?.sealed ?? null,
    })
    cleanUps.push(() => snapshots.close())
    const neighbours = keepNeighbours({
      host,
      random,
      known: await store.peers(),
      keep: (peers) => store.keepPeers(peers),
    })
    cleanUps.push(() => neighbours.close())
    const stopAsking = host.onPeer(({ peer, connected }) => {
      if (!connected || (peer !== coordinator.peerId && host.isConnected(coordinator.peerId))) return
      // Whoever comes may know where the coordinator is now; and if the network is there again, so may it be.
      connection.retry()
      const pass = async (): Promise<void> => {
        const sealed = await snapshots.fetchNotice(peer, closing.signal)
        if (sealed && (await notices.take(sealed))) await notices.publish()
      }
      pass().catch((error: unknown) => logger.debug({ peer, error }, 'a node tells nothing of the coordinator'))
    })
    cleanUps.push(async () => stopAsking())
    const groups = await serveGroups(host, { lookup: (hash) => store.body(hash) })
    cleanUps.push(() => groups.close())
    const news = createNews(host.clock)
    const channels = channelsOf(coordinator.peerId)
    host.gossip.join(channels.policy, {
      deliver: (announcement) => {
        neighbours.hear(announcement.providers, true)
        news.tell({ type: 'announced', announcement })
      },
    })
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
    const peers = (): string[] => [coordinator.peerId, ...neighbours.connected()]
    const keeper = createPolicyKeeper({
      engine,
      contextSize,
      lanes,
      tokenizer,
      baseSha256,
      catalogue,
      snapshots,
      blobs,
      origin: coordinator.peerId,
      peers,
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
        onProviders: (providers) => neighbours.hear(providers, true),
        random,
        onProgress,
        ...(duty ? { gate: duty } : {}),
        ...(onRest ? { onRest } : {}),
        ...(stay === undefined ? {} : { stay }),
      },
      closing.signal,
    )
    const ended = work.catch((error: unknown) => host.logger.child({ part: 'work' }).debug({ error }, 'the work ended'))
    cleanUps.push(() => ended)
    return {
      work,
      get waiting() {
        return outbox.waiting.length
      },
      get groupSize() {
        return keeper.loaded?.manifest.limits.groupSize ?? null
      },
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}
