import { z } from 'zod'
import { choices } from '../../kernel/choose.js'
import { ref } from '../../kernel/fields.js'
import { type Consequences, execute, reserve, shrink } from '../execution.js'
import { instrumentKey, tradeOrderKey } from '../fields.js'
import { openOrder } from '../lookup.js'
import { amountOf, sharesAhead, sharesOf } from '../matching.js'
import {
  bookWithout,
  buyingPower,
  freeShares,
  isObstacle,
  LIMITS,
  lotObstacle,
  planOrder,
  tradingObstacle,
} from '../rules.js'
import { DRAWS, sampleLimit, sampleQuantity, tradable } from '../sampling.js'
import { price, SIDES, shares, type TradeOrder, type TradingView, tool } from '../schema.js'

/** What every tool tells that may have traded. */
const executed = {
  name: z.string(),
  trade_order: ref('trade_order'),
  status: z.string(),
  filled: z.int().describe('Shares traded by this call.'),
  amount: z.int().describe('EUR paid or received for them.'),
  open: z.int().describe('Shares that wait in the book.'),
  ahead: z.int().optional().describe('Shares in the book that trade before them.'),
  buying_power: z.int(),
  stops_triggered: z.int().optional(),
  alert_fired: z.boolean().optional(),
  halted: z.boolean().optional().describe('The price moved so far that trading is halted.'),
}

function stated(db: TradingView, { instrument, side, name, trade_order, status, open }: TradeOrder) {
  return {
    name,
    instrument,
    trade_order,
    status,
    open,
    ...(open > 0 ? { ahead: sharesAhead(db.books.get(instrument)![side], trade_order) } : {}),
    buying_power: buyingPower(db),
  }
}

const notable = ({ stops_triggered, alert_fired, halted }: Consequences) => ({
  ...(stops_triggered > 0 ? { stops_triggered } : {}),
  ...(alert_fired ? { alert_fired } : {}),
  ...(halted ? { halted } : {}),
})

const placeTradeOrder = tool({
  name: 'place_trade_order',
  description:
    'Buy or sell shares during trading hours. Without a limit price the order must fill at once; with one, what does not fill waits in the book. No short selling.',
  input: z.strictObject({
    instrument: instrumentKey,
    side: z.enum(SIDES).describe('Whether to buy or to sell.'),
    quantity: shares.describe('Shares, a multiple of the lot size.'),
    limit_price: price
      .optional()
      .describe(`EUR per share, a multiple of the tick size within ${LIMITS.band} % of the opening price.`),
  }),
  output: z.object({ ...executed, instrument: ref('instrument') }),
  annotations: { readOnly: false },
  establishes: ['order_placed', 'money_moved'],
  sample({ db, random, bound, now }) {
    const candidates = tradable(db, now(), bound.instrument)
    for (let draw = 0; draw < DRAWS && candidates.length > 0; draw++) {
      const row = random.pick(candidates)
      const { instrument, lot } = row
      const free = freeShares(db, instrument)
      const side = bound.side ?? (free > 0 && random.chance(0.6) ? 'sell' : 'buy')
      const most = side === 'sell' ? free : Math.floor(buyingPower(db) / row.last)
      if (bound.quantity === undefined && most < lot) continue
      const quantity = bound.quantity ?? sampleQuantity(random, row, side, most)
      const limit = bound.limit_price ?? (random.chance(0.5) ? sampleLimit(random, row, side) : null)
      if (isObstacle(planOrder(db, now(), { instrument: row, side, quantity, price: limit }))) continue
      return { instrument, side, quantity, ...(limit === null ? {} : { limit_price: limit }) }
    }
    return null
  },
  run({ instrument: key, side, quantity, limit_price = null }, context) {
    const { rowOf, db, fail, now } = context
    const terms = { instrument: rowOf('instruments', key), side, quantity, price: limit_price }
    const plan = planOrder(db, now(), terms)
    if (isObstacle(plan)) return fail(plan.code, plan.detail)
    const { order, consequences } = execute(context, terms, plan)
    return {
      ...stated(db, order),
      filled: sharesOf(plan.fills),
      amount: amountOf(plan.fills),
      ...notable(consequences),
    }
  },
})

const amendTradeOrder = tool({
  name: 'amend_trade_order',
  description:
    'Change the limit price of an open limit order, and with it the shares still open if given. A lower quantity at the same price keeps its place in the book; any other change goes to the back and may trade at once.',
  input: z.strictObject({
    trade_order: tradeOrderKey,
    limit_price: price.describe('EUR per share, a multiple of the tick size.'),
    quantity: shares.optional().describe('New number of shares still open.'),
  }),
  output: z.object({ ...executed, instrument: ref('instrument') }),
  annotations: { readOnly: false },
  establishes: ['money_moved'],
  sample({ db, random, bound, now }) {
    const orders = choices(
      db.trade_orders,
      bound.trade_order,
      ({ status, kind }) => status === 'open' && kind === 'limit',
    )
    for (let draw = 0; draw < DRAWS && orders.length > 0; draw++) {
      const order = random.pick(orders)
      const { trade_order, open, side } = order
      const instrument = db.instruments.get(order.instrument)!
      const limit_price = bound.limit_price ?? sampleLimit(random, instrument, side)
      // Who asks for fewer asks for about half.
      const half = instrument.lot * Math.round(open / 2 / instrument.lot)
      const quantity = bound.quantity ?? (random.chance(0.3) && half > 1 && half < open ? half : undefined)
      if (limit_price === order.price && (quantity ?? open) === open) continue
      const terms = { instrument, side, quantity: quantity ?? open, price: limit_price }
      if (isObstacle(planOrder(db, now(), terms, order))) continue
      return { trade_order, limit_price, ...(quantity === undefined ? {} : { quantity }) }
    }
    return null
  },
  run({ trade_order, limit_price, quantity }, context) {
    const { unless, db, fail, now } = context
    const order = openOrder(context, trade_order)
    if (order.kind !== 'limit') fail('not_a_limit_order', `${trade_order} is a ${order.kind} order.`)
    const instrument = db.instruments.get(order.instrument)!
    const wanted = quantity ?? order.open
    if (limit_price === order.price && wanted === order.open) fail('nothing_amended')
    if (limit_price === order.price && wanted < order.open) {
      unless(tradingObstacle(db, now(), instrument) ?? lotObstacle(instrument, wanted))
      return { ...stated(db, shrink(context, order, wanted)), filled: 0, amount: 0 }
    }
    const terms = { instrument, side: order.side, quantity: wanted, price: limit_price }
    const plan = planOrder(db, now(), terms, order)
    if (isObstacle(plan)) return fail(plan.code, plan.detail)
    reserve(context, order, -1)
    db.books.update(order.instrument, { [order.side]: bookWithout(db, order) })
    const { order: amended, consequences } = execute(context, terms, plan, order)
    return {
      ...stated(db, amended),
      filled: sharesOf(plan.fills),
      amount: amountOf(plan.fills),
      ...notable(consequences),
    }
  },
})

export const orderTools = [placeTradeOrder, amendTradeOrder]
