import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { foodDelivery } from '../../../servers/food_delivery/index.js'
import { deliversTo, LIMITS, locate, priceOf, statusOf, zoneOf } from '../../../servers/food_delivery/rules.js'
import type { Dish, FoodOrder, FoodView, Restaurant } from '../../../servers/food_delivery/schema.js'
import { generateSeedState, Session } from '../../../servers/kernel/session.js'
import { streetsOf } from '../../../servers/kernel/streets.js'
import { mentions } from '../../../servers/kernel/text.js'
import { checkEnvironmentContract } from '../../support/environment-contract.js'
import { type Call, succeed } from '../../support/session-calls.js'

const view = (session: Session) => session.db as unknown as FoodView
const open = (seed: number) => Session.open(generateSeedState(foodDelivery, seed))

const refuse = (session: Session, [tool, args]: Call): string => {
  const result = session.call(tool, args)
  return result.ok ? 'succeeded' : result.code
}

/** Lets minutes pass: any call that writes takes one. */
function wait(session: Session, minutes: number): void {
  for (let i = 0; i < minutes; i++) {
    succeed(session, 'instruct_courier', {
      food_order: anOrder(session, 'scheduled').food_order,
      instruction: `wait ${i}`,
    })
  }
}

const anOrder = (session: Session, status: string, fits: (row: FoodOrder) => boolean = () => true): FoodOrder =>
  view(session).food_orders.find((row) => statusOf(row, session.now()) === status && fits(row))!

const credit = (session: Session): number => view(session).customers.get('me')!.credit

/** A kitchen that is open at nine and delivers home. */
const kitchen = (session: Session, fits: (row: Restaurant) => boolean = () => true): Restaurant => {
  const home = view(session).dropoffs.get('home')!
  return view(session).restaurants.find((row) => row.opens < '08:00' && deliversTo(row, home) && fits(row))!
}

const menu = (session: Session, { restaurant }: Restaurant, fits: (row: Dish) => boolean = () => true): Dish[] =>
  view(session).dishes.by('restaurant', restaurant).filter(fits)

const put = ({ dish, options }: Dish, quantity: number): Call => [
  'add_dish_to_basket',
  { dish, quantity, ...(options[0] ? { option: options[0].option } : {}) },
]

function clear(session: Session): void {
  session.call('empty_basket', {})
}

/** Fills an empty basket until its dishes cost at least `least`. Returns the restaurant. */
function fill(session: Session, from = kitchen(session), least = from.minimum): Restaurant {
  clear(session)
  const plenty = menu(session, from, ({ left }) => left >= 5)
  for (const dish of plenty) {
    const missing = least - priceOf(view(session).basket.list())
    if (missing > 0) succeed(session, ...put(dish, Math.min(5, Math.ceil(missing / dish.price))))
  }
  return from
}

const order: Call = ['place_food_order', { dropoff: 'home' }]
const delivered = (session: Session, from: string, fits: (row: FoodOrder) => boolean = () => true): FoodOrder =>
  anOrder(session, 'delivered', (row) => row.delivered_at >= from && fits(row))
const YESTERDAY = '2026-03-01T00:00:00Z'
const report = ({ food_order, items }: FoodOrder, quantity = 1, dish_name = items[0]!.name): Call => [
  'report_missing_dish',
  { food_order, dish_name, quantity },
]
const rate = ({ food_order }: FoodOrder): Call => ['rate_food_order', { food_order, stars: 4 }]
const cancel = ({ food_order }: FoodOrder): Call => ['cancel_food_order', { food_order }]

/** A promo of the seed for all restaurants, in date or not. */
const general = (session: Session, isValid: boolean): string =>
  view(session).promos.find(
    ({ promo, cuisine, expires }) =>
      cuisine === null &&
      expires >= '2026-03-02' === isValid &&
      (!isValid || view(session).food_orders.by('promo', promo).length === 0),
  )!.promo
const redeem = (promo: string): Call => ['apply_promo', { promo }]

checkEnvironmentContract(foodDelivery, {
  provoke: {
    unknown_restaurant: () => ['show_menu', { restaurant: 'cafe-nowhere' }],
    unknown_dish: () => ['show_dish', { dish: 'stone-soup-5' }],
    unknown_promo: () => redeem('free-lunch-99'),
    unknown_dropoff: () => ['find_restaurants', { cuisine: 'thai', dropoff: 'moon' }],
    unknown_food_order: () => ['track_food_order', { food_order: 'food-7' }],
    unknown_address: () => ['add_dropoff', { name: 'Castle', address: '900 Rua do Moinho, Lisbon' }],
    dropoff_exists: () => ['add_dropoff', { name: 'HOME', address: '12 Rua do Moinho, Lisbon' }],
    too_many_dropoffs: (s) => {
      const add = (name: string): Call => ['add_dropoff', { name, address: '12 Rua do Moinho, Lisbon' }]
      while (view(s).dropoffs.count() < LIMITS.dropoffs) succeed(s, ...add(`Place ${view(s).dropoffs.count()}`))
      return add('One Too Many')
    },
    sold_out: (s) => {
      clear(s)
      return put(menu(s, kitchen(s), ({ left }) => left === 0)[0]!, 1)
    },
    option_required: (s) => {
      clear(s)
      const { dish } = view(s).dishes.find(({ left, options }) => left > 0 && options.length > 0)!
      return ['add_dish_to_basket', { dish, quantity: 1 }]
    },
    unknown_option: (s) => {
      clear(s)
      const { dish } = view(s).dishes.find(({ left, options }) => left > 0 && options.length === 0)!
      return ['add_dish_to_basket', { dish, quantity: 1, option: 'large' }]
    },
    other_option: (s) => {
      clear(s)
      const row = view(s).dishes.find(({ left, options }) => left > 1 && options.length > 1)!
      succeed(s, ...put(row, 1))
      return ['add_dish_to_basket', { dish: row.dish, quantity: 1, option: row.options[1]!.option }]
    },
    other_restaurant: (s) => {
      const { restaurant } = fill(s)
      return put(view(s).dishes.find((row) => row.restaurant !== restaurant && row.left > 0)!, 1)
    },
    basket_full: (s) => {
      clear(s)
      const canMake = (row: Restaurant) => menu(s, row, ({ left }) => left > 0)
      const dishes = canMake(kitchen(s, (row) => canMake(row).length > LIMITS.basketDishes))
      for (const dish of dishes.slice(0, LIMITS.basketDishes)) succeed(s, ...put(dish, 1))
      return put(dishes[LIMITS.basketDishes]!, 1)
    },
    basket_empty: (s) => {
      clear(s)
      return order
    },
    below_minimum: (s) => {
      clear(s)
      const from = kitchen(
        s,
        (row) => menu(s, row, ({ left, price }) => left > 0 && price + 9 < row.minimum).length > 0,
      )
      succeed(s, ...put(menu(s, from, ({ left, price }) => left > 0 && price + 9 < from.minimum)[0]!, 1))
      return order
    },
    outside_delivery_zone: (s) => {
      fill(s)
      const { city } = view(s).dropoffs.get('home')!
      return ['place_food_order', { dropoff: view(s).dropoffs.find((row) => row.city !== city)!.dropoff }]
    },
    restaurant_closed: (s) => {
      const home = view(s).dropoffs.get('home')!
      fill(s, view(s).restaurants.find((row) => row.opens > '10:00' && deliversTo(row, home))!)
      return order
    },
    too_soon: (s) => {
      fill(s)
      return ['place_food_order', { dropoff: 'home', time: '09:30' }]
    },
    insufficient_credit: (s) => {
      while (credit(s) >= 60) {
        fill(s, kitchen(s), Math.min(50, credit(s) - 20))
        succeed(s, ...order)
      }
      const from = kitchen(s)
      fill(s, from, Math.max(from.minimum, credit(s)))
      return order
    },
    top_up_limit: (s) => {
      succeed(s, 'top_up_credit', { amount: LIMITS.topUpPerDay - 20 })
      return ['top_up_credit', { amount: 21 }]
    },
    promo_applied: (s) => {
      fill(s, kitchen(s), 60)
      succeed(s, ...redeem(general(s, true)))
      return redeem(general(s, true))
    },
    promo_expired: (s) => {
      fill(s, kitchen(s), 60)
      return redeem(general(s, false))
    },
    promo_minimum: (s) => {
      clear(s)
      const { promo, minimum } = view(s).promos.get(general(s, true))!
      succeed(s, ...put(menu(s, kitchen(s), ({ left, price }) => left > 0 && price + 3 < minimum)[0]!, 1))
      return redeem(promo)
    },
    promo_elsewhere: (s) => {
      const { promo, cuisine } = view(s).promos.find((row) => row.cuisine !== null && row.expires > '2026-03-02')!
      fill(
        s,
        kitchen(s, (row) => row.cuisine !== cuisine),
      )
      return redeem(promo)
    },
    promo_used: (s) => {
      fill(s, kitchen(s), 60)
      return redeem(view(s).food_orders.find(({ promo }) => promo !== null)!.promo!)
    },
    order_cancelled: (s) => cancel(anOrder(s, 'cancelled')),
    too_late_to_cancel: (s) => cancel(anOrder(s, 'cooking')),
    already_delivered: (s) => [
      'instruct_courier',
      { food_order: anOrder(s, 'delivered').food_order, instruction: 'ring twice' },
    ],
    not_delivered: (s) => rate(anOrder(s, 'on_the_way')),
    already_rated: (s) => rate(anOrder(s, 'delivered', ({ stars }) => stars !== null)),
    rating_too_late: (s) =>
      rate(anOrder(s, 'delivered', ({ stars, delivered_at }) => stars === null && delivered_at < '2026-02-16')),
    dish_not_ordered: (s) => {
      const row = delivered(s, YESTERDAY)
      const other = view(s).dishes.find(({ name }) => !row.items.some((item) => item.name === name))!
      return report(row, 1, other.name)
    },
    more_than_delivered: (s) => {
      const row = delivered(s, YESTERDAY)
      return report(row, row.items[0]!.quantity + 1)
    },
    claim_too_late: (s) => report(anOrder(s, 'delivered', ({ delivered_at }) => delivered_at < '2026-02-27')),
    too_many_claims: (s) => {
      const fresh = (row: FoodOrder) => view(s).claims.by('food_order', row.food_order).length === 0
      const earlier = view(s).claims.count()
      for (let i = earlier; i < LIMITS.claimsPerMonth; i++) succeed(s, ...report(delivered(s, YESTERDAY, fresh)))
      return report(delivered(s, YESTERDAY, fresh))
    },
  },
})

test('an order goes through its whole life as the session writes, and can be rated only at its end', () => {
  const session = open(3)
  fill(session, kitchen(session))
  const placed = succeed(session, ...order)
  const status = () => succeed(session, 'track_food_order', { food_order: placed.food_order }).status
  const seen: unknown[] = [placed.status]
  for (let minute = 1; minute <= 60 && seen.at(-1) !== 'delivered'; minute++) {
    if (status() !== seen.at(-1)) seen.push(status())
    if (seen.at(-1) !== 'delivered')
      assert.is(refuse(session, ['rate_food_order', { food_order: placed.food_order, stars: 5 }]), 'not_delivered')
    wait(session, 1)
  }
  assert.equal(seen, ['placed', 'accepted', 'cooking', 'on_the_way', 'delivered'])
  const { name } = view(session).food_orders.get(placed.food_order as string)!
  assert.is(succeed(session, 'rate_food_order', { food_order: placed.food_order, stars: 5 }).name, name)
})

test('cancelling is free until the restaurant accepts, costs a quarter of the food after, and is impossible once it cooks', () => {
  const session = open(4)
  const before = credit(session)
  const { restaurant } = fill(session, kitchen(session), 25)
  const placed = succeed(session, ...order)
  const row = view(session).food_orders.get(placed.food_order as string)!
  const call: Call = ['cancel_food_order', { food_order: row.food_order }]
  assert.is(credit(session), before - row.paid)

  const soon = session.fork()
  assert.is(succeed(soon, ...call).refund, row.paid)
  assert.is(credit(soon), before)

  wait(session, LIMITS.acceptMinutes)
  const later = session.fork()
  const fee = Math.ceil(row.food / 4)
  assert.equal(succeed(later, ...call), {
    name: row.name,
    food_order: row.food_order,
    restaurant: row.restaurant,
    status: 'cancelled',
    refund: row.paid - fee,
    credit: before - fee,
  })

  wait(session, LIMITS.cookingAfterMinutes)
  assert.is(refuse(session, call), 'too_late_to_cancel')
  assert.is(row.restaurant, restaurant)
})

test('the portions of a placed order are gone for others until it is cancelled', () => {
  const session = open(5)
  clear(session)
  const fits = ({ left, price }: Dish) => left >= 3 && left <= 9 && left * price > 22
  const from = kitchen(session, (row) => menu(session, row, fits).length > 0)
  const dish = menu(session, from, fits)[0]!
  succeed(session, 'top_up_credit', { amount: 200 })
  succeed(session, ...put(dish, dish.left))
  const { food_order } = succeed(session, ...order)
  assert.is(view(session).dishes.get(dish.dish)!.left, 0)
  const shown = succeed(session, 'show_menu', { restaurant: from.restaurant }).dishes as { dish: string }[]
  assert.not.ok(shown.some((row) => row.dish === dish.dish))
  assert.is(refuse(session, put(dish, 1)), 'sold_out')
  succeed(session, 'cancel_food_order', { food_order })
  succeed(session, ...put(dish, 1))
})

test('a promo lowers the price once and is free again when its order is cancelled', () => {
  const session = open(6)
  fill(session, kitchen(session), 45)
  const promo = general(session, true)
  const applied = succeed(session, ...redeem(promo))
  const basket = succeed(session, 'show_basket', {})
  assert.is(basket.discount, applied.discount)
  succeed(session, 'top_up_credit', { amount: 150 })
  const placed = succeed(session, ...order)
  assert.is(placed.paid, basket.total)
  fill(session, kitchen(session), 45)
  assert.is(refuse(session, redeem(promo)), 'promo_used')
  succeed(session, 'cancel_food_order', { food_order: placed.food_order })
  succeed(session, ...redeem(promo))
})

test('emptying the basket drops its promo and lets another restaurant in', () => {
  const session = open(7)
  const { restaurant } = fill(session, kitchen(session), 45)
  succeed(session, ...redeem(general(session, true)))
  const other = kitchen(session, (row) => row.restaurant !== restaurant)
  const dish = menu(session, other, ({ left }) => left > 2)[0]!
  assert.is(refuse(session, put(dish, 1)), 'other_restaurant')
  succeed(session, 'empty_basket', {})
  succeed(session, ...put(dish, 1))
  assert.is(succeed(session, 'show_basket', {}).discount, 0)
})

test('a closed kitchen takes an order for later today, which waits as scheduled and can still be cancelled for free', () => {
  const session = open(8)
  const home = view(session).dropoffs.get('home')!
  const evening = view(session).restaurants.find((row) => row.opens > '16:00' && deliversTo(row, home))!
  fill(session, evening)
  assert.is(refuse(session, order), 'restaurant_closed')
  succeed(session, 'top_up_credit', { amount: 100 })
  const placed = succeed(session, 'place_food_order', { dropoff: 'home', time: '19:30', tip: 3 })
  assert.is(placed.status, 'scheduled')
  assert.is(placed.arrives, '19:30')
  const listed = succeed(session, 'list_food_orders', { state: 'scheduled', restaurant: evening.restaurant })
  assert.ok((listed.food_orders as { food_order: string }[]).some((row) => row.food_order === placed.food_order))
  wait(session, LIMITS.cookingAfterMinutes + 5)
  assert.is(succeed(session, 'cancel_food_order', { food_order: placed.food_order }).refund, placed.paid)
})

test('a refund for a missing dish is what it cost after the discount', () => {
  const session = open(9)
  const row = delivered(session, YESTERDAY)
  const [item] = row.items
  const before = credit(session)
  const stated = succeed(session, ...report(row))
  assert.is(stated.refund, Math.floor((item!.price * (row.food - row.discount)) / row.food))
  assert.is(stated.credit, before + (stated.refund as number))
})

test('stars count for the rating that a search shows', () => {
  const session = open(10)
  const row = anOrder(session, 'delivered', ({ stars, delivered_at }) => stars === null && delivered_at > '2026-02-20')
  const { rating_sum, rating_count } = view(session).restaurants.get(row.restaurant)!
  const stated = succeed(session, 'rate_food_order', { food_order: row.food_order, stars: 1 })
  assert.is(stated.rating, Math.round((10 * (rating_sum + 1)) / (rating_count + 1)) / 10)
})

test('an address of any known street can be saved, however it is capitalised, and lies in a zone', () => {
  assert.equal(locate('12 rua do moinho, lisbon'), {
    address: '12 Rua do Moinho, Lisbon',
    city: 'Lisbon',
    zone: zoneOf('Rua do Moinho', 'Lisbon'),
  })
  assert.is(locate('12 Nowhere Lane, Lisbon'), undefined)
  assert.is(new Set(streetsOf('Lisbon').map((street) => zoneOf(street, 'Lisbon'))).size, 5)
  const session = open(11)
  const added = succeed(session, 'add_dropoff', { name: 'Aunt May', address: '7 skoleveien, oslo' })
  assert.is(added.dropoff, 'aunt-may')
  const listed = succeed(session, 'list_dropoffs', { city: 'oslo' })
  assert.ok((listed.dropoffs as { address: string }[]).some(({ address }) => address === '7 Skoleveien, Oslo'))
})

test('a search for restaurants names only those that deliver there, and the dish narrows it down', () => {
  let alone = 0
  let all = 0
  for (let seed = 1; seed <= 10; seed++) {
    const session = open(seed)
    const home = view(session).dropoffs.get('home')!
    for (const dish of view(session).dishes.list()) {
      const from = view(session).restaurants.get(dish.restaurant)!
      if (!deliversTo(from, home)) continue
      const wide = succeed(session, 'find_restaurants', { cuisine: from.cuisine, dropoff: 'home' })
      const stated = succeed(session, 'find_restaurants', {
        cuisine: from.cuisine,
        dropoff: 'home',
        serving: dish.name,
      })
      assert.ok((stated.found as number) >= 1 && (stated.found as number) <= (wide.found as number))
      assert.ok((wide.found as number) <= 5)
      all++
      if (stated.found === 1) alone++
    }
  }
  assert.ok(alone > 0.2 * all, `${alone} of ${all}`)
  assert.ok(mentions('Mango Sticky Rice', 'rice mango'))
})

test.run()
