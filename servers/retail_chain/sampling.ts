import type { SeededRandom } from '../kernel/random.js'
import type { RetailView, Stock } from './schema.js'

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
