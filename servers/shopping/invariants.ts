import type { Invariant } from '../kernel/define-environment.js'
import { cartLines, couponObstacle, customerOf, LIMITS, wasDelivered } from './rules.js'
import type { Order, OrderItem, ShoppingTables, ShoppingView } from './schema.js'

type ShoppingInvariant = Invariant<ShoppingTables>

const sum = <R>(rows: readonly R[], amount: (row: R) => number): number =>
  rows.reduce((total, row) => total + amount(row), 0)

/** Whether the customer has, or is to get, the articles of the item. */
const isSold = (db: ShoppingView, { order, returned }: OrderItem): boolean =>
  !returned && db.orders.get(order)!.status !== 'cancelled'

const moneyIsConserved: ShoppingInvariant = {
  name: 'what can be charged, what is on gift cards and what was paid stays the same in sum',
  check(now, seed) {
    const total = (db: ShoppingView) =>
      sum(db.payment_methods.list(), (row) => row.available) +
      sum(db.gift_cards.list(), (row) => (row.redeemed ? 0 : row.amount)) +
      sum(db.orders.list(), (row) => row.total - row.refunded)
    return total(now) === total(seed) ? undefined : `${total(seed)} became ${total(now)}`
  },
}

const stockIsConserved: ShoppingInvariant = {
  name: 'of each variant, stock and what is sold stay the same in sum',
  check(now, seed) {
    const totals = (db: ShoppingView) => {
      const counts = new Map(db.variants.list().map(({ variant, stock }) => [variant, stock]))
      for (const line of db.order_items.list())
        if (isSold(db, line)) counts.set(line.variant, counts.get(line.variant)! + line.quantity)
      return counts
    }
    const before = totals(seed)
    const wrong = [...totals(now)].find(([variant, count]) => before.get(variant) !== count)
    return wrong && `${wrong[0]}: ${before.get(wrong[0])} became ${wrong[1]}`
  },
}

const pointsAreConserved: ShoppingInvariant = {
  name: 'points only leave with orders and returns, and are pending while an order is on its way',
  check(now, seed) {
    const total = (db: ShoppingView) =>
      customerOf(db).points +
      sum(db.orders.list(), (row) => (row.status === 'cancelled' ? 0 : row.points_used)) +
      sum(db.order_items.list(), (row) => row.points_back)
    if (total(now) !== total(seed)) return `${total(seed)} points became ${total(now)}`
    const underway = [...now.orders.by('status', 'placed'), ...now.orders.by('status', 'shipped')]
    const pending = sum(underway, (row) => row.points_earned)
    const { pending_points } = customerOf(now)
    return pending === pending_points ? undefined : `${pending_points} points are pending instead of ${pending}`
  },
}

const billsAddUp: ShoppingInvariant = {
  name: 'the total of an order is what its lines cost plus shipping, and no more is refunded than its cancellation or returns allow',
  check(now) {
    const due = ({ status, total }: Order, lines: readonly OrderItem[]) =>
      status === 'cancelled' ? total : sum(lines, ({ returned, paid }) => (returned ? paid : 0))
    const wrong = now.orders.find((order) => {
      const lines = now.order_items.by('order', order.order)
      return (
        sum(lines, ({ paid }) => paid) + order.shipping_cost !== order.total || order.refunded !== due(order, lines)
      )
    })
    return wrong && `${wrong.order}: total ${wrong.total}, refunded ${wrong.refunded}`
  },
}

const couponsAreSingle: ShoppingInvariant = {
  name: 'a coupon is used when exactly one live order carries it, and the cart meets the conditions of the one on it',
  check(now) {
    const live = now.orders.list(({ status }) => status !== 'cancelled')
    const wrong = now.coupons.find(
      ({ coupon, used }) => live.filter((order) => order.coupon === coupon).length !== (used ? 1 : 0),
    )
    if (wrong) return wrong.coupon
    const key = customerOf(now).coupon
    if (key === null) return undefined
    const coupon = now.coupons.get(key)!
    // Its last day may pass while it is on the cart; then it fails at checkout.
    const obstacle = couponObstacle(coupon, cartLines(now), coupon.expires)
    return obstacle && `${key} on the cart: ${obstacle.code}`
  },
}

const cartIsWithinLimits: ShoppingInvariant = {
  name: 'cart, wishlist and addresses stay within their limits, and nothing is in the cart and on the wishlist',
  check(now) {
    if (now.cart_lines.count() > LIMITS.cartLines) return 'too many articles in the cart'
    if (now.wishes.count() > LIMITS.wishes) return 'too many wishes'
    if (now.delivery_addresses.count() > LIMITS.addresses) return 'too many addresses'
    const wrong = now.cart_lines.find(
      ({ variant, quantity }) => quantity > LIMITS.perVariant || now.wishes.has(variant),
    )
    return wrong?.variant
  },
}

const ordersMoveForward: ShoppingInvariant = {
  name: 'of the orders there were, only placed ones change their status, to cancelled; returned articles stay returned',
  check(now, seed) {
    const wrong = seed.orders.find(({ order, status }) => {
      const after = now.orders.get(order)?.status
      return after !== status && !(status === 'placed' && after === 'cancelled')
    })
    if (wrong) return `${wrong.order} was ${wrong.status}`
    const unsent = seed.order_items.find(({ item, returned }) => returned && !now.order_items.get(item)?.returned)
    return unsent?.item
  },
}

const reviewsAreEarned: ShoppingInvariant = {
  name: 'only delivered products are reviewed, and every review counts once',
  check(now, seed) {
    const early = now.reviews.find(({ product }) => !wasDelivered(now, product))
    if (early) return early.product
    const wrong = now.products.find(({ product, stars, reviews }) => {
      const before = seed.products.get(product)!
      const added = seed.reviews.has(product) ? undefined : now.reviews.get(product)
      return stars !== before.stars + (added?.stars ?? 0) || reviews !== before.reviews + (added ? 1 : 0)
    })
    return wrong?.product
  },
}

const expiredMethodsRest: ShoppingInvariant = {
  name: 'an expired payment method neither pays nor receives',
  check(now, seed) {
    const wrong = now.payment_methods.find(
      ({ payment_method, status, available }) =>
        status === 'expired' && available !== seed.payment_methods.get(payment_method)!.available,
    )
    return wrong?.payment_method
  },
}

const referencesResolve: ShoppingInvariant = {
  name: 'every product, variant, address and payment method that is referred to exists',
  check(now) {
    const lost =
      now.variants.find(({ product }) => !now.products.has(product))?.variant ??
      now.products.find(({ brand }) => !now.brands.has(brand))?.product ??
      now.cart_lines.find(({ variant }) => !now.variants.has(variant))?.variant ??
      now.wishes.find(({ variant }) => !now.variants.has(variant))?.variant ??
      now.order_items.find(({ order, variant }) => !now.orders.has(order) || !now.variants.has(variant))?.item ??
      now.orders.find(
        ({ delivery_address, payment_method }) =>
          !now.delivery_addresses.has(delivery_address) || !now.payment_methods.has(payment_method),
      )?.order
    return lost && `${lost} refers to something that does not exist`
  },
}

export const shoppingInvariants = [
  moneyIsConserved,
  stockIsConserved,
  pointsAreConserved,
  billsAddUp,
  couponsAreSingle,
  cartIsWithinLimits,
  ordersMoveForward,
  reviewsAreEarned,
  expiredMethodsRest,
  referencesResolve,
]
