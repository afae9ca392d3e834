import type { Rollout } from '../episode/index.js'

/** Tokens of one shingle: long enough to say something, short enough that one changed token spoils few. */
const SHINGLE = 5
/** Numbers of a sketch. The likeness of two rollouts is told to within about a twelfth. */
export const SKETCH_NUMBERS = 32

/**
 * What a rollout's sampled tokens are made of, so that likeness survives changes: b-bit minwise hashes (Li and König 2010) of its
 * shingles, of 16 bits each.
 */
export type Sketch = Uint16Array

/** The mixing of MurmurHash3 (Appleby 2011): bijective on 32 bits, so distinct shingles stay distinct. */
function mix(value: number): number {
  let h = value ^ (value >>> 16)
  h = Math.imul(h, 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return (h ^ (h >>> 16)) >>> 0
}

export function sketchOf({ tokens, mask }: Pick<Rollout, 'tokens' | 'mask'>): Sketch {
  const said = tokens.filter((_, i) => mask[i] === 1)
  const least = new Uint32Array(SKETCH_NUMBERS).fill(0xffffffff)
  for (let start = 0; start === 0 || start + SHINGLE <= said.length; start++) {
    const shingle = said.slice(start, start + SHINGLE).reduce((hash, token) => mix(hash ^ token) + 0x9e3779b9, SHINGLE)
    for (let i = 0; i < SKETCH_NUMBERS; i++) least[i] = Math.min(least[i]!, mix(shingle ^ mix(i + 1)))
  }
  return Uint16Array.from(least)
}

/** Share of the shingles of either that both have (Jaccard), 0 to 1, as far as sketches tell. */
export function likeness(one: Sketch, other: Sketch): number {
  let equal = 0
  for (let i = 0; i < SKETCH_NUMBERS; i++) if (one[i] === other[i]) equal += 1
  return equal / SKETCH_NUMBERS
}

/** As events hold it: 16 bits each, little-endian, in base64. */
export function encodeSketch(sketch: Sketch): string {
  const bytes = Buffer.alloc(2 * SKETCH_NUMBERS)
  for (const [i, number] of sketch.entries()) bytes.writeUInt16LE(number, 2 * i)
  return bytes.toString('base64')
}

export function decodeSketch(text: string): Sketch {
  const bytes = Buffer.from(text, 'base64')
  return Uint16Array.from({ length: SKETCH_NUMBERS }, (_, i) => bytes.readUInt16LE(2 * i))
}
