import { z } from 'zod'
import { choose, pickFrom } from '../../kernel/choose.js'
import { ref } from '../../kernel/fields.js'
import { basketRestaurant, isUsed, LIMITS, priceOf, promoObstacle } from '../rules.js'
import { type BasketLine, type Dish, type FoodView, type Obstacle, type Promo, tool } from '../schema.js'

/** Portions in one call. */
const MOST = 9
/** Portions of one dish that people order of their own accord. */
const FEW = 3
/** Promos that the basket suggests. */
const SHOWN_PROMOS = 2

/** What stands against putting `quantity` more portions of `dish` into the basket, whatever the option, if anything. */
function basketObstacle(db: FoodView, dish: Dish, quantity: number): Obstacle | undefined {
  const lines = db.basket.list()
  const restaurant = basketRestaurant(db, lines)
  if (restaurant && restaurant.restaurant !== dish.restaurant)
    return { code: 'other_restaurant', detail: `The basket holds dishes of ${restaurant.name}: empty it first.` }
  const held = db.basket.get(dish.dish)?.quantity ?? 0
  if (held + quantity > dish.left)
    return {
      code: 'sold_out',
      detail: `${dish.left > held ? `Only ${dish.left - held}` : 'No'} more portions of ${dish.name} can be had.`,
    }
  if (held === 0 && lines.length >= LIMITS.basketDishes)
    return { code: 'basket_full', detail: `The basket holds ${LIMITS.basketDishes} different dishes.` }
  return undefined
}

const addDishToBasket = tool({
  name: 'add_dish_to_basket',
  description: `Put portions of a dish into the basket. The basket holds up to ${LIMITS.basketDishes} different dishes of one restaurant; a dish with options needs one of them.`,
  input: z.strictObject({
    dish: ref('dish'),
    quantity: z.int().min(1).max(MOST).describe('Portions.'),
    option: z.string().trim().min(2).max(20).optional().describe('One of the options of the dish, such as "large".'),
  }),
  output: z.object({
    name: z.string(),
    dish: ref('dish'),
    quantity: z.int().describe('Portions in the basket now.'),
    food: z.int().describe('Price of all dishes in the basket.'),
    minimum: z.int().describe('Minimum order of the restaurant.'),
  }),
  annotations: { readOnly: false },
  establishes: ['basket_filled'],
  needs: ['basket_emptied'],
  sample({ db, random, bound }) {
    const least = bound.quantity ?? 1
    const lines = db.basket.list()
    const kitchen = basketRestaurant(db, lines)
    const fits = (row: Dish): boolean => basketObstacle(db, row, least) === undefined
    let dish: Dish | undefined
    if (bound.dish === undefined) {
      const from = kitchen ?? random.pick(db.restaurants.list())
      const fitting = db.dishes.by('restaurant', from.restaurant).filter(fits)
      // A dish of which a reasonable number makes the order large enough, rather than six starters.
      const filling = fitting.filter(({ price }) => price * FEW >= from.minimum - priceOf(lines))
      dish = pickFrom(random, filling) ?? pickFrom(random, fitting)
    } else dish = choose(db.dishes, random, bound.dish, fits)
    if (!dish) return null
    const held = db.basket.get(dish.dish)
    const most = Math.min(5, dish.left - (held?.quantity ?? 0))
    // Enough for the restaurant to deliver, if that is within reason.
    const missing = db.restaurants.get(dish.restaurant)!.minimum - priceOf(lines)
    const wanted = Math.max(Math.ceil(missing / dish.price), held ? 1 : random.int(1, FEW))
    const option =
      bound.option ?? (dish.options.length === 0 ? undefined : (held?.option ?? random.pick(dish.options).option))
    return {
      dish: dish.dish,
      quantity: bound.quantity ?? Math.min(most, wanted),
      ...(option === undefined ? {} : { option }),
    }
  },
  run({ dish, quantity, option }, { rowOf, unless, db, fail }) {
    const row = rowOf('dishes', dish)
    const choices = row.options.map((choice) => choice.option).join(', ')
    const chosen = row.options.find((choice) => choice.option === option?.toLowerCase())
    if (option !== undefined && !chosen)
      fail('unknown_option', `${row.name} has ${choices === '' ? 'no options' : `the options ${choices}`}.`)
    if (!chosen && row.options.length > 0) fail('option_required', `Choose one of ${choices} for ${row.name}.`)
    unless(basketObstacle(db, row, quantity))
    const held = db.basket.get(dish)
    if (held && held.option !== (chosen?.option ?? null))
      fail('other_option', `${row.name} is in the basket as ${held.option}.`)
    const line: BasketLine = held
      ? db.basket.update(dish, { quantity: held.quantity + quantity })
      : db.basket.insert({ dish, quantity, option: chosen?.option ?? null, price: row.price + (chosen?.extra ?? 0) })
    const { minimum } = db.restaurants.get(row.restaurant)!
    return { name: row.name, dish, quantity: line.quantity, food: priceOf(db.basket.list()), minimum }
  },
})

const showBasket = tool({
  name: 'show_basket',
  description:
    'Show what is in the basket, what it would cost with delivery, the credit, and promos the restaurant takes.',
  input: z.strictObject({}),
  output: z.object({
    name: z.string().optional().describe('The restaurant.'),
    dishes: z.array(z.object({ name: z.string(), dish: ref('dish'), quantity: z.int() })),
    food: z.int(),
    discount: z.int(),
    total: z.int(),
    credit: z.int(),
    promos: z.array(z.object({ promo: ref('promo'), off: z.int(), minimum: z.int() })),
  }),
  annotations: { readOnly: true },
  sample: () => ({}),
  run(_, { db, today }) {
    const { credit, promo } = db.customers.get('me')!
    const lines = db.basket.list()
    const restaurant = basketRestaurant(db, lines)
    if (!restaurant) return { dishes: [], food: 0, discount: 0, total: 0, credit, promos: [] }
    const food = priceOf(lines)
    const discount = promo === null ? 0 : db.promos.get(promo)!.off
    const date = today()
    const promos: Promo[] = []
    for (const row of promo === null ? db.promos.list() : [db.promos.get(promo)!]) {
      if (promos.length === SHOWN_PROMOS) break
      const isTaken = row.cuisine === null || row.cuisine === restaurant.cuisine
      if (isTaken && row.expires >= date && !isUsed(db, row.promo)) promos.push(row)
    }
    return {
      name: restaurant.name,
      dishes: lines.map(({ dish, quantity }) => ({ name: db.dishes.get(dish)!.name, dish, quantity })),
      food,
      discount,
      total: food - discount + restaurant.fee,
      credit,
      promos,
    }
  },
})

const emptyBasket = tool({
  name: 'empty_basket',
  description:
    'Take everything out of the basket, its promo included, so that it can hold dishes of another restaurant.',
  input: z.strictObject({}),
  output: z.object({ removed: z.int().describe('Different dishes taken out.'), status: z.string() }),
  annotations: { readOnly: false, destructive: true },
  establishes: ['basket_emptied'],
  needs: ['basket_filled'],
  sample: ({ db }) => (db.basket.list().length > 0 ? {} : null),
  run(_, { db, fail }) {
    const lines = db.basket.list()
    if (lines.length === 0) fail('basket_empty')
    for (const { dish } of lines) db.basket.remove(dish)
    db.customers.update('me', { promo: null })
    return { removed: lines.length, status: 'empty' }
  },
})

const applyPromo = tool({
  name: 'apply_promo',
  description:
    'Apply a promo code to the basket. Each promo has an expiry date and a minimum price of the dishes, some are for one cuisine, and each is used once.',
  input: z.strictObject({ promo: ref('promo', 'The code, such as "spring-5".') }),
  output: z.object({ promo: ref('promo'), discount: z.int(), food: z.int() }),
  annotations: { readOnly: false },
  needs: ['basket_filled'],
  sample({ db, random, bound, today }) {
    const lines = db.basket.list()
    const restaurant = basketRestaurant(db, lines)
    if (!restaurant || db.customers.get('me')!.promo !== null) return null
    const food = priceOf(lines)
    const promo = choose(
      db.promos,
      random,
      bound.promo,
      (row) => promoObstacle(db, today(), row, restaurant, food) === undefined,
    )
    return promo ? { promo: promo.promo } : null
  },
  run({ promo }, { rowOf, unless, db, fail, today }) {
    const row = rowOf('promos', promo.toLowerCase())
    const lines = db.basket.list()
    const restaurant = basketRestaurant(db, lines) ?? fail('basket_empty')
    const applied = db.customers.get('me')!.promo
    if (applied !== null) fail('promo_applied', `The basket has ${applied} already.`)
    const food = priceOf(lines)
    unless(promoObstacle(db, today(), row, restaurant, food))
    db.customers.update('me', { promo: row.promo })
    return { promo: row.promo, discount: row.off, food }
  },
})

export const basketTools = [addDishToBasket, showBasket, emptyBasket, applyPromo]
