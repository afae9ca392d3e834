import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { foodDelivery } from '../../../servers/food_delivery/index.js'
import { statusOf } from '../../../servers/food_delivery/rules.js'
import type { FoodView } from '../../../servers/food_delivery/schema.js'
import { type Environment, generateSeedState, Session, seededRandom } from '../../../servers/kernel/index.js'
import { marketplace } from '../../../servers/marketplace/index.js'
import { phaseOf } from '../../../servers/marketplace/rules.js'
import { type MarketView, YOU } from '../../../servers/marketplace/schema.js'
import { ARTICLES } from '../../../servers/marketplace/words.js'
import { retailChain } from '../../../servers/retail_chain/index.js'
import { availableOf, isLow, stockKey } from '../../../servers/retail_chain/rules.js'
import type { RetailView } from '../../../servers/retail_chain/schema.js'
import { shopping } from '../../../servers/shopping/index.js'
import type { ShoppingView } from '../../../servers/shopping/schema.js'
import { reviewOf } from '../../../servers/shopping/words.js'
import { socialMedia } from '../../../servers/social_media/index.js'
import { travelBooking } from '../../../servers/travel_booking/index.js'
import type { TravelView } from '../../../servers/travel_booking/schema.js'
import { cityAt, flightCalled } from '../../../servers/travel_booking/timetable.js'
import { succeed } from '../../support/session-calls.js'

type Args = Readonly<Record<string, unknown>>

const SEEDS = [1, 2, 3, 4, 5, 6]
const DRAWS = 40

/** What a sampler draws in some worlds, with the state it draws from. */
function* drawn<V>(
  environment: Environment,
  name: string,
  bound: Args = {},
): Generator<{ args: Args; db: V; session: Session }> {
  for (const seed of SEEDS) {
    const session = Session.open(generateSeedState(environment, seed))
    const random = seededRandom(seed)
    for (let i = 0; i < DRAWS; i++) {
      const args = session.sampleArguments(environment.toolsByName.get(name)!, random, bound)
      if (args) yield { args, db: session.db as unknown as V, session }
    }
  }
}

test('a room is booked for the nights for which rooms in its city are looked for', () => {
  let booked = 0
  for (const { args, db, session } of drawn<TravelView>(travelBooking, 'book_hotel')) {
    const { city } = db.hotels.get(args.hotel as string)!
    const looked = session.sampleArguments(travelBooking.toolsByName.get('search_hotels')!, seededRandom(1), { city })
    assert.equal([args.date, args.nights], [looked?.date, looked?.nights])
    booked++
  }
  assert.ok(booked > 0)
})

test('what is booked for a trip is where the trip goes, and nobody flies back before there is a way there', () => {
  let flights = 0
  for (const { args, db } of drawn<TravelView>(travelBooking, 'book_flight')) {
    const { title, itinerary } = db.itineraries.get(args.itinerary as string)!
    const { from, to } = flightCalled(db.timetable.list()[0]!.salt, args.flight as string)!
    const cities =
      db.bookings.by('itinerary', itinerary).length > 0 ? [cityAt(from).city, cityAt(to).city] : [cityAt(to).city]
    assert.ok(
      cities.some((city) => title.startsWith(city)),
      `${title}: ${cities}`,
    )
    flights++
  }
  assert.ok(flights > 0)
  for (const { args, db } of drawn<TravelView>(travelBooking, 'book_hotel')) {
    const { city } = db.hotels.get(args.hotel as string)!
    assert.ok(db.itineraries.get(args.itinerary as string)!.title.startsWith(city))
  }
})

test('a passport is replaced when it runs out, and seats are looked for by those who have none', () => {
  for (const { args, db } of drawn<TravelView>(travelBooking, 'update_passport'))
    assert.ok(db.travellers.get(args.traveller as string)!.passport_expires < '2027-09-01')
  for (const { args, db } of drawn<TravelView>(travelBooking, 'find_free_seats'))
    assert.is(db.bookings.get(args.booking as string)!.seat, null)
})

test('what a store of the city is short of is not marked down there, and is ordered for stores that are short of it', () => {
  const isShortHere = (db: RetailView, { article, store }: Args): boolean => {
    const { city } = db.stores.get(store as string)!
    return db.stocks
      .by('article', article as string)
      .some((row) => isLow(row) && db.stores.get(row.store)!.city === city)
  }
  for (const { args, db } of drawn<RetailView>(retailChain, 'mark_down_article')) assert.not(isShortHere(db, args))
  for (const { args, db } of drawn<RetailView>(retailChain, 'reorder_stock')) {
    const row = db.stocks.get(stockKey(args.store as string, args.article as string))!
    assert.ok(2 * (row.on_hand + row.incoming) <= row.capacity)
    assert.is(isShortHere(db, args), isLow(row))
  }
  for (const { args, db } of drawn<RetailView>(retailChain, 'transfer_stock')) {
    const [from, to] = [args.from_store, args.to_store].map(
      (store) => db.stocks.get(stockKey(store as string, args.article as string))!,
    )
    assert.ok(to!.on_hand < from!.on_hand)
  }
})

test('what a store has none of is neither marked down nor counted there', () => {
  for (const { args, db } of drawn<RetailView>(retailChain, 'mark_down_article'))
    assert.ok(availableOf(db.stocks.get(stockKey(args.store as string, args.article as string))!) > 0)
  for (const { args } of drawn<RetailView>(retailChain, 'count_stock')) assert.ok((args.counted as number) > 0)
})

test('people are muted or blocked', () => {
  const ways = new Set([...drawn(socialMedia, 'restrict_profile')].map(({ args }) => args.restriction))
  assert.equal([...ways].sort(), ['blocked', 'muted'])
})

test('things of the marketplace are what there is, at prices that they have, and come back for less', () => {
  const kinds = new Map(ARTICLES.map((article) => [article.noun, article]))
  let listed = 0
  for (const seed of SEEDS) {
    const db = Session.open(generateSeedState(marketplace, seed)).db as unknown as MarketView
    for (const { title, format, price } of db.listings.list()) {
      const [first, noun] = title.split(' ') as [string, string]
      const article = kinds.get(noun)
      if (!article) continue
      assert.ok(article.kinds.includes(first), title)
      if (format === 'fixed_price' && price >= article.low && price <= article.high) listed++
      else if (format === 'fixed_price') listed--
    }
  }
  // Where no title is left for a price, any will do.
  assert.ok(listed > 40 * SEEDS.length, `${listed}`)
  for (const { args, db } of drawn<MarketView>(marketplace, 'relist_listing'))
    assert.ok((args.price as number) < db.listings.get(args.own_listing as string)!.price)
})

test('nobody turns down the answer to an own offer, pays out a sale in dispute, or looks at what is over', () => {
  for (const seed of SEEDS) {
    const session = Session.open(generateSeedState(marketplace, seed))
    const db = session.db as unknown as MarketView
    const random = seededRandom(seed)
    for (const { offer } of db.offers.by('buyer', YOU))
      for (let i = 0; i < 10; i++) {
        const args = session.sampleArguments(marketplace.toolsByName.get('answer_offer')!, random, { offer })
        assert.is.not(args?.answer, 'decline')
      }
  }
  for (const { args, db } of drawn<MarketView>(marketplace, 'settle_sale', { outcome: 'release' }))
    assert.is(db.sales.get(args.sale as string)!.stage, 'shipped')
  for (const { args, db, session } of drawn<MarketView>(marketplace, 'get_listing'))
    assert.ok(['open', 'won'].includes(phaseOf(db.listings.get(args.listing as string)!, session.now())))
})

test('of what was called off, and of food that has come, nobody asks when it arrives', () => {
  for (const { args, db } of drawn<ShoppingView>(shopping, 'show_order'))
    assert.is.not(db.orders.get(args.order as string)!.status, 'cancelled')
  for (const { args, db, session } of drawn<FoodView>(foodDelivery, 'track_food_order'))
    assert.ok(
      !['cancelled', 'delivered'].includes(statusOf(db.food_orders.get(args.food_order as string)!, session.now())),
    )
})

test('a review says what its stars say, of such a thing', () => {
  let reviews = 0
  for (const { args, db } of drawn<ShoppingView>(shopping, 'write_review')) {
    const { category } = db.products.get(args.product as string)!
    const fitting = Array.from({ length: 30 }, (_, i) => reviewOf(seededRandom(i), category, args.stars as number))
    assert.ok(fitting.includes(args.text as string), `${args.stars} for ${category}: ${args.text}`)
    reviews++
  }
  assert.ok(reviews > 0)
})

test('some carts begin with a coupon, which another can replace', () => {
  let replaced = 0
  for (let seed = 1; seed <= 60; seed++) {
    const session = Session.open(generateSeedState(shopping, seed))
    if ((session.db as unknown as ShoppingView).customers.list()[0]!.coupon === null) continue
    assert.equal(session.violations(), [])
    succeed(session, 'remove_coupon', {})
    if (session.sampleArguments(shopping.toolsByName.get('apply_coupon')!, seededRandom(seed), {})) replaced++
  }
  assert.ok(replaced > 0)
})

test.run()
