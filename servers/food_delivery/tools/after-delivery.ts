import { z } from 'zod'
import { choose } from '../../kernel/choose.js'
import { ref } from '../../kernel/fields.js'
import { claimObstacle, LIMITS, ratingObstacle, ratingOf, refundFor, unclaimed } from '../rules.js'
import { type FoodOrder, type Item, tool } from '../schema.js'

const reportMissingDish = tool({
  name: 'report_missing_dish',
  description: `Report portions that were missing from a delivered food order; they are refunded to the credit. Within ${LIMITS.claimHours} hours of delivery, and at most ${LIMITS.claimsPerMonth} times in 30 days.`,
  input: z.strictObject({
    food_order: ref('food_order'),
    dish_name: z.string().trim().min(2).max(40).describe('As the menu calls it.'),
    quantity: z.int().min(1).max(9).describe('Missing portions.'),
  }),
  output: z.object({ name: z.string(), food_order: ref('food_order'), refund: z.int(), credit: z.int() }),
  annotations: { readOnly: false },
  sample({ db, random, bound, now }) {
    const fits = (order: FoodOrder, item: Item): boolean =>
      (bound.dish_name ?? item.name) === item.name && unclaimed(db, order, item) >= (bound.quantity ?? 1)
    const order = choose(
      db.food_orders,
      random,
      bound.food_order,
      (row) => row.items.some((item) => fits(row, item)) && claimObstacle(db, now(), row) === undefined,
    )
    if (!order) return null
    const item = random.pick(order.items.filter((row) => fits(order, row)))
    const quantity = bound.quantity ?? (random.chance(0.7) ? 1 : random.int(1, unclaimed(db, order, item)))
    return { food_order: order.food_order, dish_name: item.name, quantity }
  },
  run({ food_order, dish_name, quantity }, { rowOf, unless, db, fail, nextId, now, today }) {
    const order = rowOf('food_orders', food_order)
    unless(claimObstacle(db, now(), order))
    const called = dish_name.toLowerCase()
    const item = order.items.find(({ name }) => name.toLowerCase() === called) ?? fail('dish_not_ordered')
    const left = unclaimed(db, order, item)
    if (quantity > left) fail('more_than_delivered', `${left} of ${item.quantity} portions can still be reported.`)
    const refund = refundFor(order, item, quantity)
    db.claims.insert({ claim: nextId('claim'), food_order, dish: item.dish, quantity, refund, date: today() })
    db.food_orders.update(food_order, { refunded: order.refunded + refund })
    const { credit } = db.customers.update('me', { credit: db.customers.get('me')!.credit + refund })
    return { name: order.name, food_order, refund, credit }
  },
})

const rateFoodOrder = tool({
  name: 'rate_food_order',
  description: `Rate a delivered food order with one to five stars, once, within ${LIMITS.ratingDays} days. The stars count for the restaurant.`,
  input: z.strictObject({
    food_order: ref('food_order'),
    stars: z.int().min(1).max(5).describe('1 is worst, 5 is best.'),
  }),
  output: z.object({
    name: z.string(),
    food_order: ref('food_order'),
    stars: z.int(),
    rating: z.number().describe('Of the restaurant, with this one.'),
  }),
  annotations: { readOnly: false },
  sample({ db, random, bound, now }) {
    const at = now()
    const order = choose(db.food_orders, random, bound.food_order, (row) => ratingObstacle(at, row) === undefined)
    if (!order) return null
    // Who did not get everything is not delighted.
    const isShort = db.claims.by('food_order', order.food_order).length > 0
    return {
      food_order: order.food_order,
      stars: bound.stars ?? random.pick(isShort ? [1, 2, 2, 3] : [2, 3, 4, 4, 5, 5]),
    }
  },
  run({ food_order, stars }, { rowOf, unless, db, now }) {
    const order = rowOf('food_orders', food_order)
    unless(ratingObstacle(now(), order))
    db.food_orders.update(food_order, { stars, rated_at: now() })
    const { rating_sum, rating_count } = db.restaurants.get(order.restaurant)!
    const restaurant = db.restaurants.update(order.restaurant, {
      rating_sum: rating_sum + stars,
      rating_count: rating_count + 1,
    })
    return { name: order.name, food_order, stars, rating: ratingOf(restaurant) }
  },
})

export const afterDeliveryTools = [reportMissingDish, rateFoodOrder]
