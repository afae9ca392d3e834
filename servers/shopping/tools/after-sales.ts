import { z } from 'zod'
import { choose } from '../../kernel/choose.js'
import { ref } from '../../kernel/fields.js'
import { refund, restock } from '../changes.js'
import { customerOf, isOnItsWay, LIMITS, returnObstacle, wasDelivered } from '../rules.js'
import { money, tool } from '../schema.js'
import { reviewOf } from '../words.js'
import { ratingOf } from './catalogue.js'

const returnItem = tool({
  name: 'return_item',
  description: `Send an item of a delivered order back within ${LIMITS.returnDays} days of delivery, all pieces of it. What was paid for it is refunded, the points earned with it are taken back as far as you still have them. What was on final sale cannot be returned.`,
  input: z.strictObject({ item: ref('item') }),
  output: z.object({
    name: z.string(),
    item: ref('item'),
    refund: money,
    refunded_to: z.string(),
    points: z.int().describe('What you have left'),
  }),
  annotations: { readOnly: false, destructive: true },
  sample({ db, random, bound, today }) {
    const row = choose(db.order_items, random, bound.item, (item) => !returnObstacle(db, item, today()))
    return row ? { item: row.item } : null
  },
  run({ item: key }, { unless, rowOf, db, today }) {
    const item = rowOf('order_items', key)
    unless(returnObstacle(db, item, today()))
    const order = db.orders.get(item.order)!
    restock(db, item)
    const before = customerOf(db).points
    const points_back = Math.min(before, item.paid)
    const { points } = db.customers.update('me', { points: before - points_back })
    db.order_items.update(key, { returned: true, points_back })
    db.orders.update(order.order, { refunded: order.refunded + item.paid })
    const refunded_to = refund(db, order, item.paid)
    return { name: item.name, item: key, refund: item.paid, refunded_to, points }
  },
})

const writeReview = tool({
  name: 'write_review',
  description: 'Review a product that was delivered to you, with one to five stars. One review per product.',
  input: z.strictObject({
    product: ref('bought_product'),
    stars: z.int().min(1).max(5).describe('1 is worst, 5 is best.'),
    text: z.string().trim().min(3).max(120).describe('The review, in a sentence or two.'),
  }),
  output: z.object({
    title: z.string(),
    product: ref('bought_product'),
    rating: z.number().describe('Average of all reviews'),
    reviews: z.int(),
  }),
  annotations: { readOnly: false },
  sample({ db, random, bound }) {
    const row = choose(
      db.products,
      random,
      bound.product,
      ({ product }) => !db.reviews.has(product) && wasDelivered(db, product) && !isOnItsWay(db, product),
    )
    if (!row) return null
    const stars = bound.stars ?? random.pick([1, 2, 3, 4, 4, 5, 5])
    return { stars, text: reviewOf(random, row.category, stars), ...bound, product: row.product }
  },
  run({ product, stars, text }, { rowOf, db, fail, today }) {
    const row = rowOf('products', product)
    if (!wasDelivered(db, product)) fail('not_delivered', `${row.title} has not been delivered to you.`)
    if (db.reviews.has(product)) fail('already_reviewed')
    db.reviews.insert({ product, stars, text, written: today() })
    const rated = db.products.update(product, { stars: row.stars + stars, reviews: row.reviews + 1 })
    return { title: row.title, product, rating: ratingOf(rated), reviews: rated.reviews }
  },
})

export const afterSalesTools = [returnItem, writeReview]
