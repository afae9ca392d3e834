import { LRUCache } from 'lru-cache'
import pLimit from 'p-limit'
import { LIMITS, type PeerAddresses, shardAt, shardOf, shardPlace } from '../../proto/index.js'
import { addressBlock, couldBeOf, mayBeShared, reachOf, type SwarmHost, withoutPeer } from '../../swarm/index.js'
import { type Choice, DialableNodes } from './dialable-nodes.js'

export interface ProviderParts {
  readonly host: SwarmHost
  /** Returns the number of gossip shards. */
  readonly shards: () => number
  /** Returns the policy in force; null: none is published yet. */
  readonly policyInForce: () => string | null
  /** Is called with nodes that answered at their addresses. */
  readonly onDialable: (peer: PeerAddresses) => void
  /** 0 .. 1 */
  readonly random: () => number
  readonly signal: AbortSignal
}

/** Nodes that have the adapter in force, for other nodes that need it. */
export interface Providers {
  /** Notes that a node works under a policy, so that it has its adapter. */
  note(node: string, policyId: string): void
  /**
   * Returns random nodes that have the adapter in force and that this node can dial. The first half are in its shard, if there are
   * enough: gossip needs neighbours of the same shard.
   */
  nearTo(node: string): PeerAddresses[]
  /** Returns random nodes that every node can dial. */
  forAnyone(): PeerAddresses[]
}

interface Dialable extends PeerAddresses {
  /** Address that it was connected from when it answered. */
  readonly of: string
  /** Whether all its addresses are public. Computed once, not for each of thousands of answers. */
  readonly isPublic: boolean
  /** Its place among the gossip shards. */
  readonly place: number
}

/** Time (ms) for which an attempt counts, successful or not. */
const TRIED_MS = 600_000
const TRIAL_TIMEOUT_MS = 5000
const TRIALS_AT_ONCE = 8
/** Nodes that are examined for one half of an answer. */
const LOOKS = 64

/**
 * Believes a node's addresses when they are plausible for its connection and the node answers at them. So a node cannot make others
 * dial a third party.
 */
export function createProviders({ host, shards, policyInForce, onDialable, random, signal }: ProviderParts): Providers {
  const { clock } = host
  const holds = new LRUCache<string, string>({ max: LIMITS.coordinatorConnections.value })
  const triedAtMs = new LRUCache<string, number>({ max: LIMITS.coordinatorConnections.value })
  const trials = pLimit(TRIALS_AT_ONCE)
  const table = new DialableNodes<Dialable>(({ place }, count) => shardAt(place, count).shard)
  /** Blocks of addresses of all peers. More than one makes all addresses usable only if public. */
  const networks = new Set<string | null>()
  let anyPeer: string | null = null

  const observed = (node: string): string | null => host.connections(node)[0]?.address ?? null
  const meet = (node: string): void => {
    const address = observed(node)
    if (address === null || networks.size > 1) return
    anyPeer = address
    networks.add(addressBlock(address))
  }
  const stop = host.onPeer(({ peer, connected }) => (connected ? meet(peer) : table.delete(peer)))
  signal.addEventListener('abort', stop, { once: true })

  const tryAddresses = async (node: string): Promise<void> => {
    const of = observed(node)
    if (of === null) return void triedAtMs.delete(node)
    const claimed = (await host.claimedAddresses(node)).filter((address) => couldBeOf(address, of))
    // The node may report its addresses later.
    if (claimed.length === 0) triedAtMs.delete(node)
    const addresses: string[] = []
    for (const address of claimed.slice(0, LIMITS.addressesPerPeer.value)) {
      const timely = AbortSignal.any([signal, clock.timeout(TRIAL_TIMEOUT_MS)])
      const answers = await host.answersAt(node, address, timely).catch(() => false)
      if (answers && address.length <= LIMITS.nameBytes.value) addresses.push(withoutPeer(address))
    }
    if (addresses.length === 0) return table.delete(node)
    if (!host.isConnected(node)) return
    const isPublic = addresses.every((address) => reachOf(address) === 'anywhere')
    table.set({ peerId: node, addresses, of, isPublic, place: shardPlace(host.runId, node) })
    onDialable({ peerId: node, addresses })
  }

  const some = (
    nodes: Choice<Dialable>,
    most: number,
    { to, fits }: { readonly to: string | null; fits(node: string): boolean },
  ): PeerAddresses[] => {
    const found = new Map<string, PeerAddresses>()
    for (let look = 0; look < LOOKS && found.size < Math.min(most, nodes.size); look += 1) {
      const { peerId, of, isPublic, addresses: all } = nodes.pick(random())
      if (!fits(peerId)) continue
      const addresses = isPublic ? all : all.filter((address) => mayBeShared(address, { of, to }))
      if (addresses.length > 0) found.set(peerId, { peerId, addresses })
    }
    return [...found.values()]
  }

  return {
    note(node, policyId) {
      holds.set(node, policyId)
      const nowMs = clock.elapsedMs()
      const lastMs = triedAtMs.get(node)
      if (lastMs !== undefined && nowMs - lastMs < TRIED_MS) return
      triedAtMs.set(node, nowMs)
      trials(() => tryAddresses(node)).catch((error: unknown) => {
        if (!signal.aborted) host.logger.warn({ node, error }, 'the addresses of a node could not be tried')
      })
    },
    nearTo(node) {
      const count = shards()
      const to = observed(node)
      const policyId = policyInForce()
      const fits = (other: string): boolean => other !== node && holds.peek(other) === policyId
      const { shard } = shardOf(host.runId, node, count)
      const half = LIMITS.peersNamed.value / 2
      const mates = count === 1 ? [] : some(table.ofShard(shard, count), half, { to, fits })
      const chosen = new Set(mates.map(({ peerId }) => peerId))
      const others = some(table.all(), LIMITS.peersNamed.value - mates.length, {
        to,
        fits: (other) => !chosen.has(other) && fits(other),
      })
      return [...mates, ...others]
    },
    // No node has the adapter of a new version yet. Nodes that fetch it pass on its chunks.
    forAnyone: () =>
      some(table.all(), LIMITS.peersAnnounced.value, { to: networks.size === 1 ? anyPeer : null, fits: () => true }),
  }
}
