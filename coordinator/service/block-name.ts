/** Returns a block of addresses as people write it, such as `203.0.113.0/24`. @param block  see `addressBlock`, or a peer id */
export function blockName(block: string): string {
  const [family, hex = ''] = block.split('/')
  if (family === 'ip4') return `${[...Buffer.from(hex, 'hex')].join('.')}.0/24`
  if (family === 'ip6') return `${hex.match(/.{4}/g)?.join(':') ?? hex}::/48`
  return `…${block.slice(-8)}`
}
