import { z } from 'zod'
import { choose, pickFrom } from '../../kernel/choose.js'
import { timeOf } from '../../kernel/dates.js'
import { common, ref } from '../../kernel/fields.js'
import { placeOrder as place, refund, restock } from '../changes.js'
import {
  appliedCouponObstacle,
  cartBill,
  cartLines,
  customerOf,
  LIMITS,
  mostPoints,
  paymentObstacle,
  pointsWorth,
  shippingOptions,
  stockObstacle,
} from '../rules.js'
import { money, ORDER_STATUSES, SHIPPINGS, tool } from '../schema.js'

const placeOrder = tool({
  name: 'place_order',
  description: `Order everything in the cart: it is taken from stock and the total is charged at once. Loyalty points are spent in steps of ${LIMITS.pointStep}, worth ${LIMITS.stepValue} each, for at most half of the articles. The order can be cancelled for ${LIMITS.cancelMinutes} minutes.`,
  input: z.strictObject({
    delivery_address: ref('delivery_address'),
    payment_method: ref('payment_method'),
    shipping: z.enum(SHIPPINGS).describe('How it is sent; see list_shipping_options.'),
    points: z
      .int()
      .min(LIMITS.pointStep)
      .max(2000)
      .multipleOf(LIMITS.pointStep)
      .describe('Loyalty points to spend, in hundreds.')
      .optional(),
  }),
  output: z.object({
    title: z.string(),
    order: ref('order'),
    status: z.string(),
    total: money,
    arrives: common('date', z.string()),
    points_earned: z.int().describe('Pending until delivery'),
  }),
  annotations: { readOnly: false },
  needs: ['cart_filled', 'coupon_applied'],
  sample({ db, random, bound, today }) {
    const lines = cartLines(db)
    if (lines.length === 0 || stockObstacle(lines) || appliedCouponObstacle(db, lines, today())) return null
    const { shop_city, points } = customerOf(db)
    const to = choose(db.delivery_addresses, random, bound.delivery_address)
    if (!to) return null
    const { due } = cartBill(db, lines)
    const options = shippingOptions(shop_city, to.city, lines, due)
    const wanted = options.filter(({ shipping }) => shipping === (bound.shipping ?? shipping))
    const option = pickFrom(random, wanted)
    if (!option) return null
    const most = Math.min(mostPoints(due), Math.floor(points / LIMITS.pointStep) * LIMITS.pointStep)
    const spent = bound.points ?? (most > 0 && random.chance(0.3) ? random.int(1, most / 100) * 100 : 0)
    const total = due - pointsWorth(spent) + option.cost
    const method = choose(db.payment_methods, random, bound.payment_method, (row) => !paymentObstacle(row, total))
    if (!method) return null
    return {
      delivery_address: to.delivery_address,
      payment_method: method.payment_method,
      shipping: option.shipping,
      ...(spent > 0 ? { points: spent } : {}),
    }
  },
  run({ delivery_address, payment_method, shipping, points = 0 }, context) {
    const { unless, rowOf, db, fail, today } = context
    const to = rowOf('delivery_addresses', delivery_address)
    const method = rowOf('payment_methods', payment_method)
    const lines = cartLines(db)
    if (lines.length === 0) fail('cart_empty')
    unless(stockObstacle(lines))
    // Its last day may have passed since it was put on the cart.
    unless(appliedCouponObstacle(db, lines, today()))
    const customer = customerOf(db)
    const value = cartBill(db, lines).due
    const option = shippingOptions(customer.shop_city, to.city, lines, value).find(
      (candidate) => candidate.shipping === shipping,
    )
    if (!option) return fail('shipping_unavailable', `${shipping} shipping to ${to.name} is not possible.`)
    if (points > customer.points) fail('not_enough_points', `You have ${customer.points} points.`)
    if (points > mostPoints(value)) fail('too_many_points', `At most ${mostPoints(value)} points for this cart.`)
    const bill = cartBill(db, lines, pointsWorth(points))
    unless(paymentObstacle(method, bill.due + option.cost))
    return place(context, { lines, bill, to, method, option, points })
  },
})

const listOrders = tool({
  name: 'list_orders',
  description: 'List your orders of one status, the newest first.',
  input: z.strictObject({ status: z.enum(ORDER_STATUSES).describe('Only orders of this status.') }),
  output: z.object({
    found: z.int(),
    orders: z.array(
      z.object({ title: z.string(), order: ref('order'), placed: common('date', z.string()), total: money }),
    ),
  }),
  pages: { orders: 'short' },
  annotations: { readOnly: true },
  sample({ db, random, bound }) {
    // Orders that were called off are seldom looked for.
    const row = choose(db.orders, random, undefined, ({ status }) => status !== 'cancelled' || random.chance(0.2))
    return row ? { status: row.status, ...bound } : { status: random.pick(ORDER_STATUSES), ...bound }
  },
  run({ status }, { db }) {
    const orders = db.orders.by('status', status)
    return {
      found: orders.length,
      orders: orders.toReversed().map((row) => ({ ...row, placed: row.placed.slice(0, 10) })),
    }
  },
})

const showOrder = tool({
  name: 'show_order',
  description: 'Show the status of an order, its day of arrival and its items; those sent back have returned true.',
  input: z.strictObject({ order: ref('order') }),
  output: z.object({
    title: z.string(),
    order: ref('order'),
    status: z.string(),
    arrives: common('date', z.string()),
    items: z.array(
      z.object({
        name: z.string(),
        item: ref('item'),
        title: z.string().describe('Of the product'),
        product: ref('bought_product'),
        quantity: z.int(),
        returned: z.boolean().optional(),
      }),
    ),
  }),
  annotations: { readOnly: true },
  sample({ db, random, bound }) {
    // Nobody looks at what they have called off.
    const row = choose(db.orders, random, bound.order, ({ status }) => status !== 'cancelled')
    return row ? { order: row.order } : null
  },
  run({ order }, context) {
    const row = context.rowOf('orders', order)
    const items = context.db.order_items.by('order', order).map(({ name, item, product, quantity, returned }) => {
      const shown = { name, item, title: context.db.products.get(product)!.title, product, quantity }
      return returned ? { ...shown, returned } : shown
    })
    return { ...row, items }
  },
})

const cancelOrder = tool({
  name: 'cancel_order',
  description: `Cancel an order within ${LIMITS.cancelMinutes} minutes of placing it. The articles go back to stock; money, spent points and coupon come back to you.`,
  input: z.strictObject({ order: ref('order') }),
  output: z.object({
    title: z.string(),
    order: ref('order'),
    status: z.string(),
    refund: money,
    refunded_to: z.string(),
  }),
  annotations: { readOnly: false, destructive: true },
  sample({ db, random, bound, now }) {
    const row = choose(
      db.orders,
      random,
      bound.order,
      ({ status, cancel_until }) => status === 'placed' && cancel_until >= now(),
    )
    return row ? { order: row.order } : null
  },
  run({ order }, { rowOf, db, fail, now }) {
    const row = rowOf('orders', order)
    if (row.status !== 'placed') fail('not_cancellable', `${order} is ${row.status}.`)
    if (now() > row.cancel_until) fail('cancel_window_over', `It could be cancelled until ${timeOf(row.cancel_until)}.`)
    for (const line of db.order_items.by('order', order)) restock(db, line)
    const customer = customerOf(db)
    db.customers.update('me', {
      points: customer.points + row.points_used,
      pending_points: customer.pending_points - row.points_earned,
    })
    if (row.coupon !== null) db.coupons.update(row.coupon, { used: false })
    const refunded_to = refund(db, row, row.total)
    const { status } = db.orders.update(order, { status: 'cancelled', refunded: row.total })
    return { title: row.title, order, status, refund: row.total, refunded_to }
  },
})

export const orderTools = [placeOrder, listOrders, showOrder, cancelOrder]
