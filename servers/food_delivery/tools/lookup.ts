import type { Context, Dish, Dropoff, FoodOrder, Restaurant } from '../schema.js'

type Reader = Pick<Context, 'db' | 'fail'>

export function restaurantOf({ db, fail }: Reader, key: string): Restaurant {
  return db.restaurants.get(key) ?? fail('unknown_restaurant', `There is no restaurant ${key}.`)
}

export function dishOf({ db, fail }: Reader, key: string): Dish {
  return db.dishes.get(key) ?? fail('unknown_dish', `There is no dish ${key}.`)
}

export function dropoffOf({ db, fail }: Reader, key: string): Dropoff {
  return db.dropoffs.get(key) ?? fail('unknown_dropoff', `There is no drop-off ${key}.`)
}

export function orderOf({ db, fail }: Reader, key: string): FoodOrder {
  return db.food_orders.get(key) ?? fail('unknown_food_order', `There is no food order ${key}.`)
}

/** Entries that a list shows at most. */
export const SHOWN = 5
