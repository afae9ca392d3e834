import './polyfill.js'
import type { GossipSub } from '@chainsafe/libp2p-gossipsub'
import { type Identify, identify } from '@libp2p/identify'
import type { Connection, Libp2p, PrivateKey, Stream } from '@libp2p/interface'
import { noise } from '@libp2p/noise'
import { peerIdFromString } from '@libp2p/peer-id'
import { type Ping, ping } from '@libp2p/ping'
import { tcp } from '@libp2p/tcp'
import { yamux } from '@libp2p/yamux'
import { multiaddr } from '@multiformats/multiaddr'
import { createLibp2p } from 'libp2p'
import { LRUCache } from 'lru-cache'
import { detailForWire, LIMITS, peerIdOfKey, topicsOf } from '../proto/index.js'
import { MAX_WINDOW_BYTES } from './byte-stream.js'
import { type Clock, systemClock } from './clock.js'
import { TransportError } from './errors.js'
import { createGossip, dropLostStreams, type Gossip, swarmPubsub } from './gossip.js'
import { type SwarmLogger, silentLogger } from './logger.js'
import { type Metrics, networkMetrics } from './metrics.js'
import type { OnRefusal } from './refusal-event.js'

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
  readonly exchangePeers?: boolean
  readonly onRefusal?: OnRefusal
  readonly logger?: SwarmLogger
  readonly clock?: Clock
  /** Takes libp2p's own numbers. Default: they are not kept. */
  readonly metrics?: Metrics
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
  /** Addresses others can dial, each ending in our key; empty for a host that only dials out. */
  addresses(): readonly string[]
  /** @returns  the peer id behind the address; @throws TransportError `unreachable` */
  dial(address: string, signal: AbortSignal): Promise<string>
  hangUp(peer: string): Promise<void>
  /** All of them, or those to one peer. */
  connections(peer?: string): readonly PeerConnection[]
  isConnected(peer: string): boolean
  /**
   * Opens a stream, over the existing connection if there is one, whoever dialled it.
   * @throws TransportError `unreachable`
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
  /** Lowers a peer's standing in gossip for an hour, after a lie on another protocol. */
  penalise(peer: string, points: number): void
  close(): Promise<void>
}

type Services = { pubsub: GossipSub; identify: Identify; ping: Ping }

const PENALTY_MS = 3_600_000

/** Starts a node: TCP, noise, yamux, identify, ping and gossipsub on the three topics of its run. */
export async function createHost(options: HostOptions): Promise<SwarmHost> {
  const { privateKey, runId, logger = silentLogger, clock = systemClock, onRefusal = () => {} } = options
  const penalties = new LRUCache<string, number>({ max: LIMITS.trackedPeers.value, ttl: PENALTY_MS })
  const libp2p: Libp2p<Services> = await createLibp2p<Services>({
    privateKey,
    addresses: { listen: [...(options.listen ?? [])], announce: [...(options.announce ?? [])] },
    transports: [tcp()],
    connectionEncrypters: [noise()],
    streamMuxers: [yamux({ streamOptions: { maxStreamWindowSize: MAX_WINDOW_BYTES } })],
    connectionManager: {
      maxConnections: LIMITS.connections.value,
      inboundConnectionThreshold: options.connectionsPerSecond ?? 5,
    },
    ...(options.metrics ? { metrics: networkMetrics(options.metrics) } : {}),
    services: {
      identify: identify(),
      ping: ping(),
      pubsub: swarmPubsub({
        topics: Object.values(topicsOf(runId)),
        exchangePeers: options.exchangePeers ?? false,
        scoreOf: (peer) => -(penalties.get(peer) ?? 0),
      }),
    },
  })
  const gossip = createGossip(libp2p.services.pubsub, onRefusal, logger.child({ part: 'gossip' }))
  libp2p.addEventListener('peer:disconnect', () => dropLostStreams(libp2p.services.pubsub))
  let closing: Promise<void> | null = null

  return {
    peerId: peerIdOfKey(privateKey),
    runId,
    gossip,
    clock,
    logger,
    onRefusal,
    addresses: () => libp2p.getMultiaddrs().map((address) => address.toString()),

    async dial(address, signal) {
      try {
        const connection = await libp2p.dial(multiaddr(address), { signal })
        return connection.remotePeer.toString()
      } catch (cause) {
        signal.throwIfAborted()
        throw new TransportError('unreachable', `${address}: ${reasonOf(cause)}`, { cause })
      }
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
