import type { Invariant } from '../kernel/define-environment.js'
import { isUsed, LIMITS, priceOf } from './rules.js'
import type { FoodOrder, FoodTables, FoodView } from './schema.js'

type FoodInvariant = Invariant<FoodTables>

const creditIsConserved: FoodInvariant = {
  name: 'the credit has moved by exactly what was added, paid and refunded',
  check(now, seed) {
    const flow = (db: FoodView) =>
      db.food_orders.list().reduce((sum, { paid, refunded }) => sum - paid + refunded, 0) +
      db.top_ups.list().reduce((sum, { amount }) => sum + amount, 0)
    const before = seed.customers.get('me')!.credit
    const { credit } = now.customers.get('me')!
    const due = before + flow(now) - flow(seed)
    return credit === due ? undefined : `the credit is ${credit} instead of ${due}`
  },
}

const ordersAddUp: FoodInvariant = {
  name: 'every order was paid for in full, and no more came back than was paid',
  check(now) {
    const wrong = now.food_orders.find(
      (order) =>
        order.food !== priceOf(order.items) ||
        order.paid !== order.food - order.discount + order.fee + order.tip ||
        order.refunded > order.paid ||
        (order.cancelled_at === null &&
          order.refunded !==
            now.claims.by('food_order', order.food_order).reduce((sum, { refund }) => sum + refund, 0)),
    )
    return wrong && `${wrong.food_order}: paid ${wrong.paid}, refunded ${wrong.refunded}`
  },
}

/** Portions of each dish in orders of this session that were not cancelled. */
function soldSince(now: FoodView, seed: FoodView): Map<string, number> {
  const sold = new Map<string, number>()
  const count = (order: FoodOrder, sign: 1 | -1) => {
    for (const { dish, quantity } of order.items) sold.set(dish, (sold.get(dish) ?? 0) + sign * quantity)
  }
  for (const order of now.food_orders.list()) {
    const before = seed.food_orders.get(order.food_order)
    if (!before && order.cancelled_at === null) count(order, 1)
    if (before && before.cancelled_at === null && order.cancelled_at !== null) count(order, -1)
  }
  return sold
}

const portionsAreConserved: FoodInvariant = {
  name: 'portions are gone from the kitchen exactly when they are in an order that stands',
  check(now, seed) {
    const sold = soldSince(now, seed)
    const wrong = now.dishes.find(({ dish, left }) => left !== seed.dishes.get(dish)!.left - (sold.get(dish) ?? 0))
    return wrong && `${wrong.dish} has ${wrong.left} left`
  },
}

const basketIsSound: FoodInvariant = {
  name: 'the basket holds few dishes, of one restaurant, and no more portions than there are',
  check(now) {
    const lines = now.basket.list()
    if (lines.length > LIMITS.basketDishes) return `${lines.length} dishes`
    if (new Set(lines.map(({ dish }) => now.dishes.get(dish)?.restaurant)).size > 1) return 'two restaurants'
    const wrong = lines.find(({ dish, quantity }) => quantity > now.dishes.get(dish)!.left)
    if (wrong) return `${wrong.quantity} of ${wrong.dish}`
    return lines.length === 0 && now.customers.get('me')!.promo !== null ? 'an empty basket has a promo' : undefined
  },
}

const promosAreUsedOnce: FoodInvariant = {
  name: 'a promo is used by one standing order at most, not beyond its terms and never for one in the basket',
  check(now) {
    for (const { promo, minimum, expires } of now.promos.list()) {
      const users = now.food_orders.by('promo', promo).filter(({ cancelled_at }) => cancelled_at === null)
      if (users.length > 1) return `${promo} was used ${users.length} times`
      const bad = users.find(({ food, placed_at }) => food < minimum || placed_at.slice(0, 10) > expires)
      if (bad) return `${bad.food_order} used ${promo}`
    }
    const { promo } = now.customers.get('me')!
    return promo !== null && isUsed(now, promo) ? `${promo} is in the basket and used` : undefined
  },
}

const livesAreOrdered: FoodInvariant = {
  name: 'orders go through their life in order: cancelled before cooking, rated after delivery, never changed otherwise',
  check(now, seed) {
    const wrong = now.food_orders.find((order) => {
      const { placed_at, accepted_at, cooking_at, leaves_at, delivered_at, cancelled_at, rated_at } = order
      const before = seed.food_orders.get(order.food_order)
      return (
        !(placed_at < accepted_at && accepted_at < cooking_at && cooking_at < leaves_at && leaves_at < delivered_at) ||
        (cancelled_at !== null && (cancelled_at >= cooking_at || rated_at !== null)) ||
        (rated_at !== null && rated_at < delivered_at) ||
        (rated_at === null) !== (order.stars === null) ||
        (before !== undefined && (before.delivered_at !== delivered_at || before.paid !== order.paid)) ||
        (before?.stars !== null && before?.stars !== undefined && before.stars !== order.stars)
      )
    })
    return wrong?.food_order
  },
}

const ratingsAreCounted: FoodInvariant = {
  name: 'the ratings of a restaurant have moved by exactly the stars given',
  check(now, seed) {
    const given = (db: FoodView, restaurant: string) =>
      db.food_orders.by('restaurant', restaurant).flatMap(({ stars }) => (stars === null ? [] : [stars]))
    const wrong = now.restaurants.find(({ restaurant, rating_sum, rating_count }) => {
      const before = seed.restaurants.get(restaurant)!
      const [stars, earlier] = [given(now, restaurant), given(seed, restaurant)]
      const sum = (list: number[]) => list.reduce((total, one) => total + one, 0)
      return (
        rating_count - before.rating_count !== stars.length - earlier.length ||
        rating_sum - before.rating_sum !== sum(stars) - sum(earlier)
      )
    })
    return wrong?.restaurant
  },
}

const quotasHold: FoodInvariant = {
  name: 'missing dishes are refunded at most once per portion, and credit is not added beyond the daily limit',
  check(now) {
    for (const { food_order, items } of now.food_orders.list()) {
      const claims = now.claims.by('food_order', food_order)
      for (const { dish, quantity } of items) {
        const claimed = claims.reduce((sum, row) => sum + (row.dish === dish ? row.quantity : 0), 0)
        if (claimed > quantity) return `${claimed} of ${quantity} ${dish} in ${food_order}`
      }
    }
    const days = new Map<string, number>()
    for (const { date, amount } of now.top_ups.list()) days.set(date, (days.get(date) ?? 0) + amount)
    for (const [date, sum] of days) if (sum > LIMITS.topUpPerDay) return `${sum} was added on ${date}`
    return undefined
  },
}

const referencesResolve: FoodInvariant = {
  name: 'every restaurant, dish, drop-off and promo that is referred to exists',
  check(now) {
    const order = now.food_orders.find(
      ({ restaurant, dropoff, promo, items }) =>
        !now.restaurants.has(restaurant) ||
        !now.dropoffs.has(dropoff) ||
        (promo !== null && !now.promos.has(promo)) ||
        items.some(({ dish }) => now.dishes.get(dish)?.restaurant !== restaurant),
    )
    if (order) return order.food_order
    const dish = now.dishes.find(({ restaurant }) => !now.restaurants.has(restaurant))
    return dish?.dish ?? now.claims.find(({ food_order }) => !now.food_orders.has(food_order))?.claim
  },
}

export const foodInvariants = [
  creditIsConserved,
  ordersAddUp,
  portionsAreConserved,
  basketIsSound,
  promosAreUsedOnce,
  livesAreOrdered,
  ratingsAreCounted,
  quotasHold,
  referencesResolve,
]
