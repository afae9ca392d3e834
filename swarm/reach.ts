import { isLinkLocalIp, isPrivateIp } from '@libp2p/utils'
import { type Multiaddr, multiaddr } from '@multiformats/multiaddr'
import { addressBlock } from './address-block.js'

/**
 * From where an address can be dialled: from nowhere (unspecified, link-local, none at all), on the machine itself, within one
 * private network, from anywhere, or from anywhere through a relay.
 */
export type Reach = 'nowhere' | 'machine' | 'network' | 'anywhere' | 'relayed'

const NAMES: ReadonlySet<string> = new Set(['dns', 'dns4', 'dns6'])
const LOOPBACK = /^(127\.|::1$|::ffff:127\.|::ffff:7f)/i
const UNSPECIFIED = /^(0\.0\.0\.0|::)$/

/** A name counts as public: what it stands for is known only to who asks. */
export function reachOf(address: string | Multiaddr): Reach {
  const parts = multiaddr(address).getComponents()
  if (parts.some(({ name }) => name === 'p2p-circuit')) return 'relayed'
  const host = parts.find(({ name }) => name !== 'ip6zone')
  const value = host?.value ?? ''
  if (host && NAMES.has(host.name)) return value === 'localhost' ? 'machine' : 'anywhere'
  if (host?.name !== 'ip4' && host?.name !== 'ip6') return 'nowhere'
  if (UNSPECIFIED.test(value) || isLinkLocalIp(value)) return 'nowhere'
  if (LOOPBACK.test(value)) return 'machine'
  return isPrivateIp(value) ? 'network' : 'anywhere'
}

/** Of several addresses those of the widest reach, and those through relays: nobody needs the narrower ones. */
export function widest<Address extends string | Multiaddr>(addresses: readonly Address[]): Address[] {
  const reaches = new Set(addresses.map((address) => reachOf(address)))
  const best = (['anywhere', 'network', 'machine'] as const).find((reach) => reaches.has(reach))
  return addresses.filter((address) => [best, 'relayed'].includes(reachOf(address)))
}

/**
 * Whether a peer may be told of another one's address. Addresses of a private network say nothing to strangers, and may lead them
 * to a machine of their own; so they pass only between peers that are seen in the same network, or on the same machine.
 * @param of  where its owner is connected from
 * @param to  where whoever is told is connected from; null: anybody may hear it
 */
export function mayBeTold(address: string, { of, to }: { readonly of: string; readonly to: string | null }): boolean {
  const reach = reachOf(address)
  if (reach === 'anywhere') return true
  if ((reach !== 'machine' && reach !== 'network') || to === null) return false
  return reachOf(of) === reach && reachOf(to) === reach && addressBlock(of) === addressBlock(to)
}

/**
 * Whether an address can be its owner's, who is connected from `of`: nobody is sent to where somebody else is. A name may be
 * anything; dialling it shows whose it is.
 */
export function couldBeOf(address: string, of: string): boolean {
  const [host] = multiaddr(address).getComponents()
  const [seen] = multiaddr(of).getComponents()
  if (!host || !seen) return false
  return NAMES.has(host.name) || (host.name === seen.name && host.value === seen.value)
}

/** Without the peer id at the end, which goes beside it. */
export const withoutPeer = (address: string): string => address.replace(/\/p2p\/[^/]+$/, '')
