import { networkInterfaces } from 'node:os'
import type { ConnectionGater, PeerId } from '@libp2p/interface'
import { type Multiaddr, multiaddr } from '@multiformats/multiaddr'
import { LIMITS } from '../proto/index.js'
import { addressBlock } from './address-block.js'
import type { Clock } from './clock.js'
import { createRateLimit } from './rate-limit.js'
import { reachOf, withoutPeer } from './reach.js'

export interface GaterParts {
  readonly clock: Pick<Clock, 'elapsedMs'>
  readonly dialsPerMinute: number
  /** Whether all nodes of the run are on this machine and use loopback addresses. */
  readonly onMachine: boolean
  /** Open connections to a peer. */
  connectionsTo(peer: PeerId): number
  /** Open connections from a network address. */
  connectionsFrom(host: string): number
}

export interface Gater extends ConnectionGater {
  /** Dials an address that this program's user, or the run's key, has named, without the limits for addresses from peers. */
  deliberately<T>(address: string, dial: () => Promise<T>): Promise<T>
  /** Decides whether an address that was found under a name may be dialled. */
  mayLeadTo(named: Multiaddr, found: Multiaddr): boolean
}

/**
 * Creates the limits on dialling addresses that peers name, and on inbound connections. Without them, a stranger's peer record could make
 * nodes dial machines in their own home, or make all nodes dial a third party.
 */
export function createGater(parts: GaterParts): Gater {
  const dials = createRateLimit(parts.clock, parts.dialsPerMinute)
  const deliberate = new Map<string, number>()
  let onMachine = parts.onMachine
  const isDialable = (address: Multiaddr): boolean => {
    const reach = reachOf(address)
    if (reach === 'machine') return onMachine
    if (reach === 'network') return ownNetworks().has(addressBlock(address.toString()))
    return reach !== 'nowhere'
  }
  const isDeliberate = (address: Multiaddr): boolean => deliberate.has(withoutPeer(address.toString()))
  return {
    async deliberately(address, dial) {
      const key = withoutPeer(address)
      if (reachOf(address) === 'machine') onMachine = true
      deliberate.set(key, (deliberate.get(key) ?? 0) + 1)
      try {
        return await dial()
      } finally {
        const left = deliberate.get(key)! - 1
        if (left === 0) deliberate.delete(key)
        else deliberate.set(key, left)
      }
    },
    denyDialMultiaddr(address) {
      if (isDeliberate(address)) return false
      return !isDialable(address) || !dials.allow('all')
    },
    mayLeadTo: (named, found) => isDeliberate(named) || isDialable(found),
    denyInboundConnection: ({ remoteAddr }) =>
      parts.connectionsFrom(hostOf(remoteAddr)) >= LIMITS.connectionsPerAddress.value,
    denyInboundUpgradedConnection: (peer) => parts.connectionsTo(peer) >= LIMITS.connectionsPerPeer.value,
  }
}

/** Returns the host part of an address. */
export const hostOf = (address: Multiaddr): string => address.getComponents()[0]?.value ?? ''

/** Returns the address blocks of this machine's interfaces, read each time because they change. */
function ownNetworks(): ReadonlySet<string | null> {
  const own = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? [])
  return new Set(
    own.map(({ family, address }) =>
      addressBlock(multiaddr(`/${family === 'IPv6' ? 'ip6' : 'ip4'}/${address}`).toString()),
    ),
  )
}
