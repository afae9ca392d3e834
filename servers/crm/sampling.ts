import type { SeededRandom } from '../kernel/random.js'
import type { TableView } from '../kernel/table.js'

/** The row that `bound` names if it fits, or one that fits at random; nothing when there is none. */
export function choose<R>(
  table: TableView<R>,
  random: SeededRandom,
  bound: string | undefined,
  fits: (row: R) => boolean = () => true,
): R | undefined {
  if (bound !== undefined) {
    const row = table.get(bound)
    return row !== undefined && fits(row) ? row : undefined
  }
  return pickFrom(random, table.list(fits))
}

/** One of `rows`; nothing when there are none. */
export function pickFrom<R>(random: SeededRandom, rows: readonly R[]): R | undefined {
  return rows.length > 0 ? random.pick(rows) : undefined
}

/** A budget as people name them: round, from 1500 to 90000. */
export const sampleBudget = (random: SeededRandom): number =>
  random.pick([() => 500 * random.int(3, 40), () => 1000 * random.int(5, 60), () => 5000 * random.int(2, 18)])()
