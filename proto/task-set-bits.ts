/** Encodes a set of task indices for a manifest: bit i of byte i >> 3, in base64; empty for the empty set. */
export function encodeTaskSet(count: number, holds: (index: number) => boolean): string {
  const bits = new Uint8Array(Math.ceil(count / 8))
  let last = -1
  for (let i = 0; i < count; i++) {
    if (!holds(i)) continue
    bits[i >> 3]! |= 1 << (i & 7)
    last = i
  }
  return Buffer.from(bits.subarray(0, (last >> 3) + 1)).toString('base64')
}

/** Decodes a set of task indices. @returns whether the set contains an index */
export function decodeTaskSet(encoded: string): (index: number) => boolean {
  const bits = Buffer.from(encoded, 'base64')
  return (index) => ((bits[index >> 3] ?? 0) & (1 << (index & 7))) !== 0
}
