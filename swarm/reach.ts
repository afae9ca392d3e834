import { isLinkLocalIp, isPrivateIp } from '@libp2p/utils'
import { type Multiaddr, multiaddr } from '@multiformats/multiaddr'
import { addressBlock } from './address-block.js'

/**
 * From where an address can be dialled: from nowhere (unspecified, link-local, none at all), on the machine itself, within one
 * private network, from anywhere, or from anywhere through a relay.
 */
export type Reach = 'nowhere' | DirectReach | 'relayed'
export type DirectReach = (typeof DIRECT)[number]

/** The widest first. */
const DIRECT = ['anywhere', 'network', 'machine'] as const

const NAMES: ReadonlySet<string> = new Set(['dns', 'dns4', 'dns6'])
const LOOPBACK = /^(127\.|::1$|::ffff:127\.|::ffff:7f)/i
const UNSPECIFIED = /^(0\.0\.0\.0|::)$/

/** A name counts as public, but for those of multicast DNS: what it stands for is known only to who asks. */
export function reachOf(address: string | Multiaddr): Reach {
  const parts = multiaddr(address).getComponents()
  if (parts.some(({ name }) => name === 'p2p-circuit')) return 'relayed'
  const host = parts.find(({ name }) => name !== 'ip6zone')
  const value = host?.value ?? ''
  if (host && NAMES.has(host.name))
    return value === 'localhost' ? 'machine' : value.endsWith('.local') ? 'network' : 'anywhere'
  if (host?.name !== 'ip4' && host?.name !== 'ip6') return 'nowhere'
  if (UNSPECIFIED.test(value) || isLinkLocalIp(value)) return 'nowhere'
  if (LOOPBACK.test(value)) return 'machine'
  return isPrivateIp(value) ? 'network' : 'anywhere'
}

/** Of several addresses those of the widest reach, and those through relays: nobody needs the narrower ones. */
export function widest<Address extends string | Multiaddr>(addresses: readonly Address[]): Address[] {
  const reaches = new Set(addresses.map((address) => reachOf(address)))
  const best = DIRECT.find((reach) => reaches.has(reach))
  return addresses.filter((address) => [best, 'relayed'].includes(reachOf(address)))
}

/**
 * The addresses of a host that strangers can be given: those that reach furthest first, of these the names. What only this machine can
 * dial is left out where there is anything else, and what leads through a relay always: nobody joins a run through one.
 */
export function addressesForOthers(addresses: readonly string[]): {
  readonly addresses: readonly string[]
  /** Of the best of them. */
  readonly reach: DirectReach
} {
  const withReach = (wanted: DirectReach): string[] => {
    const found = addresses.filter((address) => reachOf(address) === wanted)
    return [...found.filter(isNamed), ...found.filter((address) => !isNamed(address))]
  }
  const far = [...withReach('anywhere'), ...withReach('network')]
  const useful = far.length > 0 ? far : withReach('machine')
  const [best] = useful
  return {
    addresses: useful,
    reach: DIRECT.find((reach) => best !== undefined && reachOf(best) === reach) ?? 'machine',
  }
}

const isNamed = (address: string): boolean => NAMES.has(multiaddr(address).getComponents()[0]?.name ?? '')

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
