import type { SeededRandom } from './random.js'

const TWO_DIGITS: readonly number[] = Array.from({ length: 90 }, (_, i) => i + 10)

/**
 * Returns numbers for the keys of a start state, all different and in random order. They have two digits, so that they never equal the
 * three digits of keys made in a session.
 * @param count  at most 90
 */
export function twoDigitNumbers(random: SeededRandom, count: number): number[] {
  return random.sample(TWO_DIGITS, count)
}
