import type { SampleContext } from '../kernel/define-environment.js'
import type { SeededRandom } from '../kernel/random.js'
import type { MarketTables } from './schema.js'

/** Context from which the samplers of this environment draw. */
export type Draw<A> = SampleContext<MarketTables, A>

/** Samples an amount in `low .. high` as people name amounts: a multiple of five if that is in the range. */
export function roundAmount(random: SeededRandom, low: number, high: number): number {
  const drawn = random.int(low, high)
  const rounded = Math.round(drawn / 5) * 5
  return rounded >= low && rounded <= high ? rounded : drawn
}
