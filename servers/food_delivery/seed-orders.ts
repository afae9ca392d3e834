import { addDays, addMinutes, clockOf, minutesOf } from '../kernel/dates.js'
import { twoDigitNumbers } from '../kernel/key-numbers.js'
import { ascending } from '../kernel/lists.js'
import type { SeededRandom } from '../kernel/random.js'
import { deliversTo, LIMITS, priceOf, refundFor, rideMinutes, timesFrom, timesUntil } from './rules.js'
import type { Dish, Dropoff, FoodOrder, Item, Promo, Restaurant } from './schema.js'
import { COURIERS, INSTRUCTIONS } from './words.js'

interface Stock {
  readonly restaurants: readonly Restaurant[]
  readonly dishes: readonly Dish[]
  readonly dropoffs: readonly Dropoff[]
  readonly promos: readonly Promo[]
}

/** What an order is to look like at the start of a session. */
type Plan =
  | { readonly kind: 'delivered'; readonly daysAgo: number; readonly promo?: Promo; readonly claimed?: boolean }
  | { readonly kind: 'cancelled'; readonly daysAgo: number }
  /** Placed this many minutes ago, or, after that, this many minutes into cooking or riding. */
  | { readonly kind: 'placed'; readonly minutes: number }
  | { readonly kind: 'cooking'; readonly minutes: number }
  | { readonly kind: 'riding'; readonly minutes: number }
  /** To be delivered today, this many quarters of an hour after noon. */
  | { readonly kind: 'scheduled'; readonly quarters: number }

/** Some thirty orders, the oldest first: most delivered, of which some today or yesterday, some under way, some for later. */
export function seedOrders(random: SeededRandom, start: string, stock: Stock): FoodOrder[] {
  const old = Array.from({ length: 9 }, () => random.int(16, 70))
  const recent = Array.from({ length: 5 }, () => random.int(2, 12))
  const plans: Plan[] = [
    ...[...old, ...recent, 1, 1, 1, 1].map((daysAgo) => ({ kind: 'delivered', daysAgo }) as const),
    { kind: 'delivered', daysAgo: random.int(3, 30), promo: random.pick(stock.promos.filter(isForAll(start))) },
    { kind: 'delivered', daysAgo: random.int(4, 20), claimed: random.chance(0.6) },
    ...[random.int(2, 20), random.int(20, 60)].map((daysAgo) => ({ kind: 'cancelled', daysAgo }) as const),
    { kind: 'riding', minutes: random.int(1, 7) },
    { kind: 'cooking', minutes: random.int(1, 6) },
    { kind: 'placed', minutes: random.chance(0.5) ? random.int(4, 6) : random.int(0, 1) },
    ...[random.int(0, 8), random.int(24, 34)].map((quarters) => ({ kind: 'scheduled', quarters }) as const),
  ]
  const numbers = twoDigitNumbers(random, plans.length)
  return plans
    .map((plan, i) => makeOrder(random, start, stock, plan, `food-${numbers[i]}`))
    .sort(ascending('placed_at'))
}

const isForAll =
  (start: string) =>
  ({ cuisine, expires }: Promo): boolean =>
    cuisine === null && expires >= start.slice(0, 10)

function makeOrder(
  random: SeededRandom,
  start: string,
  { restaurants, dishes, dropoffs }: Stock,
  plan: Plan,
  key: string,
): FoodOrder {
  const past = plan.kind === 'delivered' || plan.kind === 'cancelled'
  const promo = plan.kind === 'delivered' ? plan.promo : undefined
  const reachable = restaurants.filter(
    (row) => (past || row.opens < '08:00') && dropoffs.some((dropoff) => deliversTo(row, dropoff)),
  )
  const restaurant = random.pick(reachable.length > 0 ? reachable : restaurants)
  const near = dropoffs.filter((dropoff) => deliversTo(restaurant, dropoff))
  const dropoff = random.pick(near.length > 0 ? near : dropoffs)
  const items = chooseItems(random, dishes, restaurant, promo?.minimum ?? 0)
  const food = priceOf(items)
  const discount = promo && food >= promo.minimum ? promo.off : 0
  const tip = random.chance(0.4) ? random.int(1, 5) : 0
  const paid = food - discount + restaurant.fee + tip
  const order: FoodOrder = {
    food_order: key,
    name: restaurant.name,
    restaurant: restaurant.restaurant,
    dropoff: dropoff.dropoff,
    items,
    food,
    discount,
    fee: restaurant.fee,
    tip,
    paid,
    refunded: 0,
    promo: discount > 0 ? promo!.promo : null,
    scheduled: plan.kind === 'scheduled',
    ...timesOf(random, start, plan, restaurant, rideMinutes(restaurant, dropoff)),
    cancelled_at: null,
    courier: random.pick(COURIERS),
    instruction: random.chance(0.3) ? random.pick(INSTRUCTIONS) : '',
    stars: null,
    rated_at: null,
  }
  return { ...order, ...afterwards(random, plan, order) }
}

function chooseItems(random: SeededRandom, dishes: readonly Dish[], kitchen: Restaurant, least: number): Item[] {
  const { restaurant, minimum } = kitchen
  const menu = dishes.filter((dish) => dish.restaurant === restaurant)
  const items: Item[] = []
  for (const { dish, name, price, options } of random.sample(menu, LIMITS.basketDishes)) {
    const chosen = options.length > 0 ? random.pick(options) : undefined
    items.push({
      dish,
      name,
      quantity: random.int(1, 3),
      option: chosen?.option ?? null,
      price: price + (chosen?.extra ?? 0),
    })
    if (priceOf(items) >= Math.max(minimum, least) && random.chance(0.6)) break
  }
  return items
}

type Times = Pick<FoodOrder, 'placed_at' | 'accepted_at' | 'cooking_at' | 'leaves_at' | 'delivered_at'>

function timesOf(random: SeededRandom, start: string, plan: Plan, kitchen: Restaurant, ride: number): Times {
  const { cook_minutes: cook, opens } = kitchen
  const from = (placed_at: string): Times => ({ placed_at, ...timesFrom(placed_at, cook, ride) })
  const today = start.slice(0, 10)
  if (plan.kind === 'scheduled') {
    const arrives = `${today}T${clockOf(12 * 60 + 15 * plan.quarters)}:00Z`
    return { placed_at: addMinutes(start, -random.int(10, 80)), ...timesUntil(arrives, cook, ride) }
  }
  if (plan.kind === 'placed') return from(addMinutes(start, -plan.minutes))
  if (plan.kind === 'cooking') return from(addMinutes(start, -LIMITS.cookingAfterMinutes - plan.minutes))
  if (plan.kind === 'riding') return from(addMinutes(start, -LIMITS.cookingAfterMinutes - cook - plan.minutes))
  const time = clockOf(minutesOf(opens) + random.int(5, 250))
  return from(`${addDays(today, -plan.daysAgo)}T${time}:00Z`)
}

/** What has become of an order since: cancelled, rated, or refunded in part. */
function afterwards(random: SeededRandom, plan: Plan, order: FoodOrder): Partial<FoodOrder> {
  if (plan.kind === 'cancelled') return { cancelled_at: addMinutes(order.placed_at, 1), refunded: order.paid }
  if (plan.kind !== 'delivered' || plan.daysAgo === 1) return {}
  if (plan.claimed) return { refunded: refundFor(order, order.items[0]!, 1) }
  const stars = plan.daysAgo <= LIMITS.ratingDays ? random.chance(0.3) : random.chance(0.7)
  return stars ? { stars: random.int(2, 5), rated_at: addMinutes(order.delivered_at, random.int(20, 300)) } : {}
}
