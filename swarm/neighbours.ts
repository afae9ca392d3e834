import { LRUCache } from 'lru-cache'
import { LIMITS, type PeerAddresses, shardAt, shardPlace } from '../proto/index.js'
import { followPeers } from './connected-peers.js'
import type { SwarmHost } from './host.js'
import { withoutPeer } from './reach.js'

/** A node that was reached, and its addresses. */
export interface KnownPeer extends PeerAddresses {
  readonly reachedAtMs: number
}

export interface NeighbourParts {
  readonly host: SwarmHost
  /** Nodes that an earlier process has reached. */
  readonly known: readonly KnownPeer[]
  /** Saves the nodes that have answered, the latest first. */
  readonly keep: (peers: readonly KnownPeer[]) => Promise<void>
  /** Returns 0 .. 1, to spread the actions of many nodes over time. */
  readonly random: () => number
  /** Returns the number of gossip shards, for a node. Default: all peers are of one shard. */
  readonly shards?: () => number
}

/** Connections to other nodes, for gossip and for adapters. */
export interface Neighbours {
  /** Adds nodes that others have named. @param haveAdapter  whether they are said to have the adapter in force */
  suggest(peers: readonly PeerAddresses[], haveAdapter?: boolean): void
  /** Records a node that has answered at these addresses. */
  note(peer: PeerAddresses): void
  /** Returns the connected peers in random order, after up to two that are said to have the adapter. Never the coordinator. */
  connected(): readonly string[]
  close(): Promise<void>
}

/** Neighbours of the node's own shard that it looks for, in addition to other ones if necessary: gossip about groups needs them. */
const MATES_SOUGHT = LIMITS.peersSought.value / 2
/** Pause between two dials. A new node finds its neighbours within seconds, and no node is flooded. */
const PAUSE_MS = 500
const DIAL_TIMEOUT_MS = 10_000
/** Pause before a node is dialled again, doubled after each failure. */
const FIRST_PAUSE_MS = 5000
const LONGEST_PAUSE_MS = 300_000
/** Number of paused nodes that are remembered: dialling so many takes longer than the pause. */
const NODES_PAUSED = 8 * LIMITS.peersKept.value

/** A new node finds the adapter at these peers. With more of them, the nodes that the coordinator names would carry most of the traffic. */
const HOLDERS_FIRST = 2

function inAnyOrder<T>(items: readonly T[], random: () => number): T[] {
  return items
    .map((item) => ({ item, place: random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ item }) => item)
}

/**
 * Keeps connections to `LIMITS.peersSought` neighbours: nodes that an earlier process reached, that the coordinator names, or that are in
 * the local network. Half of them are in its shard, if it hears of enough. Gossip's peer exchange adds others when the mesh is full.
 */
export function keepNeighbours({ host, known, keep, random, shards = () => 1 }: NeighbourParts): Neighbours {
  const logger = host.logger.child({ part: 'neighbours' })
  const { clock } = host
  const closing = new AbortController()
  const { signal } = closing
  const named = new LRUCache<string, PeerAddresses>({ max: 2 * LIMITS.peersKept.value })
  const paused = new LRUCache<string, { readonly untilMs: number; readonly failures: number }>({
    max: NODES_PAUSED,
  })
  const holders = new LRUCache<string, true>({ max: 2 * LIMITS.peersKept.value })
  const isFresh = ({ reachedAtMs }: KnownPeer): boolean => clock.now() - reachedAtMs < LIMITS.peerKeptMs.value
  let reached = known.filter(isFresh).slice(0, LIMITS.peersKept.value)
  let keeping: Promise<void> = Promise.resolve()
  let wake = (): void => undefined

  const peers = followPeers(host)
  const neighbourIds = (): string[] => [...peers].filter((peer) => peer !== host.runId)
  const note = ({ peerId, addresses }: PeerAddresses): void => {
    const others = reached.filter((peer) => peer.peerId !== peerId && isFresh(peer))
    reached = [{ peerId, addresses, reachedAtMs: clock.now() }, ...others].slice(0, LIMITS.peersKept.value)
    keeping = keeping
      .then(() => keep(reached))
      .catch((error: unknown) => logger.warn({ error }, 'the reached nodes could not be saved'))
  }
  const stopListening = host.onPeer(({ peer, connected }) => {
    if (!connected) return wake()
    if (peer === host.runId) return
    const dialled = host.connections(peer).find(({ direction }) => direction === 'outbound')
    if (dialled) note({ peerId: peer, addresses: [withoutPeer(dialled.address)] })
  })

  const suggest = (peers: readonly PeerAddresses[]): void => {
    let isNew = false
    for (const peer of peers) {
      if (peer.peerId === host.peerId || peer.peerId === host.runId) continue
      isNew ||= !named.has(peer.peerId)
      named.set(peer.peerId, peer)
    }
    // Known nodes are skipped: announcements name the same nodes every few seconds.
    if (isNew) wake()
  }
  const stopFinding = host.onFound((peer) => suggest([peer]))

  /** Places among the shards, which cost a hash each. */
  const places = new LRUCache<string, number>({ max: 4 * LIMITS.peersKept.value })
  const isMate = (peerId: string): boolean => {
    const count = shards()
    if (count === 1) return true
    const [own, other] = [host.peerId, peerId].map((id) => {
      const place = places.get(id) ?? shardPlace(host.runId, id)
      places.set(id, place)
      return shardAt(place, count).shard
    })
    return own === other
  }
  /** Whether fewer neighbours of this shard are connected than are sought. */
  const lacksMates = (): boolean => {
    let mates = 0
    for (const peer of peers) if (peer !== host.runId && isMate(peer) && ++mates >= MATES_SOUGHT) return false
    return true
  }
  const candidate = (): PeerAddresses | null => {
    const needsMates = lacksMates()
    const needsOthers = peers.size - (peers.has(host.runId) ? 1 : 0) < LIMITS.peersSought.value
    if (!needsMates && !needsOthers) return null
    const able = [...named.values()].filter(
      ({ peerId }) => !host.isConnected(peerId) && clock.elapsedMs() >= (paused.get(peerId)?.untilMs ?? 0),
    )
    const mates = needsMates ? able.filter(({ peerId }) => isMate(peerId)) : []
    const chosen = mates.length > 0 ? mates : needsOthers ? able : []
    return chosen[Math.floor(random() * chosen.length)] ?? null
  }
  const pause = (peerId: string, failures: number): void => {
    const pauseMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(failures, 10))
    paused.set(peerId, { untilMs: clock.elapsedMs() + pauseMs, failures })
  }
  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      const next = candidate()
      if (!next) {
        const woken = new AbortController()
        wake = () => woken.abort()
        // The pause of a node may be over by then.
        await clock.sleep(FIRST_PAUSE_MS, AbortSignal.any([signal, woken.signal])).catch(() => undefined)
        continue
      }
      const failures = paused.get(next.peerId)?.failures ?? 0
      pause(next.peerId, failures + 1)
      try {
        await host.dialPeer(next, AbortSignal.any([signal, clock.timeout(DIAL_TIMEOUT_MS)]))
        pause(next.peerId, 0)
      } catch (error) {
        logger.debug({ peer: next.peerId, addresses: next.addresses, error }, 'a node does not answer')
      }
      await clock.sleep(PAUSE_MS * (0.5 + random()), signal).catch(() => undefined)
    }
  }
  suggest(reached)
  const running = run()

  return {
    suggest(peers, haveAdapter = false) {
      if (haveAdapter) for (const { peerId } of peers) holders.set(peerId, true)
      suggest(peers)
    },
    note,
    connected() {
      const all = inAnyOrder(neighbourIds(), random)
      const first = all.filter((peer) => holders.has(peer)).slice(0, HOLDERS_FIRST)
      return [...first, ...all.filter((peer) => !first.includes(peer))]
    },
    async close() {
      closing.abort(new Error('the node is closing'))
      stopListening()
      stopFinding()
      peers.close()
      await running
      await keeping
    },
  }
}
