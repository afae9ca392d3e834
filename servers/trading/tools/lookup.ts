import type { FailureCode, Instrument, TradeOrder, TradingView } from '../schema.js'

interface Reader {
  readonly db: TradingView
  fail(code: FailureCode, detail?: string): never
}

export function instrumentOf({ db, fail }: Reader, key: string): Instrument {
  return db.instruments.get(key) ?? fail('unknown_instrument', `There is no instrument ${key}.`)
}

/** The order, if it is still open. */
export function openOrder({ db, fail }: Reader, key: string): TradeOrder {
  const order = db.trade_orders.get(key) ?? fail('unknown_trade_order', `There is no order ${key}.`)
  return order.status === 'open' ? order : fail('order_not_open', `${key} is ${order.status}.`)
}

/** Entries that a list or search shows at most. */
export const SHOWN = 5
