import { LRUCache } from 'lru-cache'
import pLimit from 'p-limit'
import { LIMITS, type PeerAddresses } from '../../proto/index.js'
import { addressBlock, couldBeOf, mayBeShared, reachOf, type SwarmHost, withoutPeer } from '../../swarm/index.js'

export interface ProviderParts {
  readonly host: SwarmHost
  /** Null: none is published yet. */
  readonly policyInForce: () => string | null
  /** Hears of nodes that answered at their addresses. */
  readonly onDialable: (peer: PeerAddresses) => void
  /** 0 .. 1 */
  readonly random: () => number
  readonly signal: AbortSignal
}

/** Which nodes others may get the adapter in force from, and who is told of whom. */
export interface Providers {
  /** A node works under a policy, and so holds its adapter. */
  note(node: string, policyId: string): void
  /** Some that hold the adapter in force and that this node can dial, by chance. */
  nearTo(node: string): PeerAddresses[]
  /** Some that anybody who hears the run's gossip can dial. */
  forAnyone(): PeerAddresses[]
}

interface Dialable extends PeerAddresses {
  /** Where it was connected from when it answered. */
  readonly of: string
  /** Whether anybody may be told of all its addresses: found out once, and not for each of thousands of answers. */
  readonly isPublic: boolean
}

/** How long an attempt counts, whether it came to something or not. */
const TRIED_MS = 600_000
const TRIAL_TIMEOUT_MS = 5000
const TRIALS_AT_ONCE = 8
/** Of ten thousand nodes so many are looked at for one answer. */
const LOOKS = 64

/**
 * What a node says of its addresses is believed when it could be true, where it is connected from, and when it answers there: so
 * nobody can have the run's nodes dial somebody else.
 */
export function createProviders({ host, policyInForce, onDialable, random, signal }: ProviderParts): Providers {
  const { clock } = host
  const holds = new LRUCache<string, string>({ max: LIMITS.coordinatorConnections.value })
  const triedAtMs = new LRUCache<string, number>({ max: LIMITS.coordinatorConnections.value })
  const trials = pLimit(TRIALS_AT_ONCE)
  /** The same nodes twice: one is drawn from the list by chance, and found in the table. */
  const list: string[] = []
  const table = new Map<string, Dialable>()
  /** Blocks of addresses that peers come from; more than one are as good as all. */
  const networks = new Set<string | null>()
  let anyPeer: string | null = null

  const observed = (node: string): string | null => host.connections(node)[0]?.address ?? null
  const meet = (node: string): void => {
    const address = observed(node)
    if (address === null || networks.size > 1) return
    anyPeer = address
    networks.add(addressBlock(address))
  }
  const remove = (node: string): void => {
    if (!table.delete(node)) return
    const last = list.pop()!
    if (last !== node) list[list.indexOf(node)] = last
  }
  const stop = host.onPeer(({ peer, connected }) => (connected ? meet(peer) : remove(peer)))
  signal.addEventListener('abort', stop, { once: true })

  const tryAddresses = async (node: string): Promise<void> => {
    const of = observed(node)
    if (of === null) return void triedAtMs.delete(node)
    const claimed = (await host.claimedAddresses(node)).filter((address) => couldBeOf(address, of))
    // It may not have said anything yet, or may find out later where it can be dialled.
    if (claimed.length === 0) triedAtMs.delete(node)
    const addresses: string[] = []
    for (const address of claimed.slice(0, LIMITS.addressesPerPeer.value)) {
      const timely = AbortSignal.any([signal, clock.timeout(TRIAL_TIMEOUT_MS)])
      const answers = await host.answersAt(node, address, timely).catch(() => false)
      if (answers && address.length <= LIMITS.nameBytes.value) addresses.push(withoutPeer(address))
    }
    if (addresses.length === 0) return remove(node)
    if (!host.isConnected(node)) return
    if (!table.has(node)) list.push(node)
    const isPublic = addresses.every((address) => reachOf(address) === 'anywhere')
    table.set(node, { peerId: node, addresses, of, isPublic })
    onDialable({ peerId: node, addresses })
  }

  const some = (
    most: number,
    { to, fits }: { readonly to: string | null; fits(node: string): boolean },
  ): PeerAddresses[] => {
    const found = new Map<string, PeerAddresses>()
    for (let look = 0; look < LOOKS && found.size < Math.min(most, list.length); look += 1) {
      const node = list[Math.floor(random() * list.length)]!
      if (!fits(node)) continue
      const { peerId, of, isPublic, ...peer } = table.get(node)!
      const addresses = isPublic ? peer.addresses : peer.addresses.filter((address) => mayBeShared(address, { of, to }))
      if (addresses.length > 0) found.set(node, { peerId, addresses })
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
    nearTo: (node) =>
      some(LIMITS.peersNamed.value, {
        to: observed(node),
        fits: (other) => other !== node && holds.get(other) === policyInForce(),
      }),
    // Of a new version nobody holds the adapter yet; those who fetch it pass its chunks on as they come.
    forAnyone: () => some(LIMITS.peersAnnounced.value, { to: networks.size === 1 ? anyPeer : null, fits: () => true }),
  }
}
