import { z } from 'zod'
import { choose } from '../../kernel/choose.js'
import { timeOf } from '../../kernel/dates.js'
import { common, ref } from '../../kernel/fields.js'
import { cancelFee, LIMITS, statusOf } from '../rules.js'
import { type FoodOrder, tool } from '../schema.js'
import { INSTRUCTIONS } from '../words.js'

const STATES = ['scheduled', 'active', 'delivered', 'cancelled'] as const

/** The status as a customer would sort it. */
function stateOf(order: FoodOrder, now: string): (typeof STATES)[number] {
  const status = statusOf(order, now)
  return status === 'scheduled' || status === 'delivered' || status === 'cancelled' ? status : 'active'
}

const listFoodOrders = tool({
  name: 'list_food_orders',
  description:
    'List your food orders, the newest first: scheduled for later, active (placed, accepted, cooking or on the way), delivered or cancelled.',
  input: z.strictObject({
    state: z.enum(STATES).describe('Only orders in this state.'),
    restaurant: ref('restaurant', 'Only orders from this restaurant, from find_restaurants.').optional(),
  }),
  output: z.object({
    found: z.int(),
    food_orders: z.array(
      z.object({ name: z.string(), food_order: ref('food_order'), paid: z.int(), date: common('date', z.string()) }),
    ),
  }),
  pages: { food_orders: 'short' },
  annotations: { readOnly: true },
  sample({ db, random, bound, now }) {
    // Orders that were called off are seldom looked for.
    const state = bound.state ?? random.pick(random.chance(0.9) ? STATES.filter((one) => one !== 'cancelled') : STATES)
    const orders = db.food_orders.list((row) => stateOf(row, now()) === state)
    const restaurant =
      bound.restaurant ?? (orders.length > 0 && random.chance(0.4) ? random.pick(orders).restaurant : undefined)
    return { state, ...(restaurant === undefined ? {} : { restaurant }) }
  },
  run({ state, restaurant }, { rowOf, db, now }) {
    if (restaurant !== undefined) rowOf('restaurants', restaurant)
    const at = now()
    const orders = restaurant === undefined ? db.food_orders.list() : db.food_orders.by('restaurant', restaurant)
    const fitting = orders.filter((row) => stateOf(row, at) === state).reverse()
    return {
      found: fitting.length,
      food_orders: fitting.map(({ name, food_order, paid, placed_at }) => ({
        name,
        food_order,
        paid,
        date: placed_at.slice(0, 10),
      })),
    }
  },
})

const trackFoodOrder = tool({
  name: 'track_food_order',
  description: 'Show where a food order stands, when it arrives or arrived, what it holds and who brings it.',
  input: z.strictObject({ food_order: ref('food_order') }),
  output: z.object({
    name: z.string(),
    food_order: ref('food_order'),
    status: z.string(),
    arrives: z.string().describe('HH:MM.'),
    address: common('address', z.string()),
    courier: z.string().optional(),
    // Not a reference: who has a dish on the way does not order it again.
    dishes: z.array(z.object({ name: z.string(), dish: z.string(), quantity: z.int() })),
  }),
  annotations: { readOnly: true },
  sample({ db, random, bound, now }) {
    const at = now()
    // Of what was called off, or has come, nobody asks where it is.
    const isOn = (row: FoodOrder) => !['cancelled', 'delivered'].includes(stateOf(row, at))
    const open = (row: FoodOrder) => stateOf(row, at) === 'active'
    const order =
      bound.food_order === undefined && random.chance(0.5)
        ? (choose(db.food_orders, random, undefined, open) ?? choose(db.food_orders, random, undefined, isOn))
        : choose(db.food_orders, random, bound.food_order, isOn)
    return order ? { food_order: order.food_order } : null
  },
  run({ food_order }, context) {
    const order = context.rowOf('food_orders', food_order)
    const status = statusOf(order, context.now())
    return {
      name: order.name,
      food_order,
      status,
      arrives: timeOf(order.delivered_at),
      address: context.db.dropoffs.get(order.dropoff)!.address,
      ...(status === 'on_the_way' || status === 'delivered' ? { courier: order.courier } : {}),
      dishes: order.items.map(({ name, dish, quantity }) => ({ name, dish, quantity })),
    }
  },
})

const cancelFoodOrder = tool({
  name: 'cancel_food_order',
  description: `Cancel a food order before the kitchen begins to cook, ${LIMITS.cookingAfterMinutes} minutes after it was placed. It is free until the restaurant accepts it (${LIMITS.acceptMinutes} minutes); then ${LIMITS.cancelFeePercent} percent of the food's price is kept.`,
  input: z.strictObject({ food_order: ref('food_order') }),
  output: z.object({
    name: z.string(),
    // Not a reference: a cancelled order can only be looked at.
    food_order: z.string(),
    restaurant: ref('restaurant'),
    status: z.string(),
    refund: z.int(),
    credit: z.int(),
  }),
  annotations: { readOnly: false, destructive: true },
  needs: ['food_ordered'],
  sample({ db, random, bound, now }) {
    const at = now()
    const order = choose(
      db.food_orders,
      random,
      bound.food_order,
      (row) => row.cancelled_at === null && at < row.cooking_at,
    )
    return order ? { food_order: order.food_order } : null
  },
  run({ food_order }, { rowOf, db, fail, now }) {
    const order = rowOf('food_orders', food_order)
    const status = statusOf(order, now())
    if (status === 'cancelled') fail('order_cancelled')
    if (status === 'delivered') fail('already_delivered')
    if (status === 'cooking' || status === 'on_the_way')
      fail('too_late_to_cancel', `${food_order} is ${status === 'cooking' ? 'being cooked' : 'on the way'}.`)
    const refund = order.paid - cancelFee(order, status)
    db.food_orders.update(food_order, { cancelled_at: now(), refunded: refund })
    for (const { dish, quantity } of order.items) db.dishes.update(dish, { left: db.dishes.get(dish)!.left + quantity })
    const { credit } = db.customers.update('me', { credit: db.customers.get('me')!.credit + refund })
    return { name: order.name, food_order, restaurant: order.restaurant, status: 'cancelled', refund, credit }
  },
})

const instructCourier = tool({
  name: 'instruct_courier',
  description:
    'Tell the courier of a food order how to hand it over, until it is delivered. Replaces what was said before.',
  input: z.strictObject({
    food_order: ref('food_order'),
    instruction: z.string().trim().min(3).max(80).describe('What the courier is told, in a sentence.'),
  }),
  output: z.object({ name: z.string(), food_order: ref('food_order'), instruction: z.string(), status: z.string() }),
  annotations: { readOnly: false, idempotent: true },
  needs: ['food_ordered'],
  sample({ db, random, bound, now }) {
    const at = now()
    const order = choose(
      db.food_orders,
      random,
      bound.food_order,
      (row) => row.cancelled_at === null && at < row.delivered_at,
    )
    return order ? { food_order: order.food_order, instruction: bound.instruction ?? random.pick(INSTRUCTIONS) } : null
  },
  run({ food_order, instruction }, { rowOf, db, fail, now }) {
    const order = rowOf('food_orders', food_order)
    const status = statusOf(order, now())
    if (status === 'cancelled') fail('order_cancelled')
    if (status === 'delivered') fail('already_delivered')
    db.food_orders.update(food_order, { instruction })
    return { name: order.name, food_order, instruction, status }
  },
})

export const orderTools = [listFoodOrders, trackFoodOrder, cancelFoodOrder, instructCourier]
