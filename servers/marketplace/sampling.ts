import type { SampleContext } from '../kernel/define-environment.js'
import type { SeededRandom } from '../kernel/random.js'
import type { MarketTables } from './schema.js'

/** What samplers of this environment draw from. */
export type Draw<A> = SampleContext<MarketTables, A>

/** An amount in `low .. high` as people name them: round when there is room. */
export function roundAmount(random: SeededRandom, low: number, high: number): number {
  const drawn = random.int(low, high)
  const rounded = Math.round(drawn / 5) * 5
  return rounded >= low && rounded <= high ? rounded : drawn
}
