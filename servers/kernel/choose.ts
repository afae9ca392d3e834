import type { SeededRandom } from './random.js'
import type { TableView } from './table.js'

/** The row that `bound` names if it fits, or one that fits at random; nothing when there is none. For samplers. */
export function choose<R>(
  table: TableView<R>,
  random: SeededRandom,
  bound: string | undefined,
  fits: (row: R) => boolean = () => true,
): R | undefined {
  return bound === undefined ? pickFrom(random, table.list(fits)) : boundRow(table, bound, fits)
}

/** Draws before all rows are looked at. */
const DRAWS = 8

/** As `choose`, and as even, but cheaper where `fits` costs more than a draw and most rows fit. */
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

/** The rows a sampler may choose from: the bound one or, without a binding, all; in either case only those that fit. */
export function choices<R>(table: TableView<R>, bound: string | undefined, fits: (row: R) => boolean): R[] {
  if (bound === undefined) return table.list(fits)
  const row = boundRow(table, bound, fits)
  return row === undefined ? [] : [row]
}

/** One of `rows`; nothing when there are none. */
export function pickFrom<R>(random: SeededRandom, rows: readonly R[]): R | undefined {
  return rows.length > 0 ? random.pick(rows) : undefined
}

function boundRow<R>(table: TableView<R>, bound: string, fits: (row: R) => boolean): R | undefined {
  const row = table.get(bound)
  return row !== undefined && fits(row) ? row : undefined
}
