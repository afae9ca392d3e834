import type { SampleContext } from '../kernel/define-server.js'
import type { SeededRandom } from '../kernel/random.js'
import type { MarketTables } from './schema.js'

/** What samplers of this world draw from. */
export type Draw<A> = SampleContext<MarketTables, A>

const DRAWS = 8

/** The row of that key if it fits, or any that fits. */
export function choose<R>(
  random: SeededRandom,
  table: { get(key: string): R | undefined; list(): R[] },
  bound: string | undefined,
  fits: (row: R) => boolean,
): R | undefined {
  if (bound !== undefined) {
    const row = table.get(bound)
    return row !== undefined && fits(row) ? row : undefined
  }
  const rows = table.list()
  if (rows.length === 0) return undefined
  // Rules cost more than draws: most of the time a few draws find a row, as evenly as looking at all would.
  for (let draw = 0; draw < DRAWS; draw++) {
    const row = random.pick(rows)
    if (fits(row)) return row
  }
  const fitting = rows.filter(fits)
  return fitting.length > 0 ? random.pick(fitting) : undefined
}

/** An amount in `low .. high` as people name them: round when there is room. */
export function roundAmount(random: SeededRandom, low: number, high: number): number {
  const drawn = random.int(low, high)
  const rounded = Math.round(drawn / 5) * 5
  return rounded >= low && rounded <= high ? rounded : drawn
}
