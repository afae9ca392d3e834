import type { Rollout } from '../episode/index.js'

/** Tokens of one shingle: long enough to be specific, short enough that one changed token affects few shingles. */
const SHINGLE = 5
/** Numbers of a sketch. They estimate the likeness of two rollouts to within about a twelfth. */
export const SKETCH_NUMBERS = 32

/**
 * Sketch of a rollout's sampled tokens, from which likeness can be estimated in spite of changes. It consists of b-bit minwise hashes
 * (Li and König 2010) of the rollout's shingles, with 16 bits each.
 */
export type Sketch = Uint16Array

/** Mixes bits as MurmurHash3 does (Appleby 2011). The function is bijective on 32 bits, so distinct shingles stay distinct. */
function mix(value: number): number {
  let h = value ^ (value >>> 16)
  h = Math.imul(h, 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return (h ^ (h >>> 16)) >>> 0
}

/** Computes the sketch of a rollout's sampled tokens. */
export function sketchOf({ tokens, mask }: Pick<Rollout, 'tokens' | 'mask'>): Sketch {
  const sampled = tokens.filter((_, i) => mask[i] === 1)
  const least = new Uint32Array(SKETCH_NUMBERS).fill(0xffffffff)
  for (let start = 0; start === 0 || start + SHINGLE <= sampled.length; start++) {
    const shingle = sampled
      .slice(start, start + SHINGLE)
      .reduce((hash, token) => mix(hash ^ token) + 0x9e3779b9, SHINGLE)
    for (let i = 0; i < SKETCH_NUMBERS; i++) least[i] = Math.min(least[i]!, mix(shingle ^ mix(i + 1)))
  }
  return Uint16Array.from(least)
}

/** Estimates the Jaccard similarity of two rollouts' shingles, 0 to 1. */
export function likeness(one: Sketch, other: Sketch): number {
  let equal = 0
  for (let i = 0; i < SKETCH_NUMBERS; i++) if (one[i] === other[i]) equal += 1
  return equal / SKETCH_NUMBERS
}

/** Encodes a sketch for events: 16 bits per number, little-endian, in base64. */
export function encodeSketch(sketch: Sketch): string {
  const bytes = Buffer.alloc(2 * SKETCH_NUMBERS)
  for (const [i, number] of sketch.entries()) bytes.writeUInt16LE(number, 2 * i)
  return bytes.toString('base64')
}

export function decodeSketch(text: string): Sketch {
  const bytes = Buffer.from(text, 'base64')
  return Uint16Array.from({ length: SKETCH_NUMBERS }, (_, i) => bytes.readUInt16LE(2 * i))
}
