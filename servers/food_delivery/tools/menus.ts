import { z } from 'zod'
import { choose } from '../../kernel/choose.js'
import { ref } from '../../kernel/fields.js'
import { ascending } from '../../kernel/lists.js'
import { mentions } from '../../kernel/text.js'
import { deliversTo, ratingOf } from '../rules.js'
import { ALLERGENS, CUISINES, type FoodView, type Restaurant, tool } from '../schema.js'

const serves = (db: FoodView, { restaurant }: Restaurant, dish: string): boolean =>
  db.dishes.by('restaurant', restaurant).some(({ name }) => mentions(name, dish))

const findRestaurants = tool({
  name: 'find_restaurants',
  description:
    'Find the restaurants of a cuisine that deliver to a drop-off, the best rated first, with opening hours and minimum order.',
  input: z.strictObject({
    cuisine: z.enum(CUISINES).describe('Kind of kitchen.'),
    dropoff: ref('dropoff'),
    serving: z.string().trim().min(2).max(40).optional().describe('Name of a dish on the menu, or part of it.'),
  }),
  output: z.object({
    found: z.int(),
    restaurants: z.array(
      z.object({
        name: z.string(),
        restaurant: ref('restaurant'),
        hours: z.string(),
        minimum: z.int(),
        rating: z.number(),
      }),
    ),
  }),
  pages: { restaurants: 'long' },
  annotations: { readOnly: true },
  sample({ db, random, bound }) {
    const dropoff = choose(db.dropoffs, random, bound.dropoff)
    if (!dropoff) return null
    const near = db.restaurants.by('city', dropoff.city).filter((row) => deliversTo(row, dropoff))
    const fitting = bound.cuisine === undefined ? near : near.filter(({ cuisine }) => cuisine === bound.cuisine)
    if (fitting.length === 0) return null
    const { cuisine, restaurant } = random.pick(fitting)
    const serving = random.chance(0.3) ? random.pick(db.dishes.by('restaurant', restaurant)).name : undefined
    return { cuisine, dropoff: dropoff.dropoff, ...(serving === undefined ? {} : { serving }), ...bound }
  },
  run({ cuisine, dropoff, serving }, { rowOf, db }) {
    const to = rowOf('dropoffs', dropoff)
    const restaurants = db.restaurants
      .by('cuisine', cuisine)
      .filter((row) => deliversTo(row, to) && (serving === undefined || serves(db, row, serving)))
      .sort((a, b) => ratingOf(b) - ratingOf(a))
    return {
      found: restaurants.length,
      restaurants: restaurants.map((row) => ({
        name: row.name,
        restaurant: row.restaurant,
        hours: `${row.opens}-${row.closes}`,
        minimum: row.minimum,
        rating: ratingOf(row),
      })),
    }
  },
})

const showMenu = tool({
  name: 'show_menu',
  description: 'Show the dishes a restaurant can make now, the cheapest first; sold-out dishes are left out.',
  input: z.strictObject({
    restaurant: ref('restaurant'),
    without: z.enum(ALLERGENS).optional().describe('Leave out dishes that contain this.'),
  }),
  output: z.object({
    name: z.string(),
    restaurant: ref('restaurant'),
    found: z.int(),
    dishes: z.array(z.object({ name: z.string(), dish: ref('dish'), price: z.int() })),
  }),
  pages: { dishes: 'short' },
  annotations: { readOnly: true },
  sample({ db, random, bound }) {
    const restaurant = choose(db.restaurants, random, bound.restaurant)
    if (!restaurant) return null
    const without = bound.without ?? (random.chance(0.3) ? random.pick(ALLERGENS) : undefined)
    return { restaurant: restaurant.restaurant, ...(without === undefined ? {} : { without }) }
  },
  run({ restaurant, without }, context) {
    const { name } = context.rowOf('restaurants', restaurant)
    const dishes = context.db.dishes
      .by('restaurant', restaurant)
      .filter(({ left, allergens }) => left > 0 && (without === undefined || !allergens.includes(without)))
      .sort(ascending('price'))
    return { name, restaurant, found: dishes.length, dishes }
  },
})

const showDish = tool({
  name: 'show_dish',
  description:
    'Show the price, the options (one must be chosen if there are any), the allergens and the portions left of a dish.',
  input: z.strictObject({ dish: ref('dish') }),
  output: z.object({
    name: z.string(),
    dish: ref('dish'),
    restaurant: ref('restaurant'),
    price: z.int(),
    options: z.array(z.object({ option: z.string(), extra: z.int() })),
    allergens: z.string(),
    left: z.int(),
  }),
  annotations: { readOnly: true },
  sample({ db, random, bound }) {
    const dish = choose(db.dishes, random, bound.dish)
    return dish ? { dish: dish.dish } : null
  },
  run({ dish }, context) {
    const row = context.rowOf('dishes', dish)
    return { ...row, options: [...row.options], allergens: row.allergens.join(', ') || 'none' }
  },
})

export const menuTools = [findRestaurants, showMenu, showDish]
