import { createCleanUp } from '../../common/cleanup/index.js'
import { refusal } from '../../proto/index.js'
import {
  type Bandwidth,
  type BlobStore,
  channelsOf,
  createSnapshotExchange,
  type JoinAddress,
  type KeptConnection,
  keepConnected,
  keepNeighbours,
  type Neighbours,
  openAddressNotices,
  type SnapshotExchange,
  type SwarmHost,
  serveLeaderboard,
} from '../../swarm/index.js'
import { createLeaderboardKeeper } from '../leaderboard/leaderboard-keeper.js'
import type { LeaderboardPlace } from '../report/leaderboard-place.js'
import type { NodeStore } from '../store/store.js'
import { createNews, type News } from './news.js'

export interface MembershipParts {
  readonly coordinator: JoinAddress
  readonly host: SwarmHost
  readonly store: NodeStore
  readonly blobs: BlobStore
  /** 0 .. 1, spreads what many nodes do at the same instant. Default: chance. */
  readonly random?: () => number
  /** Hears what the run's operator says, as often as that changes; null: nothing any more. Of an earlier life it is told at once. */
  readonly onAnnouncement?: (text: string | null) => void
  /** Hears where the node stands on the run's board, when that is known anew. */
  readonly onPlace?: (place: LeaderboardPlace) => void
  /** What others may be sent, and what is fetched, in a time. Default: no limit. */
  readonly bandwidth?: Bandwidth
}

/** A node's place among those of a run: it finds the coordinator and others, hears the news, and gives and takes files. */
export interface Membership {
  readonly connection: KeptConnection
  readonly neighbours: Neighbours
  readonly snapshots: SnapshotExchange
  readonly news: News
  /** Who may have manifests and files: the coordinator, then all connected nodes. */
  peers(): string[]
  /** The host stays open: it is its owner's. */
  close(): Promise<void>
}

/** Joins the nodes of a run, which takes neither a model nor an engine. */
export async function openMembership(parts: MembershipParts): Promise<Membership> {
  const { coordinator, host, store, blobs, random = Math.random, bandwidth = {}, onAnnouncement, onPlace } = parts
  let said = ''
  const hear = (message: string): void => {
    if (message === said) return
    said = message
    onAnnouncement?.(message === '' ? null : message)
  }
  const closing = new AbortController()
  const cleanUp = createCleanUp()
  const close = async (): Promise<void> => {
    closing.abort(new Error('the node is closing'))
    await cleanUp.close()
  }
  try {
    const logger = host.logger.child({ part: 'finding' })
    const notices = await openAddressNotices({
      host,
      known: await store.notice(),
      onNewer: ({ notice, sealed }) => {
        hear(notice.message)
        store.keepNotice(sealed).catch((error: unknown) => logger.warn({ error }, 'a notice could not be kept'))
        connection.retry()
      },
    })
    cleanUp.add(() => notices.close())
    hear(notices.newest()?.notice.message ?? '')
    // The run's key knows best; where the user was told to look may still be right, and is all there is at first.
    const addresses = (): string[] => [
      ...new Set([
        ...(notices.newest()?.notice.addresses ?? []).map((address) => `${address}/p2p/${coordinator.peerId}`),
        ...coordinator.addresses,
      ]),
    ]
    const connection = keepConnected(host, { peerId: coordinator.peerId, addresses }, random)
    cleanUp.add(() => connection.close())
    const snapshots = await createSnapshotExchange(host, {
      store: blobs,
      ...bandwidth,
      notice: () => notices.newest()?.sealed ?? null,
    })
    cleanUp.add(() => snapshots.close())
    const leaderboard = createLeaderboardKeeper(host, onPlace)
    const leaderboards = await serveLeaderboard(host, async () => {
      await leaderboard.refresh(closing.signal)
      if (leaderboard.newest === null) throw refusal('not_found', 'no board has come here so far')
      return leaderboard.newest
    })
    cleanUp.add(() => leaderboards.close())
    const neighbours = keepNeighbours({
      host,
      random,
      known: await store.peers(),
      keep: (peers) => store.keepPeers(peers),
    })
    cleanUp.add(() => neighbours.close())
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
    cleanUp.add(() => stopAsking())
    const news = createNews(host.clock)
    host.gossip.join(channelsOf(coordinator.peerId).policy, {
      deliver: (announcement) => {
        neighbours.suggest(announcement.providers, true)
        leaderboard
          .refresh(closing.signal)
          .catch((error: unknown) => logger.warn({ error }, 'no board could be asked for'))
        news.publish({ type: 'announced', announcement })
      },
    })
    return {
      ...{ connection, neighbours, snapshots, news },
      peers: () => [coordinator.peerId, ...neighbours.connected()],
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}
