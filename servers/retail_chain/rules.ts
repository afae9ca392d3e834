import { timeOf } from '../kernel/dates.js'
import { CITIES } from '../kernel/gazetteer.js'
import {
  type Article,
  type Context,
  type Obstacle,
  type Reservation,
  type RetailView,
  type Shipment,
  type Stock,
  type Store,
  WEEKDAYS,
} from './schema.js'

/** The chain's limits: name, value, unit. */
export const LIMITS = {
  /** Open reservations of one customer in the whole chain. */
  reservations: 3,
  /** How long an article is kept, the day of the reservation not counted. Days. */
  reservationDays: 2,
  /** A count that differs from the books by more than this has to be confirmed by a second one. Pieces. */
  countTolerance: 3,
} as const

export const stockKey = (store: string, article: string): string => `${store} ${article}`

/** Returns the store's stock of the article. Fails with `not_carried` if the store does not carry the article. */
export const stockOf = ({ db, fail }: Context, store: Store, { article, title }: Article): Stock =>
  db.stocks.get(stockKey(store.store, article)) ?? fail('not_carried', `${store.name} does not carry ${title}.`)

/** Pieces that can be sold, reserved or sent away. */
export const availableOf = ({ on_hand, reserved }: Stock): number => on_hand - reserved

/** Returns how many more pieces fit into the store, in addition to its pieces and those on their way. */
export const roomOf = ({ capacity, on_hand, incoming }: Stock): number => capacity - on_hand - incoming

export const isLow = ({ on_hand, incoming, reorder_point }: Stock): boolean => on_hand + incoming <= reorder_point

/** Whether the store is open at `now` (ISO 8601 UTC). */
export function isOpen({ opens, closes, closed_on }: Store, now: string): boolean {
  const time = timeOf(now)
  return opens <= time && time < closes && WEEKDAYS[new Date(now).getUTCDay()] !== closed_on
}

/** Returns the obstacle to work in the store at `now`, if any. */
export function closedObstacle(store: Store, now: string): Obstacle | undefined {
  return isOpen(store, now)
    ? undefined
    : {
        code: 'store_closed',
        detail: `${store.name} is open ${store.opens}-${store.closes}, but not on ${store.closed_on}.`,
      }
}

const COUNTRIES: ReadonlyMap<string, string> = new Map(CITIES.map(({ city, country }) => [city, country]))

/** Days a shipment takes: none within a city, one within a country, else two. */
export function daysBetween(fromCity: string, toCity: string): number {
  if (fromCity === toCity) return 0
  return COUNTRIES.get(fromCity) === COUNTRIES.get(toCity) ? 1 : 2
}

/** Returns the obstacle to sending `quantity` pieces from one store to another, if any. */
export function transferObstacle(from: Stock, to: Stock, quantity: number): Obstacle | undefined {
  if (from.store === to.store) return { code: 'same_store' }
  if (availableOf(from) < quantity)
    return { code: 'not_enough_stock', detail: `${from.store} can spare ${availableOf(from)}.` }
  return spaceObstacle(to, quantity)
}

function spaceObstacle(to: Stock, quantity: number): Obstacle | undefined {
  return roomOf(to) < quantity
    ? { code: 'no_shelf_space', detail: `${to.store} has room for ${Math.max(0, roomOf(to))} more.` }
    : undefined
}

/** Returns the obstacle to ordering `packs` of the article from the warehouse for a store, if any. */
export function reorderObstacle(db: RetailView, article: Article, to: Stock, packs: number): Obstacle | undefined {
  const open = db.shipments
    .by('article', article.article)
    .find(({ to_store, from_store, status }) => to_store === to.store && from_store === null && status === 'transit')
  if (open) return { code: 'already_on_order', detail: `${open.shipment} with ${open.quantity} pieces is on its way.` }
  if (article.warehouse < packs * article.pack)
    return {
      code: 'warehouse_short',
      detail: `The warehouse has ${Math.floor(article.warehouse / article.pack)} packs of ${article.pack}.`,
    }
  return spaceObstacle(to, packs * article.pack)
}

/** Returns the obstacle to receiving the shipment at `now`, if any. */
export function receiveObstacle(db: RetailView, shipment: Shipment, now: string): Obstacle | undefined {
  if (shipment.status === 'received') return { code: 'already_received' }
  if (shipment.due > now.slice(0, 10)) return { code: 'still_in_transit', detail: `It arrives on ${shipment.due}.` }
  return closedObstacle(db.stores.get(shipment.to_store)!, now)
}

/** Open reservations of a customer, whose name is compared without regard to case. */
export function openReservations(db: RetailView, customer: string): number {
  const name = customer.toLowerCase()
  return db.reservations.by('status', 'open').filter(({ customer_name }) => customer_name.toLowerCase() === name).length
}

/** Returns the obstacle to handing out the reserved pieces or giving them up at `now`, if any. */
export function closingObstacle(
  db: RetailView,
  { status, until, store }: Reservation,
  outcome: 'collected' | 'cancelled',
  now: string,
): Obstacle | undefined {
  if (status !== 'open') return { code: 'reservation_closed', detail: `It was ${status}.` }
  if (outcome === 'cancelled') return undefined
  if (until < now.slice(0, 10)) return { code: 'reservation_expired', detail: `It was kept until ${until}.` }
  return closedObstacle(db.stores.get(store)!, now)
}

/** The list price less `percent`, rounded to whole units. */
export const reducedPrice = (price: number, percent: number): number => Math.floor((price * (100 - percent) + 50) / 100)

/** Returns the obstacle to marking the article down to `percent` below its list price, if any. */
export function markdownObstacle(
  { price, cost }: Article,
  stock: Stock,
  percent: number,
  today: string,
): Obstacle | undefined {
  const reduced = reducedPrice(price, percent)
  if (stock.marked_down === today) return { code: 'marked_down_today' }
  if (reduced >= stock.price) return { code: 'not_a_markdown', detail: `It costs ${stock.price} there already.` }
  return reduced < cost
    ? { code: 'below_cost', detail: `${percent} % off would be ${reduced}; the least is ${cost}.` }
    : undefined
}

/** Returns the obstacle to a count of `counted` pieces, if any. */
export function countObstacle(stock: Stock, counted: number, today: string): Obstacle | undefined {
  if (stock.counted === today) return { code: 'counted_today' }
  if (counted < stock.reserved)
    return { code: 'below_reserved', detail: `${stock.reserved} pieces are reserved; cancel reservations first.` }
  return spaceObstacle(stock, counted - stock.on_hand)
}
