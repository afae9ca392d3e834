import type { SeededRandom } from '../kernel/random.js'

/** An amount as people name them, mostly round, from 5 to `most` (at most 2000); nothing when `most` is below 5. */
export function sampleAmount(random: SeededRandom, most: number): number | undefined {
  const cap = Math.min(2000, Math.floor(most))
  if (cap < 5) return undefined
  const drawn = random.pick([
    () => random.int(5, 99),
    () => random.int(2, 40) * 5,
    () => random.int(3, 40) * 10,
    () => random.int(2, 40) * 50,
    () => random.int(101, 999),
  ])()
  return drawn <= cap ? drawn : random.int(5, cap)
}
