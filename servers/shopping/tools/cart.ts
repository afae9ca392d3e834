import { z } from 'zod'
import { choose } from '../../kernel/choose.js'
import { ref } from '../../kernel/fields.js'
import { cartBill, cartLines, couponObstacle, customerOf, LIMITS, worthOf } from '../rules.js'
import { money, quantity, type ShoppingDb, type ShoppingView, tool, type Variant } from '../schema.js'
import { FOR_ONE } from '../words.js'

/** How many more of the variant the cart can take. */
function roomFor(db: ShoppingView, { variant, stock }: Variant): number {
  const line = db.cart_lines.get(variant)
  if (!line && db.cart_lines.count() >= LIMITS.cartLines) return 0
  return Math.min(stock, LIMITS.perVariant) - (line?.quantity ?? 0)
}

/** Takes the coupon off a cart that no longer meets its conditions, and returns it. */
function dropUnfitCoupon(db: ShoppingDb, today: string): string | undefined {
  const { coupon } = customerOf(db)
  if (coupon === null || !couponObstacle(db.coupons.get(coupon)!, cartLines(db), today)) return undefined
  db.customers.update('me', { coupon: null })
  return coupon
}

const addToCart = tool({
  name: 'add_to_cart',
  description: `Put a variant of a product into the cart, at most ${LIMITS.perVariant} of each and no more than are in stock. The cart holds ${LIMITS.cartLines} different articles. What was on the wishlist leaves it.`,
  input: z.strictObject({
    variant: ref('variant'),
    quantity: quantity.describe('Pieces; one if not given.').optional(),
  }),
  output: z.object({
    name: z.string(),
    variant: ref('cart_item'),
    quantity: z.int().describe('Now in the cart'),
    cart_value: money,
  }),
  annotations: { readOnly: false },
  establishes: ['cart_filled'],
  sample({ db, random, bound }) {
    const wanted = bound.quantity ?? 1
    const row = choose(db.variants, random, bound.variant, (variant) => roomFor(db, variant) >= wanted)
    if (!row) return null
    const pieces = row.price > FOR_ONE ? 1 : Math.min(random.pick([1, 1, 1, 2, 2, 3]), roomFor(db, row))
    return { variant: row.variant, ...(pieces > 1 ? { quantity: pieces } : {}), ...bound }
  },
  run({ variant, quantity = 1 }, { rowOf, db, fail }) {
    const row = rowOf('variants', variant)
    const before = db.cart_lines.get(variant)?.quantity ?? 0
    const after = before + quantity
    if (row.stock === 0) fail('out_of_stock', `${row.name} is sold out.`)
    if (after > LIMITS.perVariant)
      fail('quantity_limit', `At most ${LIMITS.perVariant} per customer, the cart has ${before}.`)
    if (after > row.stock) fail('not_enough_stock', `${row.stock} in stock, ${before} in the cart already.`)
    if (before > 0) db.cart_lines.update(variant, { quantity: after })
    else if (db.cart_lines.count() >= LIMITS.cartLines) fail('cart_full')
    else db.cart_lines.insert({ variant, quantity })
    if (db.wishes.has(variant)) db.wishes.remove(variant)
    return { name: row.name, variant, quantity: after, cart_value: worthOf(cartLines(db)) }
  },
})

const removeFromCart = tool({
  name: 'remove_from_cart',
  description:
    'Take a variant out of the cart, all of it unless a smaller quantity is given. A coupon whose conditions the cart no longer meets is taken off.',
  input: z.strictObject({
    variant: ref('cart_item'),
    quantity: quantity.describe('Pieces; all of them if not given.').optional(),
  }),
  output: z.object({
    name: z.string(),
    variant: ref('variant'),
    quantity: z.int().describe('Still in the cart'),
    cart_value: money,
    coupon_removed: z.string().optional(),
  }),
  annotations: { readOnly: false, destructive: true },
  needs: ['cart_filled'],
  sample({ db, random, bound }) {
    const line = choose(db.cart_lines, random, bound.variant, (row) => row.quantity >= (bound.quantity ?? 1))
    if (!line) return null
    const some = line.quantity > 1 && random.chance(0.3) ? { quantity: random.int(1, line.quantity - 1) } : {}
    return { variant: line.variant, ...some, ...bound }
  },
  run({ variant, quantity }, { rowOf, db, fail, today }) {
    const row = rowOf('variants', variant)
    const line = db.cart_lines.get(variant) ?? fail('not_in_cart', `${row.name} is not in the cart.`)
    const left = quantity === undefined ? 0 : line.quantity - quantity
    if (left < 0) fail('not_in_cart', `The cart has only ${line.quantity} of ${row.name}.`)
    if (left === 0) db.cart_lines.remove(variant)
    else db.cart_lines.update(variant, { quantity: left })
    const dropped = dropUnfitCoupon(db, today())
    const stated = { name: row.name, variant, quantity: left, cart_value: worthOf(cartLines(db)) }
    return dropped === undefined ? stated : { ...stated, coupon_removed: dropped }
  },
})

const viewCart = tool({
  name: 'view_cart',
  description: 'Show what is in the cart, the coupon on it and what it costs without shipping.',
  input: z.strictObject({}),
  output: z.object({
    items: z.array(z.object({ name: z.string(), variant: ref('cart_item'), quantity: z.int(), price: money })),
    coupon: z.string().nullable(),
    discount: money,
    total: money,
  }),
  annotations: { readOnly: true },
  needs: ['cart_filled'],
  sample: () => ({}),
  run(_, { db }) {
    const lines = cartLines(db)
    const { discount, due } = cartBill(db, lines)
    const items = lines.map(({ variant, quantity }) => ({ ...variant, quantity }))
    return { items, coupon: customerOf(db).coupon, discount, total: due }
  },
})

export const cartTools = [addToCart, removeFromCart, viewCart]
