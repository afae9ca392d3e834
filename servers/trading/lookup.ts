import type { Context, TradeOrder } from './schema.js'

/** The order, if it is still open. */
export function openOrder({ rowOf, fail }: Context, key: string): TradeOrder {
  const order = rowOf('trade_orders', key)
  return order.status === 'open' ? order : fail('order_not_open', `${key} is ${order.status}.`)
}
