import { addDays, addMinutes, minutesOf, timeOf } from '../kernel/dates.js'
import { CITIES, parseAddress } from '../kernel/gazetteer.js'
import { streetsOf } from '../kernel/streets.js'
import {
  type BasketLine,
  type Dropoff,
  type FoodOrder,
  type FoodView,
  type Item,
  type Obstacle,
  type Promo,
  type Restaurant,
  ZONES,
  type Zone,
} from './schema.js'

/** The rules of the service: name, value, unit. */
export const LIMITS = {
  /** Minutes after which a restaurant accepts an order. Until then cancelling is free. */
  acceptMinutes: 3,
  /** Minutes after which it begins to cook. From then on an order cannot be cancelled. */
  cookingAfterMinutes: 8,
  /** Minutes between the restaurant's acceptance of a scheduled order and the beginning of cooking. */
  scheduledAcceptMinutes: 5,
  /** Part of the price of the food, in percent, that a restaurant keeps of an order cancelled after acceptance. */
  cancelFeePercent: 25,
  /** Least minutes from now to the time of a scheduled order: more than cooking and riding can take. */
  scheduleAheadMinutes: 45,
  /** Minutes of the courier's way inside the kitchen's zone, and to another one. */
  nearRideMinutes: 8,
  farRideMinutes: 14,
  /** Different dishes in the basket. */
  basketDishes: 4,
  /** What may be added to the credit in one day. Currency units. */
  topUpPerDay: 200,
  /** Hours after delivery within which a missing dish is refunded. */
  claimHours: 48,
  /** Refunds for missing dishes within 30 days. */
  claimsPerMonth: 3,
  /** Days after delivery within which an order can be rated. */
  ratingDays: 14,
  /** Saved drop-offs. */
  dropoffs: 9,
} as const

export type OrderStatus = 'scheduled' | 'placed' | 'accepted' | 'cooking' | 'on_the_way' | 'delivered' | 'cancelled'

/** Where an order stands at `now`: it follows from the instants that were fixed when it was placed. */
export function statusOf(order: FoodOrder, now: string): OrderStatus {
  if (order.cancelled_at !== null) return 'cancelled'
  if (now < order.accepted_at) return order.scheduled ? 'scheduled' : 'placed'
  if (now < order.cooking_at) return 'accepted'
  if (now < order.leaves_at) return 'cooking'
  return now < order.delivered_at ? 'on_the_way' : 'delivered'
}

export type OrderTimes = Pick<FoodOrder, 'accepted_at' | 'cooking_at' | 'leaves_at' | 'delivered_at'>

/** The life of an order that is wanted as soon as possible. */
export function timesFrom(placed: string, cookMinutes: number, rideMinutes: number): OrderTimes {
  const cooked = LIMITS.cookingAfterMinutes + cookMinutes
  return {
    accepted_at: addMinutes(placed, LIMITS.acceptMinutes),
    cooking_at: addMinutes(placed, LIMITS.cookingAfterMinutes),
    leaves_at: addMinutes(placed, cooked),
    delivered_at: addMinutes(placed, cooked + rideMinutes),
  }
}

/** The life of an order that is to be delivered at a certain instant. */
export function timesUntil(delivered: string, cookMinutes: number, rideMinutes: number): OrderTimes {
  const cooking = rideMinutes + cookMinutes
  return {
    accepted_at: addMinutes(delivered, -cooking - LIMITS.scheduledAcceptMinutes),
    cooking_at: addMinutes(delivered, -cooking),
    leaves_at: addMinutes(delivered, -rideMinutes),
    delivered_at: delivered,
  }
}

export const rideMinutes = (from: Restaurant, to: Dropoff): number =>
  from.zone === to.zone ? LIMITS.nearRideMinutes : LIMITS.farRideMinutes

/** The part of its city that a street lies in. */
export const zoneOf = (street: string, city: string): Zone => ZONES[streetsOf(city).indexOf(street) % ZONES.length]!

/** An address in its usual spelling with its city and zone; nothing if it does not exist. */
export function locate(address: string): { address: string; city: string; zone: Zone } | undefined {
  const found = parseAddress(address)
  if (!found) return undefined
  const { house, street, city } = found
  return { address: `${house} ${street}, ${city.city}`, city: city.city, zone: zoneOf(street, city.city) }
}

const SPELLINGS: ReadonlyMap<string, string> = new Map(CITIES.map(({ city }) => [city.toLowerCase(), city]))

/** Returns a city's name as the gazetteer spells it, regardless of capitals. Returns an unknown name unchanged. */
export const cityNamed = (name: string): string => SPELLINGS.get(name.toLowerCase()) ?? name

export const deliversTo = (restaurant: Restaurant, { city, zone }: Dropoff): boolean =>
  restaurant.city === city && restaurant.zones.includes(zone)

export const isOpen = ({ opens, closes }: Restaurant, time: string): boolean => opens <= time && time < closes

/** The restaurant's rating, one to five stars to one decimal place. */
export const ratingOf = ({ rating_sum, rating_count }: Restaurant): number =>
  Math.round((10 * rating_sum) / rating_count) / 10

/** Returns the total price of the dishes. */
export const priceOf = (lines: readonly (BasketLine | Item)[]): number =>
  lines.reduce((sum, { price, quantity }) => sum + price * quantity, 0)

/** The restaurant whose dishes are in the basket. */
export function basketRestaurant(db: FoodView, lines: readonly BasketLine[]): Restaurant | undefined {
  const first = lines[0]
  return first && db.restaurants.get(db.dishes.get(first.dish)!.restaurant)
}

/** Whether an order that was not cancelled has had the promo. */
export const isUsed = (db: FoodView, promo: string): boolean =>
  db.food_orders.by('promo', promo).some(({ cancelled_at }) => cancelled_at === null)

/** Returns the obstacle to using `promo` for dishes of `restaurant` that cost `food`, or undefined if the promo can be used. */
export function promoObstacle(
  db: FoodView,
  today: string,
  promo: Promo,
  restaurant: Restaurant,
  food: number,
): Obstacle | undefined {
  if (promo.expires < today) return { code: 'promo_expired', detail: `${promo.promo} expired on ${promo.expires}.` }
  if (promo.cuisine !== null && promo.cuisine !== restaurant.cuisine)
    return { code: 'promo_elsewhere', detail: `${promo.promo} is for ${promo.cuisine} restaurants.` }
  if (isUsed(db, promo.promo)) return { code: 'promo_used' }
  if (food < promo.minimum)
    return { code: 'promo_minimum', detail: `${promo.promo} requires dishes for ${promo.minimum}, not ${food}.` }
  return undefined
}

/**
 * Returns the obstacle to an order of dishes that cost `food`, or undefined if the order is possible. The order is delivered
 * at `time` or, without a time, as soon as possible.
 */
export function orderObstacle(
  now: string,
  restaurant: Restaurant,
  dropoff: Dropoff,
  food: number,
  time: string | undefined,
): Obstacle | undefined {
  const { name, opens, closes, minimum } = restaurant
  if (!deliversTo(restaurant, dropoff))
    return { code: 'outside_delivery_zone', detail: `${name} does not deliver to ${dropoff.address}.` }
  const current = timeOf(now)
  if (time !== undefined && minutesOf(time) < minutesOf(current) + LIMITS.scheduleAheadMinutes)
    return { code: 'too_soon', detail: `It is ${current}: ${LIMITS.scheduleAheadMinutes} minutes are needed.` }
  if (!isOpen(restaurant, time ?? current))
    return { code: 'restaurant_closed', detail: `${name} is open from ${opens} to ${closes}.` }
  if (food < minimum)
    return { code: 'below_minimum', detail: `The dishes cost ${food}, ${name} delivers from ${minimum}.` }
  return undefined
}

/** Returns the fee that a restaurant keeps when the order is cancelled in the status `status`. */
export function cancelFee(order: FoodOrder, status: OrderStatus): number {
  return status === 'accepted' ? Math.ceil(((order.food - order.discount) * LIMITS.cancelFeePercent) / 100) : 0
}

/** Returns the obstacle to a refund for any missing dish of `order`, or undefined if the order allows a refund. */
export function claimObstacle(db: FoodView, now: string, order: FoodOrder): Obstacle | undefined {
  const status = statusOf(order, now)
  if (status === 'cancelled') return { code: 'order_cancelled' }
  if (status !== 'delivered') return { code: 'not_delivered', detail: `${order.food_order} is ${status}.` }
  if (now > addMinutes(order.delivered_at, LIMITS.claimHours * 60))
    return { code: 'claim_too_late', detail: `It was delivered more than ${LIMITS.claimHours} hours ago.` }
  const since = addDays(now.slice(0, 10), -30)
  return db.claims.count(({ date }) => date > since) >= LIMITS.claimsPerMonth ? { code: 'too_many_claims' } : undefined
}

/** Portions of an item that were paid for and have not been refunded. */
export function unclaimed(db: FoodView, order: FoodOrder, { dish, quantity }: Item): number {
  const claims = db.claims.by('food_order', order.food_order).filter((row) => row.dish === dish)
  return claims.reduce<number>((left, row) => left - row.quantity, quantity)
}

/** Returns the price of some portions after the order's discount, rounded down. */
export const refundFor = ({ food, discount }: FoodOrder, { price }: Item, quantity: number): number =>
  Math.floor((price * quantity * (food - discount)) / food)

/** Returns the obstacle to rating `order`, or undefined if the order can be rated. */
export function ratingObstacle(now: string, order: FoodOrder): Obstacle | undefined {
  const status = statusOf(order, now)
  if (status === 'cancelled') return { code: 'order_cancelled' }
  if (status !== 'delivered') return { code: 'not_delivered', detail: `${order.food_order} is ${status}.` }
  if (order.stars !== null) return { code: 'already_rated', detail: `It was rated with ${order.stars} stars.` }
  if (addDays(order.delivered_at.slice(0, 10), LIMITS.ratingDays) < now.slice(0, 10))
    return { code: 'rating_too_late', detail: `It was delivered more than ${LIMITS.ratingDays} days ago.` }
  return undefined
}

/** Returns the amount that may still be added to the credit on `today`. */
export const topUpLeft = (db: FoodView, today: string): number =>
  db.top_ups.by('date', today).reduce<number>((left, { amount }) => left - amount, LIMITS.topUpPerDay)
