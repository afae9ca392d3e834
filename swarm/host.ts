import './polyfill.js'
import type { GossipSub } from '@chainsafe/libp2p-gossipsub'
import { autoNATv2 } from '@libp2p/autonat-v2'
import { circuitRelayServer, circuitRelayTransport } from '@libp2p/circuit-relay-v2'
import { dcutr } from '@libp2p/dcutr'
import { type Identify, type IdentifyPush, identify, identifyPush } from '@libp2p/identify'
import {
  type ComponentLogger,
  type Connection,
  type Libp2p,
  type PeerId,
  type PeerInfo,
  type PrivateKey,
  type Stream,
  UnsupportedProtocolError,
} from '@libp2p/interface'
import { mdns } from '@libp2p/mdns'
import { noise } from '@libp2p/noise'
import { peerIdFromString } from '@libp2p/peer-id'
import { type Ping, ping } from '@libp2p/ping'
import { uPnPNAT } from '@libp2p/upnp-nat'
import { webSockets } from '@libp2p/websockets'
import { yamux } from '@libp2p/yamux'
import { type Multiaddr, multiaddr } from '@multiformats/multiaddr'
import { createLibp2p } from 'libp2p'
import { LRUCache } from 'lru-cache'
import { detailForWire, LIMITS, type PeerAddresses, peerIdOfKey, sha256, topicsOf } from '../proto/index.js'
import { MAX_WINDOW_BYTES } from './byte-stream.js'
import { type Clock, systemClock } from './clock.js'
import { TransportError } from './errors.js'
import { createGater, hostOf } from './gater.js'
import { createGossip, dropLostStreams, type Gossip, swarmPubsub } from './gossip.js'
import { type SwarmLogger, silentLogger } from './logger.js'
import { type Metrics, networkMetrics } from './metrics.js'
import { otherVersion, programName } from './other-version.js'
import { addressesToTell, keepLocalRecords } from './peer-records.js'
import { type Reach, reachOf, withoutPeer } from './reach.js'
import type { OnRefusal } from './refusal-event.js'
import { tcpByAddress } from './tcp-by-address.js'

export interface HostOptions {
  readonly privateKey: PrivateKey
  /** Peer id of the run's coordinator. */
  readonly runId: string
  /** Addresses to listen on, for example `/ip4/0.0.0.0/tcp/4001`. None: this host only dials out, and is no less useful. */
  readonly listen?: readonly string[]
  /** Addresses to tell others instead of the ones listened on, for a host behind a port mapping. */
  readonly announce?: readonly string[]
  /** Inbound connections per second and address. Default 5. */
  readonly connectionsPerSecond?: number
  /**
   * From where the run's coordinator can be dialled, as far as this host knows; nobody else needs to be told of addresses of less
   * reach. Default: that of the addresses listened on.
   */
  readonly runReach?: Reach
  /** What the host does to be found, and to find others. Default: nothing of it. */
  readonly finding?: Finding
  readonly onRefusal?: OnRefusal
  readonly logger?: SwarmLogger
  readonly clock?: Clock
  /** Version of the program, which others are told. Default: they are not. */
  readonly program?: string
  /** Takes libp2p's own numbers. Default: they are not kept. */
  readonly metrics?: Metrics
}

export interface Finding {
  /** Passes small messages on between peers that cannot dial each other, or asks such peers to do so for this host. */
  readonly relay?: 'offered' | 'used'
  /** Tells and hears of the run's nodes in the same network, by multicast DNS. */
  readonly localNetwork?: boolean
  /** Asks the router to pass connections on to this host. */
  readonly portMapping?: boolean
  /** Has peers try whether this host's public addresses can be dialled, and does so for them. */
  readonly tryAddresses?: boolean
}

export interface PeerConnection {
  readonly peer: string
  readonly address: string
  readonly direction: 'inbound' | 'outbound'
  /** Through a relay, with a bound on bytes and time. */
  readonly limited: boolean
  /** Open streams, both directions. */
  readonly streams: number
}

export interface HandleOptions {
  /** Whether the protocol may run over a relay: small messages yes, large transfers never. */
  readonly overRelay: boolean
}

/** A libp2p node in our own terms. */
export interface SwarmHost {
  readonly peerId: string
  readonly runId: string
  readonly gossip: Gossip
  readonly clock: Clock
  readonly logger: SwarmLogger
  readonly onRefusal: OnRefusal
  /** Addresses that are listened on, or announced instead, each ending in our key; empty for a host that only dials out. */
  addresses(): readonly string[]
  /** Public addresses at which others have reached this host, as far as they were asked to try. */
  provenAddresses(): readonly string[]
  /**
   * Dials what our own user, or the run's key, has named.
   * @returns  the peer id behind the address; @throws TransportError `unreachable`
   */
  dial(address: string, signal: AbortSignal): Promise<string>
  /**
   * Dials a peer where others say it is, within what `gater.ts` allows.
   * @throws TransportError `unreachable`
   */
  dialPeer(peer: PeerAddresses, signal: AbortSignal): Promise<void>
  /** Whether a peer answers at an address, on a connection of its own. The same bounds. */
  answersAt(peer: string, address: string, signal: AbortSignal): Promise<boolean>
  /** Where a peer says, over its own signature, that it can be dialled. */
  claimedAddresses(peer: string): Promise<readonly string[]>
  hangUp(peer: string): Promise<void>
  /** All of them, or those to one peer. */
  connections(peer?: string): readonly PeerConnection[]
  isConnected(peer: string): boolean
  /**
   * Opens a stream, over the existing connection if there is one, whoever dialled it.
   * @throws TransportError `unreachable`, `other_version`
   */
  openStream(peer: string, protocol: string, options: HandleOptions & { readonly signal: AbortSignal }): Promise<Stream>
  /** @returns  stops handling */
  handle(
    protocol: string,
    handler: (stream: Stream, peer: string) => void,
    options: HandleOptions,
  ): Promise<() => Promise<void>>
  /** Calls back when the first connection to a peer opens and when the last one closes. @returns  stops that */
  onPeer(listener: (event: { readonly peer: string; readonly connected: boolean }) => void): () => void
  /** Calls back for peers that make themselves known in the local network. @returns  stops that */
  onFound(listener: (peer: PeerAddresses) => void): () => void
  /** Lowers a peer's standing in gossip for an hour, after a lie on another protocol. */
  penalise(peer: string, points: number): void
  close(): Promise<void>
}

type Services = {
  pubsub: GossipSub
  identify: Identify
  identifyPush: IdentifyPush
  ping: Ping
  addresses: AddressBook
}

const PENALTY_MS = 3_600_000
/** Hardly ever are so many answers to be waited for; a coordinator's restart brings all of its nodes at once. */
const PENDING_CONNECTIONS = 256
/** A machine that generates rollouts may be slow to answer; a cable that is cut is noticed half a minute later at most. */
const PING_TIMEOUT_MS = 15_000
/** Connections are closed in the order of their peers' values when there are too many; others have 0. */
const COORDINATOR_VALUE = 100

/** Starts a node: TCP and WebSocket, noise, yamux, identify, ping and gossipsub on the topics of its run. */
export async function createHost(options: HostOptions): Promise<SwarmHost> {
  const { privateKey, runId, logger = silentLogger, clock = systemClock, onRefusal = () => {} } = options
  const { listen = [], announce = [], finding = {} } = options
  const penalties = new LRUCache<string, number>({ max: LIMITS.trackedPeers.value, ttl: PENALTY_MS })
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
      listen: [...listen, ...(finding.relay === 'used' ? ['/p2p-circuit'] : [])],
      announce: [...announce],
      announceFilter: (addresses) => addressesToTell(addresses, isCoordinator ? null : runReach),
    },
    transports: [
      tcpByAddress(gater.mayLeadTo),
      webSockets(),
      ...(finding.relay === undefined ? [] : [circuitRelayTransport()]),
    ],
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
    ...(finding.localNetwork ? { peerDiscovery: [localNetwork(runId)] } : {}),
    services: {
      identify: identify(),
      // What a host finds out of itself, its peers hear, too: when they meet it does not know yet where it can be dialled.
      identifyPush: identifyPush(),
      ping: ping(),
      pubsub: swarmPubsub({
        topics: Object.values(topicsOf(runId)),
        exchangePeers: isCoordinator,
        bootstrapper: runId,
        scoreOf: (peer) => -(penalties.get(peer) ?? 0),
      }),
      addresses: addressBook,
      ...optionalServices(finding, isCoordinator),
    },
  })
  const gossip = createGossip(libp2p.services.pubsub, onRefusal, logger.child({ part: 'gossip' }))
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
  let closing: Promise<void> | null = null

  /** Why a peer that is connected does not speak a protocol, if it speaks another version of it. */
  const whyNot = async (peer: string, protocol: string, signal: AbortSignal): Promise<string | null> => {
    const [connection] = libp2p.getConnections(peerIdFromString(peer))
    if (!connection) return null
    const found = await libp2p.services.identify.identify(connection, { signal }).catch(() => null)
    signal.throwIfAborted()
    return found && otherVersion(protocol, { protocols: found.protocols, agent: found.agentVersion })
  }

  return {
    peerId: peerIdOfKey(privateKey),
    runId,
    gossip,
    clock,
    logger,
    onRefusal,
    addresses: () => libp2p.services.addresses.own().map((address) => `${address}/p2p/${libp2p.peerId}`),

    provenAddresses: () =>
      libp2p.services.addresses
        .proven()
        .filter((address) => reachOf(address) === 'anywhere')
        .map(String),

    async dial(address, signal) {
      try {
        const connection = await gater.deliberately(address, () => libp2p.dial(multiaddr(address), { signal }))
        return connection.remotePeer.toString()
      } catch (cause) {
        signal.throwIfAborted()
        throw new TransportError('unreachable', `${address}: ${reasonOf(cause)}`, { cause })
      }
    },

    async dialPeer({ peerId, addresses }, signal) {
      try {
        await libp2p.dial(
          addresses.map((address) => multiaddr(`${withoutPeer(address)}/p2p/${peerId}`)),
          { signal },
        )
      } catch (cause) {
        signal.throwIfAborted()
        throw new TransportError('unreachable', `${peerId}: ${reasonOf(cause)}`, { cause })
      }
    },

    async answersAt(peer, address, signal) {
      try {
        const connection = await libp2p.dial(multiaddr(`${withoutPeer(address)}/p2p/${peer}`), { signal, force: true })
        await connection.close({ signal }).catch((why: Error) => connection.abort(why))
        return true
      } catch {
        signal.throwIfAborted()
        return false
      }
    },

    async claimedAddresses(peer) {
      const id = peerIdFromString(peer)
      if (!(await libp2p.peerStore.has(id))) return []
      const { addresses } = await libp2p.peerStore.get(id)
      return addresses.filter(({ isCertified }) => isCertified).map(({ multiaddr: address }) => address.toString())
    },

    async hangUp(peer) {
      await libp2p.hangUp(peerIdFromString(peer))
    },

    connections: (peer) => libp2p.getConnections(peer === undefined ? peer : peerIdFromString(peer)).map(describe),
    isConnected: (peer) => libp2p.getConnections(peerIdFromString(peer)).length > 0,

    async openStream(peer, protocol, { signal, overRelay }) {
      try {
        return await libp2p.dialProtocol(peerIdFromString(peer), protocol, {
          signal,
          runOnLimitedConnection: overRelay,
        })
      } catch (cause) {
        signal.throwIfAborted()
        const why = cause instanceof UnsupportedProtocolError ? await whyNot(peer, protocol, signal) : null
        if (why !== null) throw new TransportError('other_version', `${peer}: ${why}`, { cause })
        throw new TransportError('unreachable', `${protocol} of ${peer}`, { cause })
      }
    },

    async handle(protocol, handler, { overRelay }) {
      await libp2p.handle(protocol, (stream, connection) => handler(stream, connection.remotePeer.toString()), {
        maxInboundStreams: LIMITS.inboundStreamsPerPeer.value,
        runOnLimitedConnection: overRelay,
      })
      return () => libp2p.unhandle(protocol)
    },

    onPeer(listener) {
      const connected = (event: CustomEvent<{ toString(): string }>): void =>
        listener({ peer: event.detail.toString(), connected: true })
      const disconnected = (event: CustomEvent<{ toString(): string }>): void =>
        listener({ peer: event.detail.toString(), connected: false })
      libp2p.addEventListener('peer:connect', connected)
      libp2p.addEventListener('peer:disconnect', disconnected)
      return () => {
        libp2p.removeEventListener('peer:connect', connected)
        libp2p.removeEventListener('peer:disconnect', disconnected)
      }
    },

    onFound(listener) {
      const found = ({ detail: { id, multiaddrs } }: CustomEvent<PeerInfo>): void =>
        listener({ peerId: id.toString(), addresses: multiaddrs.map((address) => address.toString()) })
      libp2p.addEventListener('peer:discovery', found)
      return () => libp2p.removeEventListener('peer:discovery', found)
    },

    penalise(peer, points) {
      penalties.set(peer, (penalties.get(peer) ?? 0) + points)
    },

    close() {
      closing ??= (async () => {
        gossip.close()
        await libp2p.stop()
      })()
      return closing
    },
  }
}

/** The library's messages go on with lines for its own developers. */
const reasonOf = (cause: unknown): string =>
  detailForWire((cause instanceof Error ? cause.message : String(cause)).split('\n')[0]!)

const describe = (connection: Connection): PeerConnection => ({
  peer: connection.remotePeer.toString(),
  address: connection.remoteAddr.toString(),
  direction: connection.direction,
  limited: connection.limits !== undefined,
  streams: connection.streams.length,
})

/** The host's own addresses, whether anybody has tried them or not. */
interface AddressBook {
  own(): readonly Multiaddr[]
  /** Those that peers have tried, or the user has named. */
  proven(): readonly Multiaddr[]
}
interface KnowsAddresses {
  readonly addressManager: {
    getAddressesWithMetadata(): readonly { readonly multiaddr: Multiaddr; readonly verified: boolean }[]
  }
}
const addressBook = ({ addressManager }: KnowsAddresses): AddressBook => ({
  own: () => addressManager.getAddressesWithMetadata().map(({ multiaddr: address }) => address),
  proven: () =>
    addressManager
      .getAddressesWithMetadata()
      .filter(({ verified }) => verified)
      .map(({ multiaddr: address }) => address),
})

/**
 * Multicast DNS under a name of the run's own. It is told what the run at large need not know: addresses of the local network,
 * which leave this process only as multicast in that network.
 */
const localNetwork =
  (runId: string) =>
  ({
    logger,
    addressManager,
    peerId,
  }: KnowsAddresses & { readonly logger: ComponentLogger; readonly peerId: PeerId }) =>
    mdns({ serviceTag: `_prove-${sha256(new TextEncoder().encode(runId)).slice(0, 16)}._udp.local` })({
      logger,
      addressManager: {
        getAddresses: () =>
          addressBook({ addressManager })
            .own()
            .filter((address) => reachOf(address) === 'network')
            .map((address) => address.encapsulate(`/p2p/${peerId}`)),
      } as unknown as Parameters<ReturnType<typeof mdns>>[0]['addressManager'],
    })

function optionalServices({ relay, portMapping, tryAddresses }: Finding, isCoordinator: boolean) {
  const reservations = LIMITS[isCoordinator ? 'relayReservations' : 'relayReservationsOfNode'].value
  return {
    ...(relay === 'offered'
      ? {
          relay: circuitRelayServer({
            reservations: {
              maxReservations: reservations,
              defaultDataLimit: BigInt(LIMITS.relayedBytes.value),
              defaultDurationLimit: LIMITS.relayedMs.value,
            },
          }),
        }
      : {}),
    ...(relay === undefined ? {} : { holePunching: dcutr() }),
    ...(portMapping ? { portMapping: uPnPNAT() } : {}),
    ...(tryAddresses ? { autoNAT: autoNATv2() } : {}),
  }
}
