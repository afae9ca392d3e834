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
  /** Whether the host is one of a run on one machine, whose addresses are on the loopback. */
  readonly onMachine: boolean
  /** Open connections to a peer. */
  connectionsTo(peer: PeerId): number
  /** Open connections from a network address. */
  connectionsFrom(host: string): number
}

export interface Gater extends ConnectionGater {
  /** Dials what our own user, or the run's key, has named: wherever it leads, and however often. */
  deliberately<T>(address: string, dial: () => Promise<T>): Promise<T>
  /** Whether an address may be dialled that was found under a name. */
  mayLeadTo(named: Multiaddr, found: Multiaddr): boolean
}

/**
 * What leaves the process on the word of others, and who may come in. Peers say of themselves where they are: without a bound, a
 * stranger's record would make nodes dial the machines of their own home, or all of them somebody else's.
 */
export function createGater(parts: GaterParts): Gater {
  const dials = createRateLimit(parts.clock, parts.dialsPerMinute)
  const deliberate = new Map<string, number>()
  let onMachine = parts.onMachine
  const leadsSomewhere = (address: Multiaddr): boolean => {
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
      return !leadsSomewhere(address) || !dials.allow('all')
    },
    mayLeadTo: (named, found) => isDeliberate(named) || leadsSomewhere(found),
    denyInboundConnection: ({ remoteAddr }) =>
      parts.connectionsFrom(hostOf(remoteAddr)) >= LIMITS.connectionsPerAddress.value,
    denyInboundUpgradedConnection: (peer) => parts.connectionsTo(peer) >= LIMITS.connectionsPerPeer.value,
  }
}

export const hostOf = (address: Multiaddr): string => address.getComponents()[0]?.value ?? ''

/** Blocks of addresses that this machine has an interface in; asked anew each time, for they change. */
function ownNetworks(): ReadonlySet<string | null> {
  const own = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? [])
  return new Set(
    own.map(({ family, address }) =>
      addressBlock(multiaddr(`/${family === 'IPv6' ? 'ip6' : 'ip4'}/${address}`).toString()),
    ),
  )
}
