import { multiaddr } from '@multiformats/multiaddr'

/** Length of the prefix that names a block in bytes: the block that one household or one rented machine usually has. */
const BLOCK_BYTES = { ip4: 3, ip6: 6 } as const

/** Returns the block of a network address, a /24 or a /48 in hex, or null if the address is not an IP address. */
export function addressBlock(address: string): string | null {
  const [first] = multiaddr(address).getComponents()
  if (first?.name !== 'ip4' && first?.name !== 'ip6') return null
  // A component's bytes begin with its code, one byte for these two.
  const bytes = multiaddr(`/${first.name}/${first.value}`).bytes.subarray(1, 1 + BLOCK_BYTES[first.name])
  return `${first.name}/${Buffer.from(bytes).toString('hex')}`
}
