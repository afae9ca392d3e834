import type { SeededRandom } from '../kernel/random.js'

/** A budget as people name them: round, from 1500 to 90000. */
export const sampleBudget = (random: SeededRandom): number =>
  random.pick([() => 500 * random.int(3, 40), () => 1000 * random.int(5, 60), () => 5000 * random.int(2, 18)])()
