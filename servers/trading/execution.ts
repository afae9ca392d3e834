import { amountOf, type Fill, type Match, match, opposite, queue, sharesOf } from './matching.js'
import { ACCOUNT, isExtreme, isReached, type Terms } from './rules.js'
import type { Context, Side, TradeOrder } from './schema.js'

/** Consequences of a trade, beyond the trade itself. */
export interface Consequences {
  readonly stops_triggered: number
  readonly alert_fired: boolean
  readonly halted: boolean
}

const NONE: Consequences = { stops_triggered: 0, alert_fired: false, halted: false }

/**
 * Carries out an order that has no obstacle: trades with the orders in the book and applies the consequences of the new
 * price. The rest of a limit order waits in the book.
 * @param plan     from `planOrder`
 * @param amended  the order whose terms these are now, already taken out of the book; otherwise a new order is recorded
 */
export function execute(
  context: Context,
  { instrument, side, price, quantity }: Terms,
  plan: Match,
  amended?: TradeOrder,
): { order: TradeOrder; consequences: Consequences } {
  const { db, nextId } = context
  const open = plan.unfilled
  const key = amended?.trade_order ?? nextId(side)
  const traded = amended ? amended.quantity - amended.open : 0
  if (plan.fills.length > 0) {
    db.books.update(instrument.instrument, { [opposite(side)]: plan.left })
    settle(context, instrument.instrument, side, plan.fills, key, traded)
  }
  const terms = { quantity: traded + quantity, open, price, status: open > 0 ? 'open' : 'filled' } as const
  const order = amended
    ? db.trade_orders.update(key, terms)
    : db.trade_orders.insert({
        trade_order: key,
        instrument: instrument.instrument,
        name: instrument.name,
        side,
        kind: price === null ? 'market' : 'limit',
        ...terms,
      })
  if (open > 0) rest(context, order)
  return { order, consequences: plan.fills.length > 0 ? aftermath(context, instrument.instrument) : NONE }
}

/** Lets a limit order wait in the book behind those that came before, and reserves what it may cost. */
function rest(context: Context, order: TradeOrder): void {
  const { instrument, side, trade_order, open, price } = order
  const resting = context.db.books.get(instrument)![side]
  context.db.books.update(instrument, { [side]: queue(resting, side, { price: price!, quantity: open, trade_order }) })
  reserve(context, order, 1)
}

/**
 * Reserves (or with -1 releases) the resources of an open order: cash and capacity of the sector for a purchase, shares
 * otherwise.
 */
export function reserve({ db }: Context, { instrument, side, open, price }: TradeOrder, sign: 1 | -1): void {
  if (side === 'buy') {
    const change = sign * open * price!
    const { sector } = db.instruments.get(instrument)!
    db.account.update(ACCOUNT, { reserved: db.account.get(ACCOUNT)!.reserved + change })
    db.sectors.update(sector, { exposure: db.sectors.get(sector)!.exposure + change })
  } else {
    db.positions.update(instrument, { reserved: db.positions.get(instrument)!.reserved + sign * open })
  }
}

/** Takes shares off a limit order that keeps its place in the book. */
export function shrink(context: Context, order: TradeOrder, open: number): TradeOrder {
  const { db } = context
  const { instrument, side, trade_order } = order
  reserve(context, order, -1)
  db.books.update(instrument, {
    [side]: db.books
      .get(instrument)!
      [side].map((entry) => (entry.trade_order === trade_order ? { ...entry, quantity: open } : entry)),
  })
  const smaller = db.trade_orders.update(trade_order, { open, quantity: order.quantity - order.open + open })
  reserve(context, smaller, 1)
  return smaller
}

/**
 * Exchanges cash for shares at the prices of the fills, records the trades and moves the last price.
 * @param before  shares the order had traded before: together with the order's key a new key for each trade
 */
function settle(
  { db, today }: Context,
  instrument: string,
  side: Side,
  fills: readonly Fill[],
  order: string,
  before: number,
): void {
  let traded = before
  for (const { price, quantity } of fills) {
    db.trades.insert({ trade: `${order}/${traded}`, instrument, kind: side, quantity, price, date: today() })
    traded += quantity
  }
  const amount = amountOf(fills)
  const quantity = sharesOf(fills)
  const { cash } = db.account.get(ACCOUNT)!
  const row = db.instruments.get(instrument)!
  const { exposure } = db.sectors.get(row.sector)!
  const held = db.positions.get(instrument)
  if (side === 'buy') {
    db.account.update(ACCOUNT, { cash: cash - amount })
    db.sectors.update(row.sector, { exposure: exposure + amount })
    if (held) db.positions.update(instrument, { shares: held.shares + quantity, cost: held.cost + amount })
    else {
      const { name, sector } = row
      db.positions.insert({ instrument, name, sector, shares: quantity, reserved: 0, cost: amount })
    }
  } else {
    const { shares, cost } = held!
    const gone = Math.floor((cost * quantity) / shares)
    db.account.update(ACCOUNT, { cash: cash + amount })
    db.sectors.update(row.sector, { exposure: exposure - gone })
    if (quantity === shares) db.positions.remove(instrument)
    else db.positions.update(instrument, { shares: shares - quantity, cost: cost - gone })
  }
  const last = fills.at(-1)!.price
  db.instruments.update(instrument, { last, status: isExtreme(row, last) ? 'halted' : row.status })
}

/** Fires the alert that the last price has reached and triggers stops one after the other, until the instrument is halted. */
function aftermath(context: Context, key: string): Consequences {
  const { db } = context
  let stops_triggered = 0
  let alert_fired = false
  for (;;) {
    const { last, status } = db.instruments.get(key)!
    const watch = db.watches.get(key)
    if (watch?.status === 'armed' && isReached(watch, last)) {
      db.watches.update(key, { status: 'fired' })
      alert_fired = true
    }
    const halted = status === 'halted'
    const stop = halted
      ? undefined
      : db.trade_orders
          .by('instrument', key)
          .find((order) => order.kind === 'stop' && order.status === 'open' && order.price! >= last)
    if (!stop) return { stops_triggered, alert_fired, halted }
    trigger(context, stop)
    stops_triggered++
  }
}

/** Sells the shares of a stop order to whoever bids, passing over the customer's own bids; what finds no bid is cancelled. */
function trigger(context: Context, stop: TradeOrder): void {
  const { db } = context
  const { instrument, trade_order, open } = stop
  reserve(context, stop, -1)
  const { fills, left, unfilled } = match(db.books.get(instrument)!.buy, 'sell', open, null)
  if (fills.length > 0) {
    db.books.update(instrument, { buy: left })
    settle(context, instrument, 'sell', fills, trade_order, stop.quantity - open)
  }
  db.trade_orders.update(trade_order, { open: unfilled, status: unfilled > 0 ? 'cancelled' : 'filled' })
}
