import type { SeededRandom } from '../kernel/random.js'
import type { TableView } from '../kernel/table.js'
import type { RetailView, Stock } from './schema.js'

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
  const rows = table.list(fits)
  return rows.length > 0 ? random.pick(rows) : undefined
}

/** An article in a store that fits, at random; of the bound store and article where they are bound. */
export function chooseStock(
  db: RetailView,
  random: SeededRandom,
  bound: { readonly store?: string | undefined; readonly article?: string | undefined },
  fits: (row: Stock) => boolean = () => true,
): Stock | undefined {
  const rows = db.stocks.list(
    (row) => row.store === (bound.store ?? row.store) && row.article === (bound.article ?? row.article) && fits(row),
  )
  return rows.length > 0 ? random.pick(rows) : undefined
}
