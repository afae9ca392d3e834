import { createCleanUp } from '../../common/cleanup/index.js'
import { refusal } from '../../proto/index.js'
import {
  type Bandwidth,
  type BlobStore,
  channelsOf,
  createShardMember,
  createSnapshotExchange,
  type JoinAddress,
  type KeptConnection,
  keepConnected,
  keepNeighbours,
  type Neighbours,
  openAddressNotices,
  type ShardMember,
  type SnapshotExchange,
  type SwarmHost,
  serveLeaderboard,
} from '../../swarm/index.js'
import { createLeaderboardKeeper } from '../leaderboard/leaderboard-keeper.js'
import type { LeaderboardPlace } from '../report/leaderboard-place.js'
import type { NodeStore } from '../store/store.js'
import { createNodeEvents, type NodeEvents } from './events.js'

export interface MembershipParts {
  readonly coordinator: JoinAddress
  readonly host: SwarmHost
  readonly store: NodeStore
  readonly blobs: BlobStore
  /** 0 .. 1, spreads what many nodes do at the same moment. Default: `Math.random`. */
  readonly random?: () => number
  /** Receives each new announcement of the run's operator, and at once the last one on record; null: withdrawn. */
  readonly onAnnouncement?: (text: string | null) => void
  /** Receives the place of the node on each newer leaderboard. */
  readonly onPlace?: (place: LeaderboardPlace) => void
  /** Rates of sent and fetched files. Default: no limit. */
  readonly bandwidth?: Bandwidth
}

/** Membership of a node in a run: connections, announcements and exchange of files. */
export interface Membership {
  readonly connection: KeptConnection
  readonly neighbours: Neighbours
  readonly snapshots: SnapshotExchange
  readonly events: NodeEvents
  /** Gossip about groups. */
  readonly shard: ShardMember
  /** Returns the peers that may have files: the coordinator, then the peers with a direct connection. */
  peers(): string[]
  /** Leaves the run. The caller closes the host. */
  close(): Promise<void>
}

/** Joins the nodes of a run, without a model or an engine. */
export async function openMembership(parts: MembershipParts): Promise<Membership> {
  const { coordinator, host, store, blobs, random = Math.random, bandwidth = {}, onAnnouncement, onPlace } = parts
  let last = ''
  const announce = (message: string): void => {
    if (message === last) return
    last = message
    onAnnouncement?.(message === '' ? null : message)
  }
  if (bandwidth.upload) host.serving.limitUpload(bandwidth.upload)
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
        announce(notice.message)
        store
          .keepNotice(sealed)
          .catch((error: unknown) => logger.warn({ error }, 'a notice could not be written to disk'))
        connection.retry()
      },
    })
    cleanUp.add(() => notices.close())
    announce(notices.newest()?.notice.message ?? '')
    // The signed notice is newer than the addresses of the invitation, which may still be valid.
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
      ...(bandwidth.download ? { download: bandwidth.download } : {}),
      notice: () => notices.newest()?.sealed ?? null,
    })
    cleanUp.add(() => snapshots.close())
    const leaderboard = createLeaderboardKeeper(host, onPlace)
    const leaderboards = await serveLeaderboard(host, async () => {
      await leaderboard.refresh(closing.signal)
      if (leaderboard.newest === null) throw refusal('not_found', 'this node has no leaderboard yet')
      return leaderboard.newest
    })
    cleanUp.add(() => leaderboards.close())
    const shard = createShardMember(host)
    cleanUp.add(() => shard.close())
    const neighbours = keepNeighbours({
      host,
      random,
      shards: () => shard.shards,
      known: await store.peers(),
      keep: (peers) => store.keepPeers(peers),
    })
    cleanUp.add(() => neighbours.close())
    const stopAsking = host.onPeer(({ peer, connected }) => {
      if (!connected || (peer !== coordinator.peerId && host.isConnected(coordinator.peerId))) return
      // The peer may know a newer address, and its connection shows that the network works again.
      connection.retry()
      const askPeer = async (): Promise<void> => {
        const sealed = await snapshots.fetchNotice(peer, closing.signal)
        if (sealed && (await notices.take(sealed))) await notices.publish()
      }
      askPeer().catch((error: unknown) => logger.debug({ peer, error }, 'a peer sent no notice of the coordinator'))
    })
    cleanUp.add(() => stopAsking())
    const events = createNodeEvents(host.clock)
    host.gossip.join(channelsOf(coordinator.peerId).policy, {
      deliver: (announcement) => {
        neighbours.suggest(announcement.providers, true)
        shard.follow(announcement)
        leaderboard
          .refresh(closing.signal)
          .catch((error: unknown) => logger.warn({ error }, 'the leaderboard could not be fetched'))
        events.publish({ type: 'announced', announcement })
      },
    })
    return {
      ...{ connection, neighbours, snapshots, events, shard },
      peers: () => [coordinator.peerId, ...neighbours.connected()],
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}
