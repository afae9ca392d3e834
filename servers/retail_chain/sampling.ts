import type { SeededRandom } from '../kernel/random.js'
import { isLow } from './rules.js'
import type { RetailView, Stock } from './schema.js'

/**
 * Returns whether no other store of the city needs the article more. A statement about the store that is short of the
 * article must not lead to an action for another store.
 */
export function isNeediest(db: RetailView, row: Stock): boolean {
  const { city } = db.stores.get(row.store)!
  return (
    isLow(row) ||
    !db.stocks.by('article', row.article).some((other) => isLow(other) && db.stores.get(other.store)!.city === city)
  )
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
