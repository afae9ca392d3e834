import { addDays, addMinutes } from '../kernel/dates.js'
import { type Bill, customerOf, LIMITS, type Line, orderTitle, type ShippingOption } from './rules.js'
import type { Context, DeliveryAddress, Order, OrderItem, PaymentMethod, ShoppingDb } from './schema.js'

export interface Purchase {
  /** The lines of the cart; it must not be empty. */
  readonly lines: readonly Line[]
  readonly bill: Bill
  readonly to: DeliveryAddress
  readonly method: PaymentMethod
  readonly option: ShippingOption
  readonly points: number
}

/** Turns the cart into an order: takes the articles from stock, charges the total, uses up points and the coupon. */
export function placeOrder(context: Context, purchase: Purchase): Order {
  const { db, now, nextId, today } = context
  const { lines, bill, to, method, option, points } = purchase
  const order = nextId('order')
  const total = bill.due + option.cost
  const customer = customerOf(db)
  for (const [i, { variant, product, quantity }] of lines.entries()) {
    db.variants.update(variant.variant, { stock: variant.stock - quantity })
    db.cart_lines.remove(variant.variant)
    db.order_items.insert({
      item: nextId('item'),
      order,
      variant: variant.variant,
      product: product.product,
      name: variant.name,
      quantity,
      paid: bill.paid[i]!,
      returned: false,
      points_back: 0,
    })
  }
  db.payment_methods.update(method.payment_method, { available: method.available - total })
  if (customer.coupon !== null) db.coupons.update(customer.coupon, { used: true })
  db.customers.update('me', {
    coupon: null,
    points: customer.points - points,
    pending_points: customer.pending_points + bill.due,
  })
  const placed = now()
  return db.orders.insert({
    order,
    title: orderTitle(lines.map(({ product }) => product.title)),
    placed,
    status: 'placed',
    cancel_until: addMinutes(placed, LIMITS.cancelMinutes),
    arrives: addDays(today(), option.days),
    return_until: null,
    delivery_address: to.delivery_address,
    shipping: option.shipping,
    payment_method: method.payment_method,
    coupon: customer.coupon,
    points_used: points,
    points_earned: bill.due,
    shipping_cost: option.cost,
    total,
    refunded: 0,
  })
}

/** Puts the pieces of an item back into stock. */
export function restock(db: ShoppingDb, { variant, quantity }: OrderItem): void {
  db.variants.update(variant, { stock: db.variants.get(variant)!.stock + quantity })
}

/** Pays back to where the order was paid from, or to the store credit if that has expired; returns its name. */
export function refund(db: ShoppingDb, order: Order, amount: number): string {
  const paidFrom = db.payment_methods.get(order.payment_method)!
  const to = paidFrom.status === 'expired' ? db.payment_methods.get('store-credit')! : paidFrom
  return db.payment_methods.update(to.payment_method, { available: to.available + amount }).name
}
