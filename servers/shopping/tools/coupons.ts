import { z } from 'zod'
import { choose } from '../../kernel/choose.js'
import { common, ref } from '../../kernel/fields.js'
import { cartBill, cartLines, couponObstacle, customerOf } from '../rules.js'
import { CATEGORIES, money, tool } from '../schema.js'

const findCoupons = tool({
  name: 'find_coupons',
  description:
    'List your unused coupons for a category, those for everything included: percent off, least value of the articles, last day.',
  input: z.strictObject({ category: z.enum(CATEGORIES).describe('Category of products.') }),
  output: z.object({
    found: z.int(),
    coupons: z.array(
      z.object({
        name: z.string(),
        coupon: ref('coupon'),
        percent: z.int(),
        minimum: money,
        expires: common('date', z.string()),
      }),
    ),
  }),
  pages: { coupons: 'short' },
  annotations: { readOnly: true },
  sample: ({ random, bound }) => ({ category: random.pick(CATEGORIES), ...bound }),
  run({ category }, { db }) {
    const coupons = [...db.coupons.by('category', category), ...db.coupons.by('category', null)].filter(
      ({ used }) => !used,
    )
    return { found: coupons.length, coupons }
  },
})

const applyCoupon = tool({
  name: 'apply_coupon',
  description:
    'Put a coupon on the cart. Only one per order, and it must not have expired; the articles in the cart that it is for must be worth its minimum.',
  input: z.strictObject({ coupon: ref('coupon') }),
  output: z.object({
    name: z.string(),
    coupon: ref('coupon'),
    discount: money,
    total: money.describe('Without shipping'),
  }),
  annotations: { readOnly: false },
  establishes: ['coupon_applied'],
  needs: ['cart_filled', 'coupon_freed'],
  sample({ db, random, bound, today }) {
    if (customerOf(db).coupon !== null) return null
    const lines = cartLines(db)
    const row = choose(db.coupons, random, bound.coupon, (coupon) => !couponObstacle(coupon, lines, today()))
    return row ? { coupon: row.coupon } : null
  },
  run({ coupon }, { unless, rowOf, db, fail, today }) {
    const row = rowOf('coupons', coupon)
    const applied = customerOf(db).coupon
    if (applied !== null) fail('coupon_already_applied', `${applied} is on the cart; only one can be used per order.`)
    const lines = cartLines(db)
    if (lines.length === 0) fail('cart_empty')
    unless(couponObstacle(row, lines, today()))
    db.customers.update('me', { coupon })
    const { discount, due } = cartBill(db, lines)
    return { name: row.name, coupon, discount, total: due }
  },
})

const removeCoupon = tool({
  name: 'remove_coupon',
  description: 'Take the coupon off the cart again; it can be used later.',
  input: z.strictObject({}),
  output: z.object({
    // Not a reference: what was just taken off is not what one would apply next.
    removed: z.string(),
    total: money.describe('Without shipping'),
  }),
  annotations: { readOnly: false },
  establishes: ['coupon_freed'],
  needs: ['coupon_applied'],
  sample: ({ db }) => (customerOf(db).coupon === null ? null : {}),
  run(_, { db, fail }) {
    const { coupon } = customerOf(db)
    if (coupon === null) return fail('no_coupon_applied')
    db.customers.update('me', { coupon: null })
    return { removed: coupon, total: cartBill(db).due }
  },
})

export const couponTools = [findCoupons, applyCoupon, removeCoupon]
