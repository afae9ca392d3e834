import type { SeededRandom } from '../kernel/random.js'

/** How often a sampler draws before it gives up. */
export const DRAWS = 24

/** An amount as people name them, often round, from 1 to `most`. */
export function sampleAmount(random: SeededRandom, most: number): number {
  const cap = Math.max(1, Math.min(most, 400))
  const drawn = random.int(1, cap)
  return drawn >= 20 && random.chance(0.6) ? drawn - (drawn % 5) : drawn
}
