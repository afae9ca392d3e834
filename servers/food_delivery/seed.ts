import { addDays, clockOf } from '../kernel/dates.js'
import type { SeedContext, SeedRows } from '../kernel/define-environment.js'
import { addressIn, CITIES } from '../kernel/gazetteer.js'
import { twoDigitNumbers } from '../kernel/key-numbers.js'
import type { SeededRandom } from '../kernel/random.js'
import { slug } from '../kernel/text.js'
import { deliversTo, locate } from './rules.js'
import {
  type BasketLine,
  CUISINES,
  type Dish,
  type Dropoff,
  type FoodOrder,
  type FoodTables,
  type Promo,
  type Restaurant,
  ZONES,
} from './schema.js'
import { seedOrders } from './seed-orders.js'
import * as words from './words.js'

/** Of each cuisine in the customer's own city; a second city has one of each. */
const RESTAURANTS = 5

/** Two cities' restaurants with their menus, and a customer with drop-offs, credit, promos, past orders and some under way. */
export function seedFoodDelivery({ random, start, home: { city: home } }: SeedContext): SeedRows<FoodTables> {
  const today = start.slice(0, 10)
  const away = random.pick(CITIES.filter(({ city }) => city !== home)).city
  const restaurants = seedRestaurants(random, home, away)
  const numbers = twoDigitNumbers(random, restaurants.length)
  const dishes = restaurants.flatMap((restaurant, i) => seedMenu(random, restaurant, numbers[i]!))
  const dropoffs = seedDropoffs(random, home, away)
  const promos = seedPromos(random, today)
  const orders = seedOrders(random, start, {
    restaurants: restaurants.filter(({ city }) => city === home),
    dishes,
    dropoffs: dropoffs.filter(({ city }) => city === home),
    promos,
  })
  return {
    restaurants,
    dishes,
    basket: seedBasket(random, restaurants, dishes, dropoffs[0]!),
    promos,
    dropoffs,
    food_orders: orders,
    claims: seedClaims(random, orders),
    top_ups: [],
    customers: [{ customer: 'me', credit: random.int(8, 110), promo: null }],
  }
}

function seedRestaurants(random: SeededRandom, home: string, away: string): Restaurant[] {
  return CUISINES.flatMap((cuisine) => {
    // Three first words for six restaurants: every name has a near-miss.
    const heads = random.sample(words.RESTAURANT_HEADS[cuisine], (RESTAURANTS + 1) / 2)
    const names = random.shuffle(
      heads.flatMap((head) => random.sample(words.RESTAURANT_TAILS, 2).map((tail) => `${head} ${tail}`)),
    )
    return names.map((name, place): Restaurant => {
      const zone = random.pick(ZONES)
      const [opens, closes] = openingHours(random, place)
      const ratings = random.int(12, 90)
      return {
        restaurant: slug(name),
        name,
        cuisine,
        city: place < RESTAURANTS ? home : away,
        zone,
        zones: ZONES.filter((other) => other === zone || random.chance(0.3)),
        opens: clockOf(opens),
        closes: clockOf(closes),
        minimum: random.int(8, 22),
        fee: random.int(1, 5),
        cook_minutes: random.int(8, 25),
        rating_sum: Math.round((ratings * random.int(31, 48)) / 10),
        rating_count: ratings,
      }
    })
  })
}

/** Minutes after midnight. Sessions begin at 09:00: three of five kitchens are open by then, one opens at noon, one in the evening. */
function openingHours(random: SeededRandom, place: number): [opens: number, closes: number] {
  if (place === 3) return [random.int(22, 24) * 30, random.int(43, 46) * 30]
  if (place === 4) return [random.int(33, 36) * 30, random.int(45, 47) * 30]
  return [random.int(13, 15) * 30, random.int(40, 45) * 30]
}

/** The dishes of a restaurant share a number: `pad-thai-31` is what restaurant 31 makes of Pad Thai. */
function seedMenu(random: SeededRandom, { restaurant, cuisine }: Restaurant, number: number): Dish[] {
  const recipes = random.sample(words.RECIPES[cuisine], random.int(5, 7))
  return recipes.map(({ name, price, allergens, options }, place) => ({
    dish: `${slug(name)}-${number}`,
    name,
    restaurant,
    price: Math.max(3, price + random.int(-2, 3)),
    options: [...options],
    allergens: [...allergens],
    // One dish of each menu is sold out, and another nearly.
    left: place === 0 ? 0 : place === 1 ? random.int(1, 3) : random.int(5, 40),
  }))
}

function seedDropoffs(random: SeededRandom, home: string, away: string): Dropoff[] {
  const place = (name: string, inCity: string): Dropoff => {
    const { address, city, zone } = locate(addressIn(random, inCity))!
    return { dropoff: slug(name), name, address, city, zone }
  }
  const [first, ...others] = words.HOME_DROPOFFS
  return [
    ...[first!, ...random.sample(others, 3)].map((name) => place(name, home)),
    ...random.sample(words.AWAY_DROPOFFS, 2).map((name) => place(name, away)),
  ]
}

/** One promo for each of four cuisines and four for all, of which one of each has expired. */
function seedPromos(random: SeededRandom, today: string): Promo[] {
  const cuisines = random.sample(CUISINES, 4).map((cuisine) => ({ cuisine, word: words.CUISINE_PROMOS[cuisine] }))
  const general = random.sample(words.ANY_PROMOS, 4).map((word) => ({ cuisine: null, word }))
  return [...cuisines, ...general].map(({ cuisine, word }, i) => {
    const off = random.int(2, 8)
    return {
      promo: `${word}-${off}`,
      cuisine,
      off,
      minimum: 3 * off + random.int(0, 6),
      expires: addDays(today, i % 4 === 3 ? -random.int(1, 20) : random.int(0, 40)),
    }
  })
}

/** Every other environment begins with something in the basket, from a kitchen that is open and delivers home. */
function seedBasket(
  random: SeededRandom,
  restaurants: readonly Restaurant[],
  dishes: readonly Dish[],
  home: Dropoff,
): BasketLine[] {
  const fitting = restaurants.filter((row) => deliversTo(row, home) && row.opens < '09:00')
  if (fitting.length === 0 || random.chance(0.5)) return []
  const { restaurant } = random.pick(fitting)
  const ready = dishes.filter((dish) => dish.restaurant === restaurant && dish.left >= 3)
  return random.sample(ready, random.int(1, 2)).map(({ dish, price, options }) => {
    const chosen = options.length > 0 ? random.pick(options) : undefined
    return {
      dish,
      quantity: random.int(1, 2),
      option: chosen?.option ?? null,
      price: price + (chosen?.extra ?? 0),
    }
  })
}

/** The claim behind each refund for a missing dish. */
function seedClaims(random: SeededRandom, orders: readonly FoodOrder[]): SeedRows<FoodTables>['claims'] {
  return orders
    .filter(({ refunded, cancelled_at }) => refunded > 0 && cancelled_at === null)
    .map((order) => ({
      claim: `claim-${random.int(10, 99)}`,
      food_order: order.food_order,
      dish: order.items[0]!.dish,
      quantity: 1,
      refund: order.refunded,
      date: order.delivered_at.slice(0, 10),
    }))
}
