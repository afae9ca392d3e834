import './polyfill.js'
import type { GossipSub } from '@chainsafe/libp2p-gossipsub'
import { autoNATv2 } from '@libp2p/autonat-v2'
import { type Identify, type IdentifyPush, identify, identifyPush } from '@libp2p/identify'
import type { Libp2p, PrivateKey } from '@libp2p/interface'
import { noise } from '@libp2p/noise'
import { peerIdFromString } from '@libp2p/peer-id'
import { type Ping, ping } from '@libp2p/ping'
import { yamux } from '@libp2p/yamux'
import { createLibp2p } from 'libp2p'
import { LIMITS, peerIdOfKey, SHARD_COUNTS, shardOf, shardTopicsOf, topicsOf } from '../proto/index.js'
import { MAX_WINDOW_BYTES } from './byte-stream.js'
import type { Clock } from './clock.js'
import { createGater, type Gater, hostOf } from './gater.js'
import { dropLostStreams, swarmPubsub } from './gossip.js'
import { type AddressBook, addressBook, localNetwork } from './local-network.js'
import { type Metrics, networkMetrics } from './metrics.js'
import { programName } from './other-version.js'
import { addressesToAnnounce, keepLocalRecords } from './peer-records.js'
import { type Reach, reachOf } from './reach.js'
import { tcpByAddress } from './tcp-by-address.js'

/** How a host finds other peers, and how other peers find it. */
export interface Discovery {
  /** Announces the host to nodes of the run in the same local network, and finds those nodes, by multicast DNS. */
  readonly localNetwork?: boolean
  /** Asks peers to try the host's public addresses (AutoNAT v2), and tries the addresses of peers that ask. */
  readonly tryAddresses?: boolean
}

export interface Libp2pNodeOptions {
  readonly privateKey: PrivateKey
  /** Peer id of the run's coordinator. */
  readonly runId: string
  /** Addresses to listen on, for example `/ip4/0.0.0.0/tcp/4001`. Default: none, the host only dials. */
  readonly listen?: readonly string[]
  /** Addresses to announce instead of the addresses listened on, for a host behind a port mapping. */
  readonly announce?: readonly string[]
  /** Inbound connections per second and address. Default 5. */
  readonly connectionsPerSecond?: number
  /**
   * From where the run's coordinator can be dialled, as far as this host knows. The host announces no address of less reach.
   * Default: the reach of the addresses listened on.
   */
  readonly runReach?: Reach
  /** Default: no discovery. */
  readonly discovery?: Discovery
  /** Version of the program, which identify sends to peers. Default: not sent. */
  readonly program?: string
  /** Registry for libp2p's own metrics. Default: none are recorded. */
  readonly metrics?: Metrics
}

export type Services = {
  pubsub: GossipSub
  identify: Identify
  identifyPush: IdentifyPush
  ping: Ping
  addresses: AddressBook
}

interface NodeParts {
  readonly clock: Clock
  /** Points that a peer has lost on other protocols, which lower its gossip score. */
  readonly penaltyOf: (peer: string) => number
}

/** Answers that are awaited at once are far fewer. A restart of the coordinator brings all of its nodes at once. */
const PENDING_CONNECTIONS = 256
/** A machine that generates rollouts may answer slowly. A cut cable is noticed after half a minute at most. */
const PING_TIMEOUT_MS = 15_000
/** libp2p closes connections in the order of this value when there are too many. Other peers have 0. */
const COORDINATOR_VALUE = 100

/**
 * Returns the topics that a host may ever join or hear of: all shards for the coordinator, and for a node its own shard for each number
 * of shards. gossipsub forgets subscriptions to other topics, so a node must know all its topics before the number changes.
 */
export function topicsFor(runId: string, peerId: string): readonly string[] {
  const { policy, addresses } = topicsOf(runId)
  const shards = SHARD_COUNTS.flatMap((count) =>
    peerId === runId
      ? Array.from({ length: count }, (_, shard) => ({ shards: count, shard }))
      : [shardOf(runId, peerId, count)],
  )
  return [policy, addresses, ...shards.flatMap((shard) => shardTopicsOf(runId, shard))]
}

/** Starts a libp2p node: TCP, noise, yamux, identify, ping and gossipsub on the topics of its run. */
export async function createLibp2pNode(
  options: Libp2pNodeOptions,
  { clock, penaltyOf }: NodeParts,
): Promise<{ libp2p: Libp2p<Services>; gater: Gater }> {
  const { privateKey, runId, listen = [], announce = [], discovery = {} } = options
  const isCoordinator = peerIdOfKey(privateKey) === runId
  const onMachine = [...listen, ...announce].every((address) => reachOf(address) === 'machine')
  const runReach = options.runReach ?? (onMachine ? 'machine' : 'anywhere')
  const connectionsFrom = new Map<string, number>()
  const gater = createGater({
    clock,
    dialsPerMinute: LIMITS[isCoordinator ? 'coordinatorDialsPerMinute' : 'dialsPerMinute'].value,
    onMachine: onMachine && listen.length > 0,
    connectionsTo: (peer) => libp2p.getConnections(peer).length,
    connectionsFrom: (host) => connectionsFrom.get(host) ?? 0,
  })
  const libp2p: Libp2p<Services> = await createLibp2p<Services>({
    privateKey,
    ...(options.program === undefined ? {} : { nodeInfo: { userAgent: programName(options.program) } }),
    addresses: {
      listen: [...listen],
      announce: [...announce],
      announceFilter: (addresses) => addressesToAnnounce(addresses, isCoordinator ? null : runReach),
    },
    transports: [tcpByAddress(gater.mayLeadTo)],
    connectionEncrypters: [noise()],
    streamMuxers: [yamux({ streamOptions: { maxStreamWindowSize: MAX_WINDOW_BYTES } })],
    connectionGater: gater,
    connectionManager: {
      maxConnections: LIMITS[isCoordinator ? 'coordinatorConnections' : 'connections'].value,
      maxIncomingPendingConnections: PENDING_CONNECTIONS,
      inboundConnectionThreshold: options.connectionsPerSecond ?? 5,
    },
    connectionMonitor: { pingTimeout: { minTimeout: PING_TIMEOUT_MS } },
    ...(options.metrics ? { metrics: networkMetrics(options.metrics) } : {}),
    ...(discovery.localNetwork ? { peerDiscovery: [localNetwork(runId)] } : {}),
    services: {
      identify: identify(),
      // When two peers meet, a host may not know yet where it can be dialled. It pushes what it learns later.
      identifyPush: identifyPush(),
      ping: ping(),
      pubsub: swarmPubsub({
        topics: topicsFor(runId, peerIdOfKey(privateKey)),
        exchangePeers: isCoordinator,
        bootstrapper: runId,
        scoreOf: (peer) => -penaltyOf(peer),
      }),
      addresses: addressBook,
      ...(discovery.tryAddresses ? { autoNAT: autoNATv2() } : {}),
    },
  })
  libp2p.addEventListener('peer:disconnect', () => dropLostStreams(libp2p.services.pubsub))
  libp2p.addEventListener('connection:open', ({ detail: { remoteAddr } }) => {
    connectionsFrom.set(hostOf(remoteAddr), (connectionsFrom.get(hostOf(remoteAddr)) ?? 0) + 1)
  })
  libp2p.addEventListener('connection:close', ({ detail: { remoteAddr } }) => {
    const left = (connectionsFrom.get(hostOf(remoteAddr)) ?? 1) - 1
    if (left === 0) connectionsFrom.delete(hostOf(remoteAddr))
    else connectionsFrom.set(hostOf(remoteAddr), left)
  })
  if (isCoordinator) keepLocalRecords(libp2p)
  else await libp2p.peerStore.merge(peerIdFromString(runId), { tags: { coordinator: { value: COORDINATOR_VALUE } } })
  return { libp2p, gater }
}
