import { BlockList, isIP } from 'node:net'
import { multiaddr } from '@multiformats/multiaddr'

/** From where an address can be dialled: `machine`, only from the same one; `network`, from the same local or private network. */
export type Reach = 'anywhere' | 'network' | 'machine'

const LOCAL = new BlockList()
LOCAL.addSubnet('127.0.0.0', 8, 'ipv4')
LOCAL.addAddress('::1', 'ipv6')
/** RFC 1918, 3927, 6598, 4193, 4291. */
const PRIVATE = new BlockList()
for (const [net, prefix] of [
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['169.254.0.0', 16],
  ['100.64.0.0', 10],
] as const)
  PRIVATE.addSubnet(net, prefix, 'ipv4')
PRIVATE.addSubnet('fc00::', 7, 'ipv6')
PRIVATE.addSubnet('fe80::', 10, 'ipv6')

const REACHES: readonly Reach[] = ['anywhere', 'network', 'machine']

/** By the host that the address begins with. */
export function reachOf(address: string): Reach {
  const [first] = multiaddr(address).getComponents()
  const host = first?.value ?? ''
  const version = isIP(host)
  if (version === 0) return host === 'localhost' ? 'machine' : host.endsWith('.local') ? 'network' : 'anywhere'
  const family = version === 4 ? 'ipv4' : 'ipv6'
  return LOCAL.check(host, family) ? 'machine' : PRIVATE.check(host, family) ? 'network' : 'anywhere'
}

/**
 * The addresses of a host that are of use to others, those with names first, then those that reach furthest. What only this machine
 * can dial is left out where there is anything else.
 */
export function addressesForOthers(addresses: readonly string[]): {
  readonly addresses: readonly string[]
  /** Of the best of them. */
  readonly reach: Reach
} {
  const sorted = addresses
    .map((address) => ({ address, reach: reachOf(address), named: /^\/dns/.test(address) }))
    .sort((a, b) => REACHES.indexOf(a.reach) - REACHES.indexOf(b.reach) || Number(b.named) - Number(a.named))
  const reach = sorted[0]?.reach ?? 'machine'
  const useful = sorted.filter((one) => one.reach !== 'machine' || reach === 'machine')
  return { addresses: useful.map(({ address }) => address), reach }
}
