import { isWorkday, timeOf } from '../kernel/dates.js'
import { amountOf, type Match, match, opposite, without } from './matching.js'
import type { Instrument, Obstacle, Side, TradeOrder, TradingView, Venue, Watch } from './schema.js'

/** The broker's and the exchanges' limits: name, value, unit. */
export const LIMITS = {
  /** Open orders of the customer, stops included. */
  openOrders: 10,
  /** Armed price alerts. */
  armedAlerts: 8,
  /** How far a limit or stop price may be from the opening price. Percent. */
  band: 15,
  /** A trade this far from the opening price halts the instrument. Percent. */
  halt: 5,
} as const

/** The only row of the table of accounts. */
export const ACCOUNT = 'portfolio'

/** Whether the exchange trades at `now` (ISO 8601, UTC): none does on Saturdays and Sundays. */
export function isOpen({ opens, closes }: Venue, now: string): boolean {
  const time = timeOf(now)
  return isWorkday(now.slice(0, 10)) && opens <= time && time < closes
}

const deviates = (price: number, reference: number, percent: number): boolean =>
  Math.abs(price - reference) * 100 > reference * percent

/** Whether a trade at this price halts the instrument. */
export const isExtreme = ({ reference }: Instrument, price: number): boolean =>
  Math.abs(price - reference) * 100 >= reference * LIMITS.halt

/** The lowest and the highest price that orders may name. */
export function bandOf({ reference, tick }: Instrument): { low: number; high: number } {
  const reach = (reference * LIMITS.band) / 100
  return { low: Math.ceil((reference - reach) / tick) * tick, high: Math.floor((reference + reach) / tick) * tick }
}

/** Whether the last price has reached the alert. */
export const isReached = ({ direction, alert_price }: Watch, last: number): boolean =>
  direction === 'above' ? last >= alert_price : last <= alert_price

export function buyingPower(db: TradingView): number {
  const { cash, reserved } = db.account.get(ACCOUNT)!
  return cash - reserved
}

/** Shares of a position that no open order has reserved. */
export function freeShares(db: TradingView, instrument: string): number {
  const position = db.positions.get(instrument)
  return position ? position.shares - position.reserved : 0
}

/** Returns the obstacle to trading in the instrument now, if any. */
export function tradingObstacle(db: TradingView, now: string, { instrument, venue, status }: Instrument) {
  const { name, opens, closes } = db.venues.get(venue)!
  if (!isOpen(db.venues.get(venue)!, now))
    return {
      code: 'market_closed',
      detail: `${name} trades from Monday to Friday, ${opens} to ${closes} UTC.`,
    } satisfies Obstacle
  if (status === 'halted')
    return { code: 'instrument_halted', detail: `Trading in ${instrument} is halted.` } satisfies Obstacle
  return undefined
}

export function lotObstacle({ lot }: Instrument, quantity: number): Obstacle | undefined {
  return quantity % lot === 0 ? undefined : { code: 'bad_lot', detail: `The lot size is ${lot} shares.` }
}

export function priceObstacle(instrument: Instrument, price: number): Obstacle | undefined {
  if (price % instrument.tick !== 0) return { code: 'bad_tick', detail: `The tick size is ${instrument.tick} EUR.` }
  if (!deviates(price, instrument.reference, LIMITS.band)) return undefined
  const { low, high } = bandOf(instrument)
  return { code: 'price_out_of_band', detail: `Orders may name prices from ${low} to ${high} EUR today.` }
}

/** Terms of an order. A price of null means a market order. */
export interface Terms {
  readonly instrument: Instrument
  readonly side: Side
  readonly quantity: number
  readonly price: number | null
}

export const isObstacle = (plan: Match | Obstacle): plan is Obstacle => 'code' in plan

/**
 * Returns the match that an order would have at once, or the obstacle to the order.
 * @param replaced  the open limit order that the new one replaces; its reserves are free for the new terms
 */
export function planOrder(db: TradingView, now: string, terms: Terms, replaced?: TradeOrder): Match | Obstacle {
  const { instrument, side, quantity, price } = terms
  const shut =
    tradingObstacle(db, now, instrument) ??
    lotObstacle(instrument, quantity) ??
    (price === null ? undefined : priceObstacle(instrument, price))
  if (shut) return shut
  const book = db.books.get(instrument.instrument)!
  const other = opposite(side)
  const plan = match(book[other], side, quantity, price)
  if (plan.metOwn) return { code: 'self_match' }
  if (price === null && plan.unfilled > 0)
    return {
      code: 'no_liquidity',
      detail: `The book holds only ${quantity - plan.unfilled} shares on the ${other} side.`,
    }
  if (plan.unfilled > 0 && !replaced && db.trade_orders.by('status', 'open').length >= LIMITS.openOrders)
    return { code: 'too_many_open_orders', detail: `At most ${LIMITS.openOrders} orders may be open.` }
  return (side === 'buy' ? buyObstacle(db, terms, plan, replaced) : sellObstacle(db, terms, replaced)) ?? plan
}

function buyObstacle(
  db: TradingView,
  { instrument, price }: Terms,
  plan: Match,
  replaced?: TradeOrder,
): Obstacle | undefined {
  const held = replaced ? replaced.open * replaced.price! : 0
  const cost = amountOf(plan.fills) + plan.unfilled * (price ?? 0)
  const power = buyingPower(db) + held
  if (cost > power)
    return { code: 'insufficient_buying_power', detail: `It costs ${cost} EUR; ${power} EUR is available.` }
  const { sector, limit, exposure } = db.sectors.get(instrument.sector)!
  const room = limit - exposure + held
  return cost > room
    ? { code: 'sector_limit_exceeded', detail: `Only ${room} EUR more may be invested in ${sector}.` }
    : undefined
}

function sellObstacle(
  db: TradingView,
  { instrument, quantity }: Terms,
  replaced: TradeOrder | undefined,
): Obstacle | undefined {
  const free = freeShares(db, instrument.instrument) + (replaced?.open ?? 0)
  return quantity > free
    ? { code: 'insufficient_shares', detail: `Only ${free} shares of ${instrument.instrument} are free to sell.` }
    : undefined
}

/** Returns the side of the book without an order, as it is before the order is placed again. */
export const bookWithout = (db: TradingView, { instrument, side, trade_order }: TradeOrder) =>
  without(db.books.get(instrument)![side], trade_order)

/**
 * Returns the obstacle to a stop order over these shares, if any. The user may place a stop order while the exchange is
 * closed.
 */
export function stopObstacle(
  db: TradingView,
  instrument: Instrument,
  quantity: number,
  stop: number,
): Obstacle | undefined {
  const wrong = lotObstacle(instrument, quantity) ?? priceObstacle(instrument, stop)
  if (wrong) return wrong
  if (stop >= instrument.last)
    return { code: 'stop_not_below_market', detail: `The last price is ${instrument.last} EUR.` }
  const short = sellObstacle(db, { instrument, side: 'sell', quantity, price: stop }, undefined)
  if (short) return short
  return db.trade_orders.by('status', 'open').length >= LIMITS.openOrders
    ? { code: 'too_many_open_orders', detail: `At most ${LIMITS.openOrders} orders may be open.` }
    : undefined
}

/**
 * Returns the obstacle to arming an alert at this price, if any. The new alert replaces a fired one of the same
 * instrument.
 */
export function watchObstacle(db: TradingView, { instrument, last }: Instrument, alert: number): Obstacle | undefined {
  if (db.watches.get(instrument)?.status === 'armed') return { code: 'already_watched' }
  if (alert === last) return { code: 'alert_at_market', detail: `The last price is ${last} EUR already.` }
  return db.watches.by('status', 'armed').length >= LIMITS.armedAlerts
    ? { code: 'watchlist_full', detail: `At most ${LIMITS.armedAlerts} alerts may be armed.` }
    : undefined
}
