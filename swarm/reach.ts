import { isLinkLocalIp, isPrivateIp } from '@libp2p/utils'
import { type Multiaddr, multiaddr } from '@multiformats/multiaddr'
import { addressBlock } from './address-block.js'

/**
 * Part of the network from which an address can be dialled. An address that is unspecified, link-local, or not TCP over IP can be dialled
 * from nowhere. Other addresses can be dialled from this machine, from within one private network, or from anywhere.
 */
export type Reach = 'nowhere' | DirectReach
export type DirectReach = (typeof DIRECT)[number]

/** The widest first. */
const DIRECT = ['anywhere', 'network', 'machine'] as const

const NAMES: ReadonlySet<string> = new Set(['dns', 'dns4', 'dns6'])
const AFTER_HOST: ReadonlySet<string> = new Set(['tcp', 'p2p'])
const LOOPBACK = /^(127\.|::1$|::ffff:127\.|::ffff:7f)/i
const UNSPECIFIED = /^(0\.0\.0\.0|::)$/

/** Returns the reach of an address. A name counts as public, except a name of multicast DNS: only a look-up shows its address. */
export function reachOf(address: string | Multiaddr): Reach {
  const [host, ...rest] = multiaddr(address)
    .getComponents()
    .filter(({ name }) => name !== 'ip6zone')
  if (host === undefined || rest.some(({ name }) => !AFTER_HOST.has(name))) return 'nowhere'
  const value = host.value ?? ''
  if (NAMES.has(host.name)) return value === 'localhost' ? 'machine' : value.endsWith('.local') ? 'network' : 'anywhere'
  if (host.name !== 'ip4' && host.name !== 'ip6') return 'nowhere'
  if (UNSPECIFIED.test(value) || isLinkLocalIp(value)) return 'nowhere'
  if (LOOPBACK.test(value)) return 'machine'
  return isPrivateIp(value) ? 'network' : 'anywhere'
}

/** Returns the addresses with the widest reach among those given. Peers need no address of less reach. */
export function widest<Address extends string | Multiaddr>(addresses: readonly Address[]): Address[] {
  const reaches = new Set(addresses.map((address) => reachOf(address)))
  const best = DIRECT.find((reach) => reaches.has(reach))
  return addresses.filter((address) => reachOf(address) === best)
}

/**
 * Returns the addresses of a host that strangers can be given: the widest reach first, and among equals names first. Loopback
 * addresses are left out if there is any other address.
 */
export function addressesForOthers(addresses: readonly string[]): {
  readonly addresses: readonly string[]
  /** Reach of the first address. */
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
 * Decides whether a peer may receive another peer's address. A private address means nothing to strangers, and may lead them to a
 * machine in their own network. Peers therefore exchange it only if both are connected from the same network or machine.
 * @param of  where the address's owner is connected from
 * @param to  where the receiver is connected from; null: the address would go to all peers
 */
export function mayBeShared(address: string, { of, to }: { readonly of: string; readonly to: string | null }): boolean {
  const reach = reachOf(address)
  if (reach === 'anywhere') return true
  if (reach === 'nowhere' || to === null) return false
  return reachOf(of) === reach && reachOf(to) === reach && addressBlock(of) === addressBlock(to)
}

/**
 * Decides whether an address can belong to a peer that is connected from `of`, so that a peer cannot redirect others to a third party.
 * A name may belong to any peer: dialling it shows whose it is.
 */
export function couldBeOf(address: string, of: string): boolean {
  const [host] = multiaddr(address).getComponents()
  const [seen] = multiaddr(of).getComponents()
  if (!host || !seen) return false
  return NAMES.has(host.name) || (host.name === seen.name && host.value === seen.value)
}

/** Removes the peer id from the end of an address. */
export const withoutPeer = (address: string): string => address.replace(/\/p2p\/[^/]+$/, '')
