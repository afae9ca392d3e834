import type { Entry, Side } from './schema.js'

/** Shares traded at one price. */
export interface Fill {
  readonly price: number
  readonly quantity: number
}

export interface Match {
  /** Best price first, one per price. */
  readonly fills: readonly Fill[]
  /** Entries that remain on the side that was traded against. */
  readonly left: Entry[]
  readonly unfilled: number
  /** Whether an order of the customer's own stood in the way; it was passed over. */
  readonly metOwn: boolean
}

export const opposite = (side: Side): Side => (side === 'buy' ? 'sell' : 'buy')

/** Whether an incoming order with this limit (null: any price) accepts a resting one at `price`. */
const accepts = (side: Side, limit: number | null, price: number): boolean =>
  limit === null || (side === 'buy' ? price <= limit : price >= limit)

/**
 * Matches an incoming order against the resting ones of the opposite side, by price and then by time of arrival.
 * @param resting  the opposite side of the book, best first
 * @param limit    worst price the incoming order accepts, null for any
 */
export function match(resting: readonly Entry[], side: Side, quantity: number, limit: number | null): Match {
  const fills: { price: number; quantity: number }[] = []
  const left: Entry[] = []
  let unfilled = quantity
  let metOwn = false
  for (const entry of resting) {
    const wanted = unfilled > 0 && accepts(side, limit, entry.price)
    if (wanted && entry.trade_order !== null) metOwn = true
    if (!wanted || entry.trade_order !== null) {
      left.push(entry)
      continue
    }
    const traded = Math.min(unfilled, entry.quantity)
    unfilled -= traded
    const last = fills.at(-1)
    if (last?.price === entry.price) last.quantity += traded
    else fills.push({ price: entry.price, quantity: traded })
    if (traded < entry.quantity) left.push({ ...entry, quantity: entry.quantity - traded })
  }
  return { fills, left, unfilled, metOwn }
}

/** One side of a book with a new entry behind all others of its price. */
export function queue(resting: readonly Entry[], side: Side, entry: Entry): Entry[] {
  const place = resting.findIndex(({ price }) => (side === 'buy' ? price < entry.price : price > entry.price))
  return place < 0 ? [...resting, entry] : [...resting.slice(0, place), entry, ...resting.slice(place)]
}

export const without = (resting: readonly Entry[], order: string): Entry[] =>
  resting.filter(({ trade_order }) => trade_order !== order)

/** Shares that trade before the given order. */
export function sharesAhead(resting: readonly Entry[], order: string): number {
  let ahead = 0
  for (const entry of resting) {
    if (entry.trade_order === order) break
    ahead += entry.quantity
  }
  return ahead
}

export const sharesOf = (fills: readonly Fill[]): number => fills.reduce((sum, { quantity }) => sum + quantity, 0)
export const amountOf = (fills: readonly Fill[]): number =>
  fills.reduce((sum, { price, quantity }) => sum + price * quantity, 0)
