import { LRUCache } from 'lru-cache'
import { LIMITS, type PeerAddresses } from '../proto/index.js'
import type { SwarmHost } from './host.js'
import { withoutPeer } from './reach.js'

/** A node that was reached, and where. */
export interface KnownPeer extends PeerAddresses {
  readonly reachedAtMs: number
}

export interface NeighbourParts {
  readonly host: SwarmHost
  /** Nodes of an earlier life. */
  readonly known: readonly KnownPeer[]
  /** Puts down what is known now: nodes that answered to us, the last one first. */
  readonly keep: (peers: readonly KnownPeer[]) => Promise<void>
  /** 0 .. 1, spreads what many nodes do at the same instant. */
  readonly random: () => number
}

/** Connections to other nodes: gossip goes over them, and adapters come over them. */
export interface Neighbours {
  /** Others say that nodes are there. @param hold  what the run needs at the moment */
  hear(peers: readonly PeerAddresses[], hold?: boolean): void
  /** A node answered to us there. */
  note(peer: PeerAddresses): void
  /** Peers with a direct connection, two first that are said to hold what the run needs, the others by chance; never the coordinator. */
  connected(): readonly string[]
  close(): Promise<void>
}

/** Between two dials: a new node finds its neighbours within seconds, and nobody is flooded. */
const PAUSE_MS = 500
const DIAL_TIMEOUT_MS = 10_000
/** A node is not dialled again for so long after an attempt, whoever speaks of it; doubled for each further one in vain. */
const FIRST_REST_MS = 5000
const LONGEST_REST_MS = 300_000
/** Those that rest are remembered, the last ones, for longer than it takes to dial as many. */
const NODES_RESTING = 8 * LIMITS.peersKept.value

/** A newcomer finds the adapter there. More of them, and those whom everybody hears of would carry what all have lines for. */
const HOLDERS_FIRST = 2

function inAnyOrder<T>(items: readonly T[], random: () => number): T[] {
  return items
    .map((item) => ({ item, place: random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ item }) => item)
}

/**
 * Looks for `LIMITS.peersSought` neighbours among the nodes that it hears of: from an earlier life, from the coordinator, and in the
 * local network. Gossip finds others by itself, as far as its mesh is larger than it likes.
 */
export function keepNeighbours({ host, known, keep, random }: NeighbourParts): Neighbours {
  const logger = host.logger.child({ part: 'neighbours' })
  const { clock } = host
  const closing = new AbortController()
  const { signal } = closing
  const heard = new LRUCache<string, PeerAddresses>({ max: 2 * LIMITS.peersKept.value })
  const resting = new LRUCache<string, { readonly untilMs: number; readonly failures: number }>({
    max: NODES_RESTING,
  })
  const holders = new LRUCache<string, true>({ max: 2 * LIMITS.peersKept.value })
  const isFresh = ({ reachedAtMs }: KnownPeer): boolean => clock.now() - reachedAtMs < LIMITS.peerKeptMs.value
  let reached = known.filter(isFresh).slice(0, LIMITS.peersKept.value)
  let keeping: Promise<void> = Promise.resolve()
  let wake = (): void => undefined

  const direct = (): string[] => {
    const peers = new Set<string>()
    for (const { peer } of host.connections()) if (peer !== host.runId) peers.add(peer)
    return [...peers]
  }
  const note = ({ peerId, addresses }: PeerAddresses): void => {
    const others = reached.filter((peer) => peer.peerId !== peerId && isFresh(peer))
    reached = [{ peerId, addresses, reachedAtMs: clock.now() }, ...others].slice(0, LIMITS.peersKept.value)
    keeping = keeping
      .then(() => keep(reached))
      .catch((error: unknown) => logger.warn({ error }, 'the nodes that were reached could not be kept'))
  }
  const stopListening = host.onPeer(({ peer, connected }) => {
    if (!connected) return wake()
    if (peer === host.runId) return
    const dialled = host.connections(peer).find(({ direction }) => direction === 'outbound')
    if (dialled) note({ peerId: peer, addresses: [withoutPeer(dialled.address)] })
  })

  const hear = (peers: readonly PeerAddresses[]): void => {
    let isNew = false
    for (const peer of peers) {
      if (peer.peerId === host.peerId || peer.peerId === host.runId) continue
      isNew ||= !heard.has(peer.peerId)
      heard.set(peer.peerId, peer)
    }
    // The others it has thought of: announcements name the same nodes every few seconds.
    if (isNew) wake()
  }
  const stopFinding = host.onFound((peer) => hear([peer]))

  const candidate = (): PeerAddresses | null => {
    const able = [...heard.values()].filter(
      ({ peerId }) => !host.isConnected(peerId) && clock.elapsedMs() >= (resting.get(peerId)?.untilMs ?? 0),
    )
    return able[Math.floor(random() * able.length)] ?? null
  }
  const rest = (peerId: string, failures: number): void => {
    const restMs = Math.min(LONGEST_REST_MS, FIRST_REST_MS * 2 ** Math.min(failures, 10))
    resting.set(peerId, { untilMs: clock.elapsedMs() + restMs, failures })
  }
  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      const next = direct().length < LIMITS.peersSought.value ? candidate() : null
      if (!next) {
        const woken = new AbortController()
        wake = () => woken.abort()
        // One that rests may be due by then.
        await clock.sleep(FIRST_REST_MS, AbortSignal.any([signal, woken.signal])).catch(() => undefined)
        continue
      }
      const failures = resting.get(next.peerId)?.failures ?? 0
      rest(next.peerId, failures + 1)
      try {
        await host.dialPeer(next, AbortSignal.any([signal, clock.timeout(DIAL_TIMEOUT_MS)]))
        rest(next.peerId, 0)
      } catch (error) {
        logger.debug({ peer: next.peerId, addresses: next.addresses, error }, 'a node does not answer')
      }
      await clock.sleep(PAUSE_MS * (0.5 + random()), signal).catch(() => undefined)
    }
  }
  hear(reached)
  const running = run()

  return {
    hear(peers, hold = false) {
      if (hold) for (const { peerId } of peers) holders.set(peerId, true)
      hear(peers)
    },
    note,
    connected() {
      const peers = inAnyOrder(direct(), random)
      const first = peers.filter((peer) => holders.has(peer)).slice(0, HOLDERS_FIRST)
      return [...first, ...peers.filter((peer) => !first.includes(peer))]
    },
    async close() {
      closing.abort(new Error('the node is closing'))
      stopListening()
      stopFinding()
      await running
      await keeping
    },
  }
}
