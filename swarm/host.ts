import {
  type Connection,
  type IdentifyResult,
  type Libp2p,
  type PeerId,
  type PeerInfo,
  type Stream,
  UnsupportedProtocolError,
} from '@libp2p/interface'
import { peerIdFromString } from '@libp2p/peer-id'
import { multiaddr } from '@multiformats/multiaddr'
import { LRUCache } from 'lru-cache'
import { detailForWire, LIMITS, type PeerAddresses, PROTOCOLS, peerIdOfKey } from '../proto/index.js'
import { type Clock, systemClock } from './clock.js'
import { TransportError } from './errors.js'
import { createGossip, type Gossip } from './gossip.js'
import { createLibp2pNode, type Libp2pNodeOptions, topicsFor } from './libp2p-node.js'
import { type SwarmLogger, silentLogger } from './logger.js'
import { otherVersion } from './other-version.js'
import { reachOf, withoutPeer } from './reach.js'
import type { OnRefusal } from './refusal-event.js'
import { createServing, type Serving } from './serving.js'

export interface HostOptions extends Libp2pNodeOptions {
  readonly onRefusal?: OnRefusal
  readonly logger?: SwarmLogger
  readonly clock?: Clock
}

export interface PeerConnection {
  readonly peer: string
  readonly address: string
  readonly direction: 'inbound' | 'outbound'
  /** Open streams, both directions. */
  readonly streams: number
}

/** A libp2p node in this project's own types. */
export interface SwarmHost {
  readonly peerId: string
  readonly runId: string
  readonly gossip: Gossip
  readonly clock: Clock
  readonly logger: SwarmLogger
  readonly onRefusal: OnRefusal
  /** How all services of this host share its streams and its line. */
  readonly serving: Serving
  /** Addresses that the host listens on or announces, each with the host's peer id. Empty for a host that only dials. */
  addresses(): readonly string[]
  /** Public addresses at which peers have reached this host. */
  provenAddresses(): readonly string[]
  /**
   * Dials an address that this program's user, or the run's key, has named.
   * @returns  the peer id behind the address; @throws TransportError `unreachable`
   */
  dial(address: string, signal: AbortSignal): Promise<string>
  /**
   * Dials a peer at addresses that other peers have named, within the limits of `gater.ts`.
   * @throws TransportError `unreachable`
   */
  dialPeer(peer: PeerAddresses, signal: AbortSignal): Promise<void>
  /** Tests whether a peer answers at an address, over a new connection, within the limits of `gater.ts`. */
  answersAt(peer: string, address: string, signal: AbortSignal): Promise<boolean>
  /** Returns the addresses that a peer has announced under its own signature. */
  claimedAddresses(peer: string): Promise<readonly string[]>
  hangUp(peer: string): Promise<void>
  /** Returns all connections, or the connections to one peer. */
  connections(peer?: string): readonly PeerConnection[]
  isConnected(peer: string): boolean
  /**
   * Opens a stream, over an existing connection if there is one, inbound or outbound.
   * @throws TransportError `unreachable`, `other_version`
   */
  openStream(peer: string, protocol: string, options: { readonly signal: AbortSignal }): Promise<Stream>
  /** Handles the streams of a protocol. @returns  stops handling */
  handle(protocol: string, handler: (stream: Stream, peer: string) => void): Promise<() => Promise<void>>
  /** Calls back when the first connection to a peer opens and when the last one closes. @returns  stops the calls */
  onPeer(listener: (event: { readonly peer: string; readonly connected: boolean }) => void): () => void
  /** Calls back for peers that report another version of this program's protocols; `detail` names both. @returns  stops the calls */
  onOtherVersion(listener: (event: { readonly peer: string; readonly detail: string }) => void): () => void
  /** Calls back for peers found in the local network. @returns  stops the calls */
  onFound(listener: (peer: PeerAddresses) => void): () => void
  /** Lowers a peer's gossip score for an hour, after a false statement on another protocol. */
  penalise(peer: string, points: number): void
  close(): Promise<void>
}

const PENALTY_MS = 3_600_000
/** Enough that gossip ignores the peer: honest nodes subscribe to their own shard only. */
const FOREIGN_SHARD_PENALTY = 100

/** Starts a host on the network of a run. */
export async function createHost(options: HostOptions): Promise<SwarmHost> {
  const { privateKey, runId, logger = silentLogger, clock = systemClock, onRefusal = () => {} } = options
  const penalties = new LRUCache<string, number>({ max: LIMITS.trackedPeers.value, ttl: PENALTY_MS })
  const { libp2p, gater } = await createLibp2pNode(options, { clock, penaltyOf: (peer) => penalties.get(peer) ?? 0 })
  const penalise = (peer: string, points: number): void => {
    penalties.set(peer, (penalties.get(peer) ?? 0) + points)
  }
  const gossip = createGossip(libp2p.services.pubsub, {
    onRefusal,
    logger: logger.child({ part: 'gossip' }),
    // Topics of other shards that this host does not know are ignored by gossipsub.
    belongs: (peer, topic) => peer === runId || topicsFor(runId, peer).includes(topic),
    onForeign: (peer) => penalise(peer, FOREIGN_SHARD_PENALTY),
  })
  let closing: Promise<void> | null = null

  /** Explains why a connected peer does not speak a protocol, if the peer speaks another version of it. */
  const whyNot = async (peer: string, protocol: string, signal: AbortSignal): Promise<string | null> => {
    const [connection] = libp2p.getConnections(peerIdFromString(peer))
    if (!connection) return null
    const found = await libp2p.services.identify.identify(connection, { signal }).catch(() => null)
    signal.throwIfAborted()
    return found && otherVersion(protocol, { protocols: found.protocols, agent: found.agentVersion })
  }

  const connections = (peer?: string): PeerConnection[] =>
    libp2p.getConnections(peer === undefined ? peer : peerIdFromString(peer)).map(describe)

  return {
    peerId: peerIdOfKey(privateKey),
    runId,
    gossip,
    clock,
    logger,
    onRefusal,
    serving: createServing({ clock, runId, connections }),
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

    hangUp: (peer) => libp2p.hangUp(peerIdFromString(peer)),
    connections,
    isConnected: (peer) => libp2p.getConnections(peerIdFromString(peer)).length > 0,

    async openStream(peer, protocol, { signal }) {
      try {
        return await libp2p.dialProtocol(peerIdFromString(peer), protocol, { signal })
      } catch (cause) {
        signal.throwIfAborted()
        const why = cause instanceof UnsupportedProtocolError ? await whyNot(peer, protocol, signal) : null
        if (why !== null) throw new TransportError('other_version', `${peer}: ${why}`, { cause })
        throw new TransportError('unreachable', `${protocol} of ${peer}`, { cause })
      }
    },

    async handle(protocol, handler) {
      await libp2p.handle(protocol, (stream, connection) => handler(stream, connection.remotePeer.toString()), {
        maxInboundStreams: LIMITS.inboundStreamsPerPeer.value,
      })
      return () => libp2p.unhandle(protocol)
    },

    ...peerEvents(libp2p),

    penalise,

    close() {
      closing ??= (async () => {
        gossip.close()
        await libp2p.stop()
      })()
      return closing
    },
  }
}

/** Translates libp2p's events. */
const peerEvents = (libp2p: Pick<Libp2p, 'addEventListener' | 'removeEventListener'>) =>
  ({
    onPeer(listener) {
      const connected = (event: CustomEvent<PeerId>): void =>
        listener({ peer: event.detail.toString(), connected: true })
      const disconnected = (event: CustomEvent<PeerId>): void =>
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

    onOtherVersion(listener) {
      const identified = ({ detail: found }: CustomEvent<IdentifyResult>): void => {
        const peer = { protocols: found.protocols, agent: found.agentVersion }
        const why = Object.values(PROTOCOLS).flatMap((protocol) => otherVersion(protocol, peer) ?? [])[0]
        if (why !== undefined) listener({ peer: found.peerId.toString(), detail: detailForWire(why) })
      }
      libp2p.addEventListener('peer:identify', identified)
      return () => libp2p.removeEventListener('peer:identify', identified)
    },
  }) satisfies Pick<SwarmHost, 'onPeer' | 'onFound' | 'onOtherVersion'>

/** The first line of libp2p's message. Later lines are for libp2p's developers. */
const reasonOf = (cause: unknown): string =>
  detailForWire((cause instanceof Error ? cause.message : String(cause)).split('\n')[0]!)

const describe = (connection: Connection): PeerConnection => ({
  peer: connection.remotePeer.toString(),
  address: connection.remoteAddr.toString(),
  direction: connection.direction,
  streams: connection.streams.length,
})
