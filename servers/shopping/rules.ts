import { CITIES } from '../kernel/gazetteer.js'
import type {
  Coupon,
  Customer,
  Obstacle,
  OrderItem,
  PaymentMethod,
  Product,
  Shipping,
  ShoppingView,
  Variant,
} from './schema.js'

/** The shop's limits: name, value, unit. */
export const LIMITS = {
  /** Pieces of one variant in a cart. */
  perVariant: 6,
  /** Different variants in a cart. */
  cartLines: 4,
  /** Variants on the wishlist. */
  wishes: 8,
  /** Saved delivery addresses. */
  addresses: 5,
  /** How long an order can be cancelled. Minutes. */
  cancelMinutes: 30,
  /** How long after delivery an article can be returned. Days. */
  returnDays: 30,
  /** Value of articles, after the coupon, from which standard shipping is free. Currency units. */
  freeShipping: 50,
  /** Points are spent in steps of this many. */
  pointStep: 100,
  /** What one step of points is worth. Currency units. */
  stepValue: 5,
} as const

/** An article and how many of it: a line of a cart or of an order. */
export interface Line {
  readonly variant: Variant
  readonly product: Product
  readonly quantity: number
}

export function customerOf(db: ShoppingView): Customer {
  return db.customers.get('me')!
}

/** The lines of the cart, in the order in which they were added. */
export function cartLines(db: ShoppingView): Line[] {
  return db.cart_lines.list().map(({ variant: key, quantity }) => {
    const variant = db.variants.get(key)!
    return { variant, product: db.products.get(variant.product)!, quantity }
  })
}

export const worthOf = (lines: readonly Line[]): number =>
  lines.reduce((sum, { variant, quantity }) => sum + variant.price * quantity, 0)

const isFor = ({ category }: Coupon, { product }: Line): boolean => category === null || product.category === category

/** Returns the obstacle to using `coupon` for `lines`, if any. */
export function couponObstacle(coupon: Coupon, lines: readonly Line[], today: string): Obstacle | undefined {
  if (coupon.expires < today) return { code: 'coupon_expired', detail: `It expired on ${coupon.expires}.` }
  if (coupon.used) return { code: 'coupon_used' }
  const fitting = lines.filter((line) => isFor(coupon, line))
  if (fitting.length === 0)
    return { code: 'coupon_not_applicable', detail: `It is for ${coupon.category}, and there is none in the cart.` }
  const value = worthOf(fitting)
  return value < coupon.minimum
    ? { code: 'below_coupon_minimum', detail: `It needs ${coupon.minimum}, the articles are worth ${value}.` }
    : undefined
}

/** Returns the obstacle to ordering `lines` with the coupon of the cart, if any. Without a coupon, no obstacle exists. */
export function appliedCouponObstacle(db: ShoppingView, lines: readonly Line[], today: string): Obstacle | undefined {
  const { coupon } = customerOf(db)
  return coupon === null ? undefined : couponObstacle(db.coupons.get(coupon)!, lines, today)
}

/** Splits `amount` over `weights` in proportion, in whole units, giving none more than its weight. */
export function allocate(amount: number, weights: readonly number[]): number[] {
  const sum = weights.reduce((total, weight) => total + weight, 0)
  const shares = weights.map((weight) => (sum === 0 ? 0 : Math.floor((amount * weight) / sum)))
  let rest = amount - shares.reduce((total, share) => total + share, 0)
  for (const [i, weight] of weights.entries()) {
    if (rest === 0) break
    if (shares[i]! < weight) {
      shares[i] = shares[i]! + 1
      rest--
    }
  }
  return shares
}

export interface Bill {
  /** Articles at full price. */
  readonly goods: number
  /** Amount that the coupon takes off. */
  readonly discount: number
  /** Amount that is paid for each line, after its share of the coupon and the points. */
  readonly paid: readonly number[]
  /** Articles after the coupon and the points. */
  readonly due: number
}

/** Computes the bill for `lines` with a coupon and with `pointsValue` currency units paid in points. */
export function billOf(lines: readonly Line[], coupon: Coupon | undefined, pointsValue: number): Bill {
  const full = lines.map(({ variant, quantity }) => variant.price * quantity)
  const goods = worthOf(lines)
  const fitting = full.map((price, i) => (coupon !== undefined && isFor(coupon, lines[i]!) ? price : 0))
  const discount = Math.floor((fitting.reduce((sum, price) => sum + price, 0) * (coupon?.percent ?? 0)) / 100)
  const off = allocate(discount, fitting)
  const reduced = full.map((price, i) => price - off[i]!)
  const inPoints = allocate(pointsValue, reduced)
  return {
    goods,
    discount,
    paid: reduced.map((price, i) => price - inPoints[i]!),
    due: goods - discount - pointsValue,
  }
}

/** The bill of the cart with the coupon that is on it. */
export function cartBill(db: ShoppingView, lines = cartLines(db), pointsValue = 0): Bill {
  const { coupon } = customerOf(db)
  return billOf(lines, coupon === null ? undefined : db.coupons.get(coupon), pointsValue)
}

export const pointsWorth = (points: number): number => (points / LIMITS.pointStep) * LIMITS.stepValue

/** The largest number of points, in whole steps, that articles worth `value` can be paid with. */
export const mostPoints = (value: number): number => Math.floor(value / 2 / LIMITS.stepValue) * LIMITS.pointStep

const OVERSEAS = new Set(['United States', 'Canada'])
const COUNTRIES: ReadonlyMap<string, string> = new Map(CITIES.map(({ city, country }) => [city, country]))

export interface ShippingOption {
  readonly shipping: Shipping
  readonly cost: number
  readonly days: number
}

/** The ways to send `lines`, worth `value` after the coupon, from the shop's city to another. */
export function shippingOptions(
  shopCity: string,
  toCity: string,
  lines: readonly Line[],
  value: number,
): ShippingOption[] {
  const from = COUNTRIES.get(shopCity)!
  const to = COUNTRIES.get(toCity)!
  const far = OVERSEAS.has(to) !== OVERSEAS.has(from)
  const abroad = to !== from
  const standard = {
    shipping: 'standard',
    cost: value >= LIMITS.freeShipping ? 0 : far ? 8 : 4,
    days: far ? 9 : abroad ? 5 : 3,
  } as const
  if (far || lines.some(({ product }) => product.bulky)) return [standard]
  const express = { shipping: 'express', cost: abroad ? 12 : 9, days: abroad ? 2 : 1 } as const
  return toCity === shopCity ? [standard, express, { shipping: 'courier', cost: 14, days: 0 }] : [standard, express]
}

/** Returns the obstacle to charging `total` to `method`, if any. */
export function paymentObstacle(method: PaymentMethod, total: number): Obstacle | undefined {
  if (method.status === 'expired') return { code: 'payment_method_expired', detail: `${method.name} has expired.` }
  return method.available < total
    ? { code: 'payment_declined', detail: `The total is ${total}, ${method.name} has ${method.available}.` }
    : undefined
}

/** Returns the obstacle to handing out the `lines` from stock, if any. */
export function stockObstacle(lines: readonly Line[]): Obstacle | undefined {
  const short = lines.find(({ variant, quantity }) => variant.stock < quantity)
  if (!short) return undefined
  const { name, stock } = short.variant
  return stock === 0
    ? { code: 'out_of_stock', detail: `${name} is sold out.` }
    : { code: 'not_enough_stock', detail: `Only ${stock} of ${name} in stock.` }
}

/** Returns the obstacle to returning an item on `today`, if any. */
export function returnObstacle(db: ShoppingView, item: OrderItem, today: string): Obstacle | undefined {
  const order = db.orders.get(item.order)!
  if (order.status !== 'delivered') return { code: 'not_delivered', detail: `${order.order} is ${order.status}.` }
  if (item.returned) return { code: 'already_returned' }
  if (!db.products.get(item.product)!.returnable) return { code: 'not_returnable' }
  return order.return_until! < today
    ? { code: 'return_window_over', detail: `It could be returned until ${order.return_until}.` }
    : undefined
}

/** Whether the customer has received the product in some order. */
export function wasDelivered(db: ShoppingView, product: string): boolean {
  return db.order_items.by('product', product).some(({ order }) => db.orders.get(order)!.status === 'delivered')
}

/** Whether an order that has not come yet holds the product. */
export const isOnItsWay = (db: ShoppingView, product: string): boolean =>
  db.order_items
    .by('product', product)
    .some(({ order }) => ['placed', 'shipped'].includes(db.orders.get(order)!.status))

/** `Linen Shirt and 2 more`. */
export function orderTitle(titles: readonly string[]): string {
  return titles.length === 1 ? titles[0]! : `${titles[0]} and ${titles.length - 1} more`
}
