import type { SeededRandom } from './random.js'
import type { TableView } from './table.js'

/** Returns, for samplers, the row that `bound` names if it fits, or without `bound` a random row that fits, or `undefined`. */
export function choose<R>(
  table: TableView<R>,
  random: SeededRandom,
  bound: string | undefined,
  fits: (row: R) => boolean = () => true,
): R | undefined {
  return bound === undefined ? pickFrom(random, table.list(fits)) : boundRow(table, bound, fits)
}

/** Number of draws before all rows are checked. */
const DRAWS = 8

/** Does the same as `choose`, with the same distribution, but faster where `fits` is slow and most rows fit. */
export function chooseByDraws<R>(
  table: TableView<R>,
  random: SeededRandom,
  bound: string | undefined,
  fits: (row: R) => boolean,
): R | undefined {
  if (bound !== undefined) return boundRow(table, bound, fits)
  const rows = table.list()
  if (rows.length === 0) return undefined
  for (let draw = 0; draw < DRAWS; draw++) {
    const row = random.pick(rows)
    if (fits(row)) return row
  }
  return pickFrom(random, rows.filter(fits))
}

/** Returns the rows that a sampler may choose from: the bound row, or all rows, if they fit. */
export function choices<R>(table: TableView<R>, bound: string | undefined, fits: (row: R) => boolean): R[] {
  if (bound === undefined) return table.list(fits)
  const row = boundRow(table, bound, fits)
  return row === undefined ? [] : [row]
}

/** Returns a random row, or `undefined` if there are none. */
export function pickFrom<R>(random: SeededRandom, rows: readonly R[]): R | undefined {
  return rows.length > 0 ? random.pick(rows) : undefined
}

function boundRow<R>(table: TableView<R>, bound: string, fits: (row: R) => boolean): R | undefined {
  const row = table.get(bound)
  return row !== undefined && fits(row) ? row : undefined
}
