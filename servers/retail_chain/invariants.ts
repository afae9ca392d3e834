import type { Invariant } from '../kernel/define-environment.js'
import { LIMITS, openReservations, stockKey } from './rules.js'
import type { RetailTables, RetailView } from './schema.js'

type RetailInvariant = Invariant<RetailTables>

/** Adds `amount` to what is noted under `key`. */
function add(counts: Map<string, number>, key: string, amount: number): void {
  counts.set(key, (counts.get(key) ?? 0) + amount)
}

const piecesAreConserved: RetailInvariant = {
  name: 'of each article, what is in the warehouse, in stores, on its way, sold and missing stays the same in sum',
  check(now, seed) {
    const totals = (db: RetailView) => {
      const counts = new Map(db.articles.list().map(({ article, warehouse }) => [article, warehouse]))
      for (const { article, on_hand, sold, missing } of db.stocks.list()) add(counts, article, on_hand + sold + missing)
      for (const { article, quantity } of db.shipments.by('status', 'transit')) add(counts, article, quantity)
      return counts
    }
    const before = totals(seed)
    const wrong = [...totals(now)].find(([article, count]) => before.get(article) !== count)
    return wrong && `${wrong[0]}: ${before.get(wrong[0])} became ${wrong[1]}`
  },
}

const reservedIsKept: RetailInvariant = {
  name: 'what is reserved in a store is what its open reservations say, and it is on hand',
  check(now) {
    const open = new Map<string, number>()
    for (const { store, article, quantity } of now.reservations.by('status', 'open'))
      add(open, stockKey(store, article), quantity)
    const wrong = now.stocks.find(
      ({ stock, reserved, on_hand }) => reserved !== (open.get(stock) ?? 0) || reserved > on_hand,
    )
    return wrong && `${wrong.stock}: ${wrong.reserved} of ${wrong.on_hand} reserved`
  },
}

const incomingIsUnderway: RetailInvariant = {
  name: 'what comes in to a store is what its shipments in transit carry',
  check(now) {
    const underway = new Map<string, number>()
    for (const { to_store, article, quantity } of now.shipments.by('status', 'transit'))
      add(underway, stockKey(to_store, article), quantity)
    const wrong = now.stocks.find(({ stock, incoming }) => incoming !== (underway.get(stock) ?? 0))
    return wrong && `${wrong.stock}: ${wrong.incoming} incoming`
  },
}

const shelvesHold: RetailInvariant = {
  name: 'no store has, or waits for, more pieces than it has room for',
  check(now) {
    const wrong = now.stocks.find(({ on_hand, incoming, capacity }) => on_hand + incoming > capacity)
    return wrong && `${wrong.stock}: ${wrong.on_hand} + ${wrong.incoming} of ${wrong.capacity}`
  },
}

const pricesOnlyFall: RetailInvariant = {
  name: 'prices only fall, never below what the chain paid',
  check(now, seed) {
    const wrong = now.stocks.find(
      ({ stock, article, price }) => price > seed.stocks.get(stock)!.price || price < now.articles.get(article)!.cost,
    )
    return wrong && `${wrong.stock} costs ${wrong.price}`
  },
}

const takingsAreEarned: RetailInvariant = {
  name: 'each store has taken, and sold, exactly what was collected from it',
  check(now, seed) {
    const earned = new Map<string, number>()
    const handed = new Map<string, number>()
    for (const { reservation, store, article, quantity, price } of now.reservations.by('status', 'collected')) {
      if (seed.reservations.get(reservation)?.status === 'collected') continue
      add(earned, store, quantity * price)
      add(handed, stockKey(store, article), quantity)
    }
    const rich = now.stores.find(
      ({ store, takings }) => takings !== seed.stores.get(store)!.takings + (earned.get(store) ?? 0),
    )
    if (rich) return `${rich.store} has taken ${rich.takings}`
    const sold = now.stocks.find((row) => row.sold !== seed.stocks.get(row.stock)!.sold + (handed.get(row.stock) ?? 0))
    return sold && `${sold.stock} has sold ${sold.sold}`
  },
}

const nothingGoesBack: RetailInvariant = {
  name: 'a received shipment and a closed reservation stay as they are',
  check(now, seed) {
    const shipment = seed.shipments.find(
      ({ shipment, status }) => status === 'received' && now.shipments.get(shipment)?.status !== 'received',
    )
    if (shipment) return shipment.shipment
    const reservation = seed.reservations.find(
      ({ reservation, status }) => status !== 'open' && now.reservations.get(reservation)?.status !== status,
    )
    return reservation?.reservation
  },
}

const quotasHold: RetailInvariant = {
  name: 'a customer has few open reservations, and a store waits for an article from the warehouse once',
  check(now) {
    const greedy = now.reservations
      .by('status', 'open')
      .find(({ customer_name }) => openReservations(now, customer_name) > LIMITS.reservations)
    if (greedy) return greedy.customer_name
    const orders = now.shipments.by('status', 'transit').filter(({ from_store }) => from_store === null)
    const kinds = new Set(orders.map(({ to_store, article }) => stockKey(to_store, article)))
    return kinds.size === orders.length ? undefined : 'an article is on order twice'
  },
}

const referencesResolve: RetailInvariant = {
  name: 'stocks, shipments and reservations belong to stores that carry their articles',
  check(now) {
    const lost =
      now.stocks.find(({ store, article }) => !now.stores.has(store) || !now.articles.has(article))?.stock ??
      now.shipments.find(
        ({ from_store, to_store, article }) =>
          !now.stocks.has(stockKey(to_store, article)) ||
          (from_store !== null && !now.stocks.has(stockKey(from_store, article))),
      )?.shipment ??
      now.reservations.find(({ store, article }) => !now.stocks.has(stockKey(store, article)))?.reservation
    return lost && `${lost} refers to something that does not exist`
  },
}

export const retailInvariants = [
  piecesAreConserved,
  reservedIsKept,
  incomingIsUnderway,
  shelvesHold,
  pricesOnlyFall,
  takingsAreEarned,
  nothingGoesBack,
  quotasHold,
  referencesResolve,
]
