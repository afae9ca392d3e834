import { addDays, addMinutes } from '../kernel/dates.js'
import { twoDigitNumbers } from '../kernel/key-numbers.js'
import type { SeededRandom } from '../kernel/random.js'
import { billOf, LIMITS, type Line, orderTitle } from './rules.js'
import type { Coupon, DeliveryAddress, Order, OrderItem, PaymentMethod, Product, Review, Variant } from './schema.js'
import { FOR_ONE, reviewOf } from './words.js'

interface Circumstances {
  readonly random: SeededRandom
  readonly start: string
  readonly products: readonly Product[]
  readonly variants: readonly Variant[]
  readonly addresses: readonly DeliveryAddress[]
  readonly methods: readonly PaymentMethod[]
  /** Was used for the first delivered order. */
  readonly usedCoupon: Coupon
}

interface PastOrders {
  readonly orders: Order[]
  readonly items: OrderItem[]
  readonly reviews: Review[]
  readonly pendingPoints: number
  /** The product with the customer's own review counted in. */
  reviewed(product: Product): Product
}

/** How an order came to be where it is: its status and its age in minutes. */
type Course = readonly [status: Order['status'], minutes: number]

const HOUR = 60
const DAY = 24 * HOUR

/** Some minutes old and still cancellable, some hours old and not, on their way, delivered within and beyond the time for returns. */
function courses(random: SeededRandom): Course[] {
  const of = (status: Order['status'], count: number, least: number, most: number): Course[] =>
    Array.from({ length: count }, () => [status, random.int(least, most)])
  return [
    ...of('placed', 2, 2, 12),
    ...of('placed', 1, LIMITS.cancelMinutes + 5, 20 * HOUR),
    ...of('shipped', 3, DAY, 4 * DAY),
    ...of('delivered', 4, 8 * DAY, 30 * DAY),
    ...of('delivered', 3, 45 * DAY, 300 * DAY),
    ...of('cancelled', 2, 2 * DAY, 90 * DAY),
  ]
}

/** The customer's orders, oldest first, with what was returned and reviewed. */
export function seedOrders(circumstances: Circumstances): PastOrders {
  const { random } = circumstances
  const numbers = twoDigitNumbers(random, 20)
  const all = courses(random)
    .sort((a, b) => b[1] - a[1])
    .map((course) => seedOrder(circumstances, `order-${numbers.pop()}`, course))
  const couponed = all.findIndex(({ order }) => order.status === 'delivered')
  all[couponed] = withCoupon(circumstances.usedCoupon, all[couponed]!)
  const itemNumbers = twoDigitNumbers(random, 90)
  const rows = all.map((placed) => rowsOf(placed, itemNumbers))
  returnOne(random, rows, circumstances.products)
  const orders = rows.map(({ order }) => order)
  const items = rows.flatMap((row) => row.items)
  const reviews = seedReviews(random, rows, circumstances.products)
  const stars = new Map(reviews.map((review) => [review.product, review.stars]))
  return {
    orders,
    items,
    reviews,
    pendingPoints: orders
      .filter(({ status }) => status === 'placed' || status === 'shipped')
      .reduce((sum, { points_earned }) => sum + points_earned, 0),
    reviewed: (product) => ({
      ...product,
      stars: product.stars + (stars.get(product.product) ?? 0),
      reviews: product.reviews + (stars.has(product.product) ? 1 : 0),
    }),
  }
}

interface Placed {
  readonly order: Omit<Order, 'points_earned' | 'total' | 'refunded'>
  readonly bought: readonly Line[]
  readonly coupon: Coupon | undefined
}

function seedOrder(
  { random, start, products, variants, addresses, methods }: Circumstances,
  key: string,
  [status, age]: Course,
): Placed {
  const placed = addMinutes(start, -age)
  const byKey = new Map(products.map((product) => [product.product, product]))
  const bought = random.sample(variants, random.pick([1, 1, 1, 2, 2, 3])).map((variant) => ({
    variant,
    product: byKey.get(variant.product)!,
    quantity: variant.price > FOR_ONE ? 1 : random.pick([1, 1, 1, 2, 3]),
  }))
  const delivered = status === 'delivered' ? addDays(placed.slice(0, 10), random.int(2, 6)) : null
  return {
    bought,
    coupon: undefined,
    order: {
      order: key,
      title: orderTitle(bought.map(({ product }) => product.title)),
      placed,
      status,
      cancel_until: addMinutes(placed, LIMITS.cancelMinutes),
      arrives: delivered ?? addDays(start.slice(0, 10), status === 'placed' ? 3 : random.int(0, 2)),
      return_until: delivered && addDays(delivered, LIMITS.returnDays),
      delivery_address: random.pick(addresses).delivery_address,
      shipping: 'standard',
      payment_method: random.pick(methods).payment_method,
      coupon: null,
      points_used: random.chance(0.15) ? LIMITS.pointStep : 0,
      shipping_cost: random.pick([0, 4]),
    },
  }
}

const withCoupon = (coupon: Coupon, { order, bought }: Placed): Placed => ({
  order: { ...order, coupon: coupon.coupon },
  bought,
  coupon,
})

interface Rows {
  order: Order
  items: OrderItem[]
}

function rowsOf({ order, bought, coupon }: Placed, numbers: number[]): Rows {
  const value = (order.points_used / LIMITS.pointStep) * LIMITS.stepValue
  const bill = billOf(bought, coupon, value)
  const total = bill.due + order.shipping_cost
  return {
    order: { ...order, points_earned: bill.due, total, refunded: order.status === 'cancelled' ? total : 0 },
    items: bought.map(({ variant, product, quantity }, i) => ({
      item: `item-${numbers.pop()}`,
      order: order.order,
      variant: variant.variant,
      product: product.product,
      name: variant.name,
      quantity,
      paid: bill.paid[i]!,
      returned: false,
      points_back: 0,
    })),
  }
}

/** Something was sent back in the past. */
function returnOne(random: SeededRandom, rows: Rows[], products: readonly Product[]): void {
  const fixed = new Set(products.filter(({ returnable }) => !returnable).map(({ product }) => product))
  const delivered = rows.filter(
    ({ order, items }) => order.status === 'delivered' && items.some(({ product }) => !fixed.has(product)),
  )
  const row = random.pick(delivered)
  const sent = row.items.find(({ product }) => !fixed.has(product))!
  row.items = row.items.map((item) => (item === sent ? { ...item, returned: true } : item))
  row.order = { ...row.order, refunded: sent.paid }
}

function seedReviews(random: SeededRandom, rows: readonly Rows[], products: readonly Product[]): Review[] {
  const received = rows
    .filter(({ order }) => order.status === 'delivered')
    .flatMap(({ order, items }) => items.map(({ product }) => ({ product, arrives: order.arrives })))
  const chosen = new Map(random.sample(received, 2).map(({ product, arrives }) => [product, arrives]))
  return [...chosen].map(([product, arrives]) => {
    const { category } = products.find((row) => row.product === product)!
    const stars = random.int(2, 5)
    return { product, stars, text: reviewOf(random, category, stars), written: addDays(arrives, random.int(0, 2)) }
  })
}
