import { defineEnvironment } from '../kernel/define-environment.js'
import { domainRules } from './domain-rules.js'
import { foodInvariants } from './invariants.js'
import { failures, tables } from './schema.js'
import { seedFoodDelivery } from './seed.js'
import { afterDeliveryTools } from './tools/after-delivery.js'
import { basketTools } from './tools/basket.js'
import { checkoutTools } from './tools/checkout.js'
import { menuTools } from './tools/menus.js'
import { orderTools } from './tools/orders.js'

/** Meals from restaurants with hours, zones and minimums: one basket, promos, credit, and orders that live by the clock. */
export const foodDelivery = defineEnvironment({
  name: 'food_delivery',
  title: 'Food delivery',
  description: 'Restaurants, their menus, a basket, promos, and food orders from placing to delivery and after.',
  tables,
  entities: {
    restaurant: { noun: 'restaurant', table: 'restaurants', label: 'name', compared: { rating: 'highest' } },
    dish: { noun: 'dish', table: 'dishes', label: 'name', compared: { price: 'lowest' } },
    promo: { noun: 'promo', table: 'promos', sayable: true },
    dropoff: { noun: 'drop-off', table: 'dropoffs', label: 'name' },
    food_order: { noun: 'order', table: 'food_orders', label: 'name', compared: { date: 'either' } },
  },
  failures,
  tools: [...menuTools, ...basketTools, ...checkoutTools, ...orderTools, ...afterDeliveryTools],
  invariants: foodInvariants,
  domainRules,
  seed: seedFoodDelivery,
})
