import { multiaddr } from '@multiformats/multiaddr'

/** First bytes of an address that name its block: what one household or one rented machine usually has. */
const BLOCK_BYTES = { ip4: 3, ip6: 6 } as const

/** The block of network addresses a peer is in, a /24 or a /48 in hex, or null when the address is not an IP address. */
export function addressBlock(address: string): string | null {
  const [first] = multiaddr(address).getComponents()
  if (first?.name !== 'ip4' && first?.name !== 'ip6') return null
  // A component's bytes begin with its code, one byte for these two.
  const bytes = multiaddr(`/${first.name}/${first.value}`).bytes.subarray(1, 1 + BLOCK_BYTES[first.name])
  return `${first.name}/${Buffer.from(bytes).toString('hex')}`
}
