import { z } from 'zod'
import { choices } from '../../kernel/choose.js'
import { ref } from '../../kernel/fields.js'
import { reserve } from '../execution.js'
import { instrumentKey, tradeOrderKey } from '../fields.js'
import { openOrder } from '../lookup.js'
import { bookWithout, buyingPower, freeShares, stopObstacle } from '../rules.js'
import { DRAWS, sampleCover, sampleStop } from '../sampling.js'
import { ORDER_STATUSES, price, SIDES, shares, tool } from '../schema.js'

const cancelTradeOrder = tool({
  name: 'cancel_trade_order',
  description: 'Cancel an open limit or stop order, at any hour; what it had reserved is free again.',
  input: z.strictObject({ trade_order: tradeOrderKey }),
  output: z.object({
    name: z.string(),
    trade_order: ref('trade_order'),
    status: z.string(),
    open: z.int().describe('Shares that were not traded.'),
    buying_power: z.int(),
  }),
  annotations: { readOnly: false, destructive: true },
  establishes: ['money_moved'],
  sample({ db, random, bound }) {
    const orders = choices(db.trade_orders, bound.trade_order, ({ status }) => status === 'open')
    return orders.length > 0 ? { trade_order: random.pick(orders).trade_order } : null
  },
  run({ trade_order }, context) {
    const { db } = context
    const order = openOrder(context, trade_order)
    if (order.kind === 'limit') db.books.update(order.instrument, { [order.side]: bookWithout(db, order) })
    reserve(context, order, -1)
    return { ...db.trade_orders.update(trade_order, { status: 'cancelled' }), buying_power: buyingPower(db) }
  },
})

const listTradeOrders = tool({
  name: 'list_trade_orders',
  description: 'List your orders of a status, the newest first; open ones include stop orders.',
  input: z.strictObject({
    status: z.enum(ORDER_STATUSES).describe('Only orders of this status.'),
    side: z.enum(SIDES).describe('Only purchases, or only sales.').optional(),
  }),
  output: z.object({
    found: z.int(),
    orders: z.array(
      z.object({
        name: z.string(),
        trade_order: ref('trade_order'),
        kind: z.string(),
        quantity: z.int(),
        price: z.int().optional().describe('Limit or stop price.'),
      }),
    ),
  }),
  pages: { orders: 'short' },
  annotations: { readOnly: true },
  needs: ['order_placed'],
  sample({ db, random, bound }) {
    const status = bound.status ?? random.pick(['open', 'open', 'open', ...ORDER_STATUSES])
    const rows = db.trade_orders.by('status', status)
    const side = bound.side ?? (rows.length > 0 && random.chance(0.3) ? random.pick(rows).side : undefined)
    return { status, ...(side === undefined ? {} : { side }) }
  },
  run({ status, side }, { db }) {
    const rows = db.trade_orders.by('status', status)
    const orders = (side === undefined ? [...rows] : rows.filter((row) => row.side === side)).reverse()
    return {
      found: orders.length,
      orders: orders.map((row) => ({ ...row, price: row.price ?? undefined })),
    }
  },
})

const protectPosition = tool({
  name: 'protect_position',
  description:
    'Place a stop order: it sells shares you hold at the best bids as soon as the last price falls to the stop price. It reserves the shares.',
  input: z.strictObject({
    instrument: instrumentKey,
    quantity: shares.describe('Free shares of the position, a multiple of the lot size.'),
    stop_price: price.describe('EUR, below the last price and a multiple of the tick size.'),
  }),
  output: z.object({
    name: z.string(),
    instrument: ref('instrument'),
    trade_order: ref('trade_order'),
    stop_price: z.int(),
    free: z.int().describe('Shares of the position that are still free.'),
  }),
  annotations: { readOnly: false },
  establishes: ['order_placed'],
  sample({ db, random, bound }) {
    const held = choices(db.positions, bound.instrument, ({ shares, reserved }) => shares > reserved)
    for (let draw = 0; draw < DRAWS && held.length > 0; draw++) {
      const { instrument, shares, reserved } = random.pick(held)
      const row = db.instruments.get(instrument)!
      const quantity = bound.quantity ?? sampleCover(random, row.lot, shares - reserved)
      const stop_price = bound.stop_price ?? sampleStop(random, row)
      if (!stopObstacle(db, row, quantity, stop_price)) return { instrument, quantity, stop_price }
    }
    return null
  },
  run({ instrument: key, quantity, stop_price }, context) {
    const { rowOf, unless, db, nextId } = context
    const instrument = rowOf('instruments', key)
    unless(stopObstacle(db, instrument, quantity, stop_price))
    const order = db.trade_orders.insert({
      trade_order: nextId('stop'),
      instrument: key,
      name: instrument.name,
      side: 'sell',
      kind: 'stop',
      quantity,
      open: quantity,
      price: stop_price,
      status: 'open',
    })
    reserve(context, order, 1)
    return {
      name: order.name,
      instrument: key,
      trade_order: order.trade_order,
      stop_price,
      free: freeShares(db, key),
    }
  },
})

export const openOrderTools = [listTradeOrders, cancelTradeOrder, protectPosition]
