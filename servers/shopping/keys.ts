import type { SeededRandom } from '../kernel/random.js'

/** A name as a key: `Green Cabin` -> `green-cabin`. */
export function slug(name: string): string {
  const words = name.toLowerCase().match(/[a-z0-9]+/g) ?? []
  return words.join('-')
}

/** Numbers for keys, all different: of two digits, so that they never meet the three digits of keys made in a session. */
export function shortNumbers(random: SeededRandom, count: number): number[] {
  return random.sample(
    Array.from({ length: 90 }, (_, i) => i + 10),
    count,
  )
}
