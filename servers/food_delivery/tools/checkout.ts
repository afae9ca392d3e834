import { z } from 'zod'
import { choose } from '../../kernel/choose.js'
import { clockOf, minutesOf, timeOf } from '../../kernel/dates.js'
import { common, ref } from '../../kernel/fields.js'
import { addressIn } from '../../kernel/gazetteer.js'
import type { SeededRandom } from '../../kernel/random.js'
import { slug } from '../../kernel/text.js'
import {
  basketRestaurant,
  cityNamed,
  isOpen,
  LIMITS,
  locate,
  orderObstacle,
  priceOf,
  rideMinutes,
  statusOf,
  timesFrom,
  timesUntil,
  topUpLeft,
} from '../rules.js'
import { type Context, clock, type FoodView, type Restaurant, tool } from '../schema.js'
import { COURIERS, NEW_DROPOFFS } from '../words.js'

const listDropoffs = tool({
  name: 'list_dropoffs',
  description: 'List your saved drop-offs (places food is delivered to) in a city.',
  input: z.strictObject({
    city: common('city', z.string().trim().min(2).max(40).describe('Name of the city, such as Oslo.')),
  }),
  output: z.object({
    found: z.int(),
    dropoffs: z.array(z.object({ name: z.string(), dropoff: ref('dropoff'), address: common('address', z.string()) })),
  }),
  pages: { dropoffs: 'short' },
  annotations: { readOnly: true },
  sample: ({ db, random, bound }) => ({ city: random.pick(db.dropoffs.list()).city, ...bound }),
  run({ city }, { db }) {
    const dropoffs = db.dropoffs.by('city', cityNamed(city))
    return { found: dropoffs.length, dropoffs: [...dropoffs] }
  },
})

const addDropoff = tool({
  name: 'add_dropoff',
  description: `Save a place that food can be delivered to, under a name of its own. Up to ${LIMITS.dropoffs} can be saved.`,
  input: z.strictObject({
    name: z
      .string()
      .trim()
      .min(2)
      .max(30)
      .regex(/^[A-Za-z][A-Za-z0-9 '-]*$/, 'a name has letters, digits, spaces, hyphens')
      .describe('Your name for the place, such as Home.'),
    address: common('address', z.string().trim().min(6).max(60).describe('As in "12 Rua do Moinho, Lisbon".')),
  }),
  output: z.object({
    name: z.string(),
    dropoff: ref('dropoff'),
    address: common('address', z.string()),
    zone: z.string(),
  }),
  annotations: { readOnly: false },
  sample({ db, random, bound }) {
    if (db.dropoffs.count() >= LIMITS.dropoffs) return null
    const free = NEW_DROPOFFS.filter((name) => !db.dropoffs.has(slug(name)))
    if (free.length === 0) return null
    const { city } = db.dropoffs.list()[0]!
    return { name: random.pick(free), address: addressIn(random, city), ...bound }
  },
  run({ name, address }, { db, fail }) {
    const place = locate(address) ?? fail('unknown_address', `There is no address ${address}.`)
    const dropoff = slug(name)
    if (db.dropoffs.has(dropoff)) fail('dropoff_exists', `${name} is the name of a drop-off already.`)
    if (db.dropoffs.count() >= LIMITS.dropoffs) fail('too_many_dropoffs')
    return db.dropoffs.insert({ dropoff, name, ...place })
  },
})

/** Amounts that people add. */
const TOP_UPS = [10, 15, 20, 25, 30, 40, 50, 60, 80, 100] as const
/** What a meal for two costs about, and what the courier gets. */
const USUAL_MEAL = 40
const USUAL_TIP = 5

/** What is in the basket, brought home. */
function mealPrice(db: FoodView): number {
  const lines = db.basket.list()
  return priceOf(lines) + (basketRestaurant(db, lines)?.fee ?? 0)
}

const topUpCredit = tool({
  name: 'top_up_credit',
  description: `Add money from your card to the credit that food orders are paid from, at most ${LIMITS.topUpPerDay} a day.`,
  input: z.strictObject({ amount: z.int().min(5).max(200).describe('Whole currency units.') }),
  output: z.object({ amount: z.int(), credit: z.int() }),
  annotations: { readOnly: false },
  establishes: ['credit_added'],
  sample({ db, random, bound, today }) {
    const most = topUpLeft(db, today())
    if (bound.amount !== undefined) return bound.amount > most ? null : { amount: bound.amount }
    // Who can pay for what is in the basket, or for a usual meal, needs no more.
    const due = mealPrice(db) || USUAL_MEAL
    const { credit } = db.customers.get('me')!
    if (credit >= due + USUAL_TIP) return null
    const enough = TOP_UPS.filter((amount) => amount <= most && credit + amount >= due)
    return enough.length > 0 ? { amount: random.pick(enough.slice(0, 3)) } : null
  },
  run({ amount }, { db, fail, nextId, today }) {
    const left = topUpLeft(db, today())
    if (amount > left) fail('top_up_limit', `Only ${left} may still be added today.`)
    db.top_ups.insert({ top_up: nextId('topup'), amount, date: today() })
    return { amount, credit: db.customers.update('me', { credit: db.customers.get('me')!.credit + amount }).credit }
  },
})

/** A time today at which `restaurant` can deliver, on the quarter of an hour; nothing when there is none left. */
/** When people eat lunch and dinner, minutes of the day. */
const MEALS = [
  [12 * 60, 14 * 60],
  [18 * 60, 20 * 60 + 30],
] as const

function laterToday(random: SeededRandom, now: string, restaurant: Restaurant): string | undefined {
  const earliest = minutesOf(timeOf(now)) + LIMITS.scheduleAheadMinutes + 5
  const quarters = Array.from({ length: 96 }, (_, i) => 15 * i).filter(
    (minutes) => minutes >= earliest && isOpen(restaurant, clockOf(minutes)),
  )
  const atMeals = quarters.filter((minutes) => MEALS.some(([from, to]) => minutes >= from && minutes <= to))
  const times = atMeals.length > 0 ? atMeals : quarters
  return times.length > 0 ? clockOf(random.pick(times)) : undefined
}

const placeFoodOrder = tool({
  name: 'place_food_order',
  description: `Order what is in the basket, from the restaurant's minimum on, to a drop-off it delivers to, and pay from the credit. Without a time it comes as soon as possible, while the restaurant is open; a time is today, within opening hours and at least ${LIMITS.scheduleAheadMinutes} minutes ahead.`,
  input: z.strictObject({
    dropoff: ref('dropoff'),
    time: clock.optional().describe('When it shall arrive today, HH:MM.'),
    tip: z.int().min(1).max(20).optional().describe('For the courier.'),
  }),
  output: z.object({
    name: z.string(),
    food_order: ref('food_order'),
    status: z.string(),
    paid: z.int(),
    credit: z.int(),
    arrives: z.string(),
  }),
  annotations: { readOnly: false },
  establishes: ['food_ordered'],
  needs: ['basket_filled', 'credit_added'],
  sample({ db, random, bound, now }) {
    const lines = db.basket.list()
    const restaurant = basketRestaurant(db, lines)
    if (!restaurant) return null
    const food = priceOf(lines)
    const open = isOpen(restaurant, timeOf(now()))
    const time = bound.time ?? (open && random.chance(0.3) ? undefined : laterToday(random, now(), restaurant))
    const dropoff = choose(
      db.dropoffs,
      random,
      bound.dropoff,
      (row) => orderObstacle(now(), restaurant, row, food, time) === undefined,
    )
    if (!dropoff) return null
    const { promo, credit } = db.customers.get('me')!
    const spare = credit - food - restaurant.fee + (promo === null ? 0 : db.promos.get(promo)!.off)
    if (spare < (bound.tip ?? 0)) return null
    const tip =
      bound.tip ?? (spare > 0 && random.chance(0.3) ? random.int(Math.min(2, spare), Math.min(6, spare)) : undefined)
    return {
      dropoff: dropoff.dropoff,
      ...(time === undefined ? {} : { time }),
      ...(tip === undefined ? {} : { tip }),
    }
  },
  run({ dropoff, time, tip = 0 }, context) {
    const { rowOf, unless, db, fail, nextId, now, today, random } = context
    const lines = db.basket.list()
    const restaurant = basketRestaurant(db, lines) ?? fail('basket_empty')
    const to = rowOf('dropoffs', dropoff)
    const food = priceOf(lines)
    unless(orderObstacle(now(), restaurant, to, food, time))
    const { promo, credit } = db.customers.get('me')!
    const discount = promo === null ? 0 : discountNow(context, promo)
    const paid = food - discount + restaurant.fee + tip
    if (paid > credit) fail('insufficient_credit', `The order costs ${paid}, the credit is ${credit}.`)
    const ride = rideMinutes(restaurant, to)
    const placed_at = now()
    const times =
      time === undefined
        ? timesFrom(placed_at, restaurant.cook_minutes, ride)
        : timesUntil(`${today()}T${time}:00Z`, restaurant.cook_minutes, ride)
    const order = db.food_orders.insert({
      food_order: nextId('food'),
      name: restaurant.name,
      restaurant: restaurant.restaurant,
      dropoff,
      items: lines.map((line) => ({ ...line, name: db.dishes.get(line.dish)!.name })),
      food,
      discount,
      fee: restaurant.fee,
      tip,
      paid,
      refunded: 0,
      promo,
      scheduled: time !== undefined,
      placed_at,
      ...times,
      cancelled_at: null,
      courier: random.pick(COURIERS),
      instruction: '',
      stars: null,
      rated_at: null,
    })
    for (const { dish, quantity } of lines) {
      db.dishes.update(dish, { left: db.dishes.get(dish)!.left - quantity })
      db.basket.remove(dish)
    }
    db.customers.update('me', { credit: credit - paid, promo: null })
    return {
      name: order.name,
      food_order: order.food_order,
      status: statusOf(order, placed_at),
      paid,
      credit: credit - paid,
      arrives: timeOf(order.delivered_at),
    }
  },
})

/** What the basket's promo takes off; it may have expired since it was applied. */
function discountNow({ db, fail, today }: Context, key: string): number {
  const { off, expires } = db.promos.get(key)!
  return expires < today() ? fail('promo_expired', `${key} expired on ${expires}: empty the basket.`) : off
}

export const checkoutTools = [listDropoffs, addDropoff, topUpCredit, placeFoodOrder]
