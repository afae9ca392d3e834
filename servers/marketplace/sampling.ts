import type { SampleContext } from '../kernel/define-server.js'
import type { SeededRandom } from '../kernel/random.js'
import type { MarketTables } from './schema.js'

/** What samplers of this world draw from. */
export type Draw<A> = SampleContext<MarketTables, A>

/** The row of that key if it fits, or any that fits. */
export function choose<R>(
  random: SeededRandom,
  table: { get(key: string): R | undefined; list(where: (row: R) => boolean): R[] },
  bound: string | undefined,
  fits: (row: R) => boolean,
): R | undefined {
  if (bound !== undefined) {
    const row = table.get(bound)
    return row !== undefined && fits(row) ? row : undefined
  }
  const rows = table.list(fits)
  return rows.length > 0 ? random.pick(rows) : undefined
}

/** An amount in `low .. high` as people name them: round when there is room. */
export function roundAmount(random: SeededRandom, low: number, high: number): number {
  const drawn = random.int(low, high)
  const rounded = Math.round(drawn / 5) * 5
  return rounded >= low && rounded <= high ? rounded : drawn
}
