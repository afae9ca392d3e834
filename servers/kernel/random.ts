import { hash } from 'node:crypto'
import { uniformInt } from 'pure-rand/distribution/uniformInt'
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus'

/** A deterministic random stream: the same seed gives the same draws on every machine. */
export interface SeededRandom {
  /** Draws a uniform integer in `low .. high`, both included. */
  int(low: number, high: number): number
  /** Returns true with probability `p`, to a resolution of 1e-6. */
  chance(p: number): boolean
  /** Draws one element uniformly. @throws RangeError on an empty list */
  pick<T>(items: readonly T[]): T
  /** Draws `count` different elements in random order, or all if the list is shorter. */
  sample<T>(items: readonly T[], count: number): T[]
  shuffle<T>(items: readonly T[]): T[]
}

/** Derives a 32-bit seed from a label, so that streams for different purposes differ. */
export function deriveSeed(...parts: readonly (string | number)[]): number {
  return hash('sha256', JSON.stringify(parts), 'buffer').readUInt32LE(0)
}

export function seededRandom(seed: number): SeededRandom {
  const generator = xoroshiro128plus(seed | 0)
  const int = (low: number, high: number): number => uniformInt(generator, low, high)
  const sample = <T>(items: readonly T[], count: number): T[] => {
    const pool = [...items]
    const taken = Math.min(count, pool.length)
    for (let i = 0; i < taken; i++) {
      const j = int(i, pool.length - 1)
      const held = pool[i] as T
      pool[i] = pool[j] as T
      pool[j] = held
    }
    return pool.slice(0, taken)
  }
  return {
    int,
    chance: (p) => int(0, 999_999) < p * 1_000_000,
    pick: (items) => {
      if (items.length === 0) throw new RangeError('cannot pick from an empty list')
      return items[int(0, items.length - 1)] as (typeof items)[number]
    },
    sample,
    shuffle: (items) => sample(items, items.length),
  }
}
