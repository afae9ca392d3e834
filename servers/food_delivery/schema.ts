import { z } from 'zod'
import { type DbView, type ObstacleOf, type RowOf, type ToolContext, toolMaker } from '../kernel/define-environment.js'

export const CUISINES = ['greek', 'indian', 'italian', 'japanese', 'mexican', 'thai'] as const
export const ALLERGENS = ['dairy', 'eggs', 'gluten', 'nuts', 'shellfish', 'soy'] as const
/** The parts of a city that kitchens deliver to. */
export const ZONES = ['centre', 'north', 'east', 'south', 'west'] as const

/** Whole currency units. */
export const money = z.int().min(0).max(10_000)
/** An instant in the form of the session's clock, so that two compare as strings. */
const instant = z.iso.datetime()
/** HH:MM, 24 h. */
export const clock = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/)

const restaurant = z.object({
  restaurant: z.string(),
  name: z.string(),
  cuisine: z.enum(CUISINES),
  city: z.string(),
  /** Where the kitchen stands. */
  zone: z.enum(ZONES),
  /** Where it delivers to, in its own city. */
  zones: z.array(z.enum(ZONES)).min(1),
  opens: clock,
  closes: clock,
  /** The least that the dishes of an order must cost together. */
  minimum: money,
  /** What the delivery of one order costs. */
  fee: money,
  cook_minutes: z.int().min(5).max(25),
  rating_sum: z.int().min(0),
  rating_count: z.int().min(1),
})

const option = z.object({ option: z.string(), extra: money })

const dish = z.object({
  dish: z.string(),
  name: z.string(),
  restaurant: z.string(),
  price: money.min(1),
  /** One of these must be chosen, unless there are none. */
  options: z.array(option),
  allergens: z.array(z.enum(ALLERGENS)),
  /** Portions that can still be ordered; 0 is sold out. */
  left: z.int().min(0),
})

/** One dish in the basket. The basket's restaurant is that of its dishes. */
const basketLine = z.object({
  dish: z.string(),
  quantity: z.int().min(1),
  option: z.string().nullable(),
  /** Of one portion with its option. */
  price: money,
})

const promo = z.object({
  promo: z.string(),
  /** The cuisine whose restaurants take it; null for all. */
  cuisine: z.enum(CUISINES).nullable(),
  off: money,
  minimum: money,
  /** Last day on which it can be used. */
  expires: z.iso.date(),
})

const dropoff = z.object({
  dropoff: z.string(),
  name: z.string(),
  address: z.string(),
  city: z.string(),
  zone: z.enum(ZONES),
})

const item = z.object({
  dish: z.string(),
  name: z.string(),
  quantity: z.int().min(1),
  option: z.string().nullable(),
  price: money,
})

const foodOrder = z.object({
  food_order: z.string(),
  /** The restaurant's name. */
  name: z.string(),
  restaurant: z.string(),
  dropoff: z.string(),
  items: z.array(item).min(1),
  /** What the dishes cost together. */
  food: money,
  discount: money,
  fee: money,
  tip: money,
  /** food - discount + fee + tip. */
  paid: money,
  refunded: money,
  promo: z.string().nullable(),
  /** Whether a time was asked for. */
  scheduled: z.boolean(),
  placed_at: instant,
  accepted_at: instant,
  cooking_at: instant,
  leaves_at: instant,
  delivered_at: instant,
  cancelled_at: instant.nullable(),
  courier: z.string(),
  instruction: z.string(),
  stars: z.int().min(1).max(5).nullable(),
  rated_at: instant.nullable(),
})

/** Portions reported as missing from a delivered order. */
const claim = z.object({
  claim: z.string(),
  food_order: z.string(),
  dish: z.string(),
  quantity: z.int().min(1),
  refund: money,
  date: z.iso.date(),
})

const topUp = z.object({ top_up: z.string(), amount: money.min(1), date: z.iso.date() })

/** The one customer of a session. */
const customer = z.object({
  customer: z.literal('me'),
  credit: money,
  /** The promo that the basket has. */
  promo: z.string().nullable(),
})

export const tables = {
  restaurants: { row: restaurant, key: 'restaurant', missing: 'unknown_restaurant' },
  dishes: { row: dish, key: 'dish', missing: 'unknown_dish' },
  basket: { row: basketLine, key: 'dish' },
  promos: { row: promo, key: 'promo', missing: 'unknown_promo' },
  dropoffs: { row: dropoff, key: 'dropoff', missing: 'unknown_dropoff' },
  food_orders: { row: foodOrder, key: 'food_order', missing: 'unknown_food_order' },
  claims: { row: claim, key: 'claim' },
  top_ups: { row: topUp, key: 'top_up' },
  customers: { row: customer, key: 'customer' },
} as const

export const failures = {
  unknown_restaurant: 'There is no such restaurant.',
  unknown_dish: 'There is no such dish.',
  unknown_promo: 'There is no such promo.',
  unknown_dropoff: 'There is no such drop-off.',
  unknown_food_order: 'There is no such food order.',
  unknown_address: 'That address does not exist.',
  dropoff_exists: 'There is already a drop-off of that name.',
  too_many_dropoffs: 'There are as many drop-offs as may be saved.',
  sold_out: 'There are not that many portions left.',
  option_required: 'One of the options of the dish must be chosen.',
  unknown_option: 'The dish does not have that option.',
  other_option: 'The dish is in the basket with another option.',
  other_restaurant: 'The basket holds dishes of another restaurant: empty it first.',
  basket_full: 'The basket holds as many different dishes as it can.',
  basket_empty: 'There is nothing in the basket.',
  below_minimum: 'The restaurant does not deliver orders this small.',
  outside_delivery_zone: 'The restaurant does not deliver to that drop-off.',
  restaurant_closed: 'The restaurant is closed at that time.',
  too_soon: 'That time is too soon.',
  insufficient_credit: 'The credit does not cover the order: top it up first.',
  top_up_limit: 'That is more than may still be added today.',
  promo_applied: 'The basket has a promo already.',
  promo_expired: 'The promo has expired.',
  promo_minimum: 'The dishes in the basket cost less than the promo requires.',
  promo_elsewhere: 'The restaurant does not take this promo.',
  promo_used: 'The promo was used for an earlier order.',
  order_cancelled: 'The food order was cancelled.',
  too_late_to_cancel: 'The kitchen has begun to cook.',
  already_delivered: 'The food order has been delivered.',
  not_delivered: 'The food order has not been delivered yet.',
  already_rated: 'The food order has been rated.',
  rating_too_late: 'The delivery is too long ago to be rated.',
  dish_not_ordered: 'That dish is not part of the food order.',
  more_than_delivered: 'That is more than was ordered and not yet refunded.',
  claim_too_late: 'The delivery is too long ago for a refund.',
  too_many_claims: 'There have been as many refunds for missing dishes as are given in a month.',
} as const

export type FoodTables = typeof tables
export type FailureCode = keyof typeof failures
export type Obstacle = ObstacleOf<typeof failures>
export type FoodView = DbView<FoodTables>
export type Context = ToolContext<FoodTables, FailureCode>
export type Restaurant = RowOf<FoodTables['restaurants']>
export type Dish = RowOf<FoodTables['dishes']>
export type BasketLine = RowOf<FoodTables['basket']>
export type Promo = RowOf<FoodTables['promos']>
export type Dropoff = RowOf<FoodTables['dropoffs']>
export type FoodOrder = RowOf<FoodTables['food_orders']>
export type Item = FoodOrder['items'][number]
export type Zone = (typeof ZONES)[number]

export const tool = toolMaker(tables, failures)
