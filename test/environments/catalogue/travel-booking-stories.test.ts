import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { CITIES } from '../../../servers/kernel/gazetteer.js'
import type { Session } from '../../../servers/kernel/session.js'
import { flightOf, isCancelled, roomsLeft, saltOf, seatsLeft } from '../../../servers/travel_booking/availability.js'
import { flightMinutes } from '../../../servers/travel_booking/distances.js'
import { LIMITS } from '../../../servers/travel_booking/rules.js'
import { DATES } from '../../../servers/travel_booking/time.js'
import {
  cabinOfSeat,
  cityAt,
  type Flight,
  flightCalled,
  flightsOn,
  isFlown,
  isIntercontinental,
  seatsOffered,
} from '../../../servers/travel_booking/timetable.js'
import { type Call, refusal, succeed } from '../../support/session-calls.js'
import {
  buy,
  desk,
  flight,
  freeHotels,
  NUMBERS,
  open,
  passenger,
  purse,
  roomy,
  wait,
} from '../../support/travel-desk.js'

test('every flight that a search lists can be looked up, flies the route on that day and back', () => {
  const session = open(2)
  const salt = saltOf(desk(session))
  let flights = 0
  for (const from of NUMBERS)
    for (const to of NUMBERS) {
      assert.is(isFlown(salt, from, to), isFlown(salt, to, from))
      for (const row of flightsOn(salt, from, to, 12)) {
        assert.equal(flightCalled(salt, row.flight), row)
        assert.is(row.arrives - row.departs, flightMinutes(from, to))
        const { basic, standard, flex, business } = row.prices
        assert.ok(basic < standard && standard < flex && flex < business)
        for (const cabin of ['economy', 'business'] as const) {
          const seats = seatsOffered(row, cabin)
          assert.is(new Set(seats).size, row.free[cabin])
          assert.ok(
            seats.every((seat) => cabinOfSeat(seat) === cabin),
            seats.join(),
          )
        }
        flights++
      }
    }
  assert.ok(flights > 400, `${flights} flights on a day`)
  assert.is(flightCalled(salt, 'ams-ams-mar05-1'), undefined)
  assert.is(flightCalled(salt, 'ams-ber-may05-1'), undefined)
})

test('a flight takes as many passengers as it had free seats and not one more, until one gives up', () => {
  const session = open(3)
  const plane = flight(session, ({ free }) => free.economy === 2)
  const people = desk(session).travellers.list(
    ({ traveller, passport_expires }) =>
      passport_expires > '2027-01-01' && desk(session).bookings.by('traveller', traveller).length === 0,
  )
  const [first, second, third] = people.map(
    ({ traveller }) => succeed(session, 'create_itinerary', { traveller, title: 'Test Flight' }).itinerary,
  )
  const seat = (itinerary: unknown) => ({ itinerary, flight: plane.flight, fare: 'basic' })
  const held = succeed(session, 'book_flight', seat(first))
  succeed(session, 'book_flight', seat(second))
  assert.is(seatsLeft(desk(session), plane, 'economy', session.now()), 0)
  assert.is(refusal(session, 'book_flight', seat(third)), 'flight_full')
  succeed(session, 'cancel_booking', { booking: held.booking })
  succeed(session, 'book_flight', seat(third))
  assert.is(refusal(session, 'book_flight', seat(first)), 'flight_full')
})

test('a hold that lapses sets its seat free for others and cannot be paid for any more', () => {
  const session = open(4)
  const plane = flight(session, ({ free }) => free.economy === 1, 10)
  const { itinerary } = passenger(session)
  const held = succeed(session, 'book_flight', { itinerary, flight: plane.flight, fare: 'flex' })
  const other = passenger(session).itinerary
  assert.is(refusal(session, 'book_flight', { itinerary: other, flight: plane.flight, fare: 'flex' }), 'flight_full')
  wait(session, LIMITS.holdMinutes)
  assert.ok(session.now().slice(11, 16) > (held.held_until as string))
  assert.is(succeed(session, 'get_booking', { booking: held.booking }).status, 'lapsed')
  assert.is(refusal(session, 'pay_booking', { booking: held.booking, budget: purse(session) }), 'hold_lapsed')
  succeed(session, 'book_flight', { itinerary: other, flight: plane.flight, fare: 'flex' })
  assert.is(desk(session).bookings.get(held.booking as string)?.status, 'lapsed')
  assert.equal(session.violations(), [])
})

test('what a cancellation refunds depends on the fare, and returns to the budget', () => {
  for (const [fare, share] of [
    ['basic', 0],
    ['standard', 0.5],
    ['flex', 1],
    ['business', 1],
  ] as const) {
    const session = open(5)
    const plane = flight(session, roomy)
    const budget = purse(session)
    const before = desk(session).budgets.get(budget)!.left
    const made = buy(session, passenger(session).itinerary, plane, fare)
    assert.is(desk(session).budgets.get(budget)!.left, before - plane.prices[fare])
    const promised = succeed(session, 'get_booking', { booking: made }).refund
    const stated = succeed(session, 'cancel_booking', { booking: made })
    assert.is(stated.refund, Math.floor(plane.prices[fare] * share))
    assert.is(stated.refund, promised)
    assert.is(desk(session).budgets.get(budget)!.left, before - plane.prices[fare] + (stated.refund as number))
  }
})

test('a flight that the airline cancelled is refunded in full and changed for free, whatever the fare', () => {
  let seen = 0
  for (let seed = 1; seed <= 12; seed++) {
    const session = open(seed)
    for (const row of desk(session).bookings.list(
      ({ status, flight: key }) => status === 'confirmed' && key !== null && isCancelled(desk(session), key),
    )) {
      assert.is(succeed(session.fork(), 'cancel_booking', { booking: row.booking }).refund, row.paid)
      const old = flightOf(desk(session), row.flight!)!
      for (let day = old.day - 1; day <= old.day + 4; day++)
        for (const option of flightsOn(saltOf(desk(session)), old.from, old.to, day)) {
          const result = session.fork().call('change_flight', { booking: row.booking, flight: option.flight })
          if (result.ok) assert.is(result.output.charged, 0)
          if (result.ok && row.fare === 'basic') seen++
        }
    }
  }
  assert.ok(seen > 0, 'no basic fare on a cancelled flight was changed')
})

test('changing a standard fare costs the fee and what the new flight is dearer, a cheaper one gives nothing back', () => {
  const session = open(6)
  const options = (row: Flight) => flightsOn(saltOf(desk(session)), row.from, row.to, row.day + 7)
  const fits = (row: Flight, price: (gap: number) => boolean) =>
    roomy(row) && options(row).some((other) => roomy(other) && price(other.prices.standard - row.prices.standard))
  for (const wanted of [(gap: number) => gap > 0, (gap: number) => gap < 0]) {
    const fork = session.fork()
    const plane = flight(fork, (row) => fits(row, wanted), 5)
    const next = options(plane).find((other) => roomy(other) && wanted(other.prices.standard - plane.prices.standard))!
    const made = buy(fork, passenger(fork).itinerary, plane, 'standard')
    const stated = succeed(fork, 'change_flight', { booking: made, flight: next.flight })
    assert.is(stated.charged, LIMITS.changeFee + Math.max(0, next.prices.standard - plane.prices.standard))
    assert.is(desk(fork).bookings.get(made)?.paid, plane.prices.standard + (stated.charged as number))
    assert.is(seatsLeft(desk(fork), plane, 'economy', fork.now()), plane.free.economy)
    assert.equal(fork.violations(), [])
  }
})

test('connecting flights can both be booked by one traveller, with time to change planes', () => {
  const session = open(7)
  let booked = 0
  for (let i = 0; i < 12; i++) {
    const args = { from_city: cityAt(i).city, to_city: cityAt(31 - i).city, date: '2026-03-18' }
    const { connections } = succeed(session, 'find_connecting_flights', args) as {
      connections: { via: string; first_flight: string; second_flight: string }[]
    }
    for (const { first_flight, second_flight, via } of connections) {
      const [first, second] = [flightOf(desk(session), first_flight)!, flightOf(desk(session), second_flight)!]
      assert.is(cityAt(first.to).city, via)
      assert.is(first.to, second.from)
      const wait = second.departs - first.arrives
      assert.ok(wait >= LIMITS.connection && wait <= LIMITS.layover)
      if (first.free.economy === 0 || second.free.economy === 0) continue
      const fork = session.fork()
      const { itinerary } = passenger(fork)
      for (const key of [first_flight, second_flight])
        succeed(fork, 'book_flight', { itinerary, flight: key, fare: 'basic' })
      booked++
    }
  }
  assert.ok(booked > 5)
})

test('a passport must be valid on the day, half a year longer on another continent, and not at all at home', () => {
  const session = open(8)
  const { traveller } = desk(session).travellers.find(({ passport_expires }) => passport_expires < '2026-03-01')!
  const { itinerary } = desk(session).itineraries.by('traveller', traveller)[0]!
  const near = flight(
    session,
    (row) => roomy(row) && cityAt(row.from).country !== cityAt(row.to).country && !isIntercontinental(row.from, row.to),
  )
  const far = flight(session, (row) => roomy(row) && isIntercontinental(row.from, row.to), 6)
  const home = flight(session, (row) => roomy(row) && cityAt(row.from).country === cityAt(row.to).country, 12)
  const book = (row: Flight): Call => ['book_flight', { itinerary, flight: row.flight, fare: 'basic' }]
  assert.is(refusal(session, ...book(near)), 'passport_expired')
  assert.ok(succeed(session, ...book(home)).held_until)
  succeed(session, 'update_passport', { traveller, expires: DATES[near.day] })
  assert.ok(succeed(session, ...book(near)).held_until)
  assert.is(refusal(session, ...book(far)), 'passport_expired')
  succeed(session, 'update_passport', { traveller, expires: '2027-01-01' })
  assert.ok(succeed(session, ...book(far)).held_until)
})

test('an upgrade is free with gold, costs points with silver, and gives up the seat', () => {
  for (const [tier, points] of [
    ['gold', 0],
    ['silver', LIMITS.upgradePoints],
  ] as const) {
    const session = open(9)
    const { itinerary, traveller } = passenger(
      session,
      (row) => row.tier === tier && row.points >= LIMITS.upgradePoints,
    )
    const before = desk(session).travellers.get(traveller)!.points
    const plane = flight(session, roomy)
    const made = buy(session, itinerary, plane, 'standard')
    succeed(session, 'choose_seat', { booking: made, seat: seatsOffered(plane, 'economy')[1] })
    const stated = succeed(session, 'upgrade_booking', { booking: made })
    assert.is(stated.points_left, before - points)
    assert.is(seatsLeft(desk(session), plane, 'economy', session.now()), plane.free.economy)
    assert.is(seatsLeft(desk(session), plane, 'business', session.now()), plane.free.business - 1)
    const shown = succeed(session, 'get_booking', { booking: made })
    assert.is(shown.seat, undefined)
    assert.is(shown.cabin, 'business')
    succeed(session, 'choose_seat', { booking: made, seat: seatsOffered(plane, 'business')[0] })
  }
})

test('a bag on a held booking is paid with it, on a paid one at once', () => {
  const session = open(10)
  const plane = flight(session, roomy)
  const { itinerary } = passenger(session)
  const { booking: made } = succeed(session, 'book_flight', { itinerary, flight: plane.flight, fare: 'standard' })
  succeed(session, 'add_baggage', { booking: made, bags: 1 })
  const budget = purse(session)
  const before = desk(session).budgets.get(budget)!.left
  const paid = succeed(session, 'pay_booking', { booking: made, budget })
  assert.is(paid.paid, plane.prices.standard + LIMITS.bagFee)
  succeed(session, 'add_baggage', { booking: made, bags: 2 })
  assert.is(desk(session).budgets.get(budget)!.left, before - plane.prices.standard - 3 * LIMITS.bagFee)
  assert.is(refusal(session, 'add_baggage', { booking: made, bags: 1 }), 'too_many_bags')
})

test('a hotel room is taken for its nights only, and keeps the first night when cancelled late', () => {
  const session = open(11)
  const [hotel] = freeHotels(session, 1, 3)
  const row = desk(session).hotels.get(hotel!)!
  const left = (day: number) => roomsLeft(desk(session), row, day, 1, session.now())
  const before = [0, 1, 3, 4].map(left)
  const book = (fork: Session, day: number) => {
    const { itinerary } = passenger(fork)
    const { booking: made } = succeed(fork, 'book_hotel', { itinerary, hotel, date: DATES[day], nights: 3 })
    succeed(fork, 'pay_booking', { booking: made, budget: purse(fork) })
    return made
  }
  const late = session.fork()
  const refund = succeed(late, 'cancel_booking', { booking: book(late, 1) }).refund
  assert.is(refund, 2 * row.price)
  const [later] = freeHotels(session, 10, 3)
  const early = session.fork()
  const { itinerary } = passenger(early)
  const made = succeed(early, 'book_hotel', { itinerary, hotel: later, date: DATES[10], nights: 3 })
  succeed(early, 'pay_booking', { booking: made.booking, budget: purse(early) })
  assert.is(succeed(early, 'cancel_booking', { booking: made.booking }).refund, made.price)
  book(session, 1)
  assert.equal([0, 1, 3, 4].map(left), [before[0], before[1]! - 1, before[2]! - 1, before[3]])
})

test('a search lists the hotels with a room on every night, the cheapest first', () => {
  const session = open(12)
  for (const { city } of CITIES) {
    const stated = succeed(session, 'search_hotels', { city, date: '2026-03-20', nights: 3 }) as {
      hotels: { hotel: string; price: number; rooms: number }[]
    }
    const prices = stated.hotels.map(({ price }) => price)
    assert.equal(
      prices,
      [...prices].sort((a, b) => a - b),
    )
    for (const { hotel, rooms } of stated.hotels)
      assert.is(rooms, roomsLeft(desk(session), desk(session).hotels.get(hotel)!, 18, 3, session.now()))
  }
})

test('worlds begin with holds, confirmed trips, cancelled flights and people who must renew their passport', () => {
  for (let seed = 1; seed <= 10; seed++) {
    const { bookings, flights, travellers, budgets } = desk(open(seed))
    assert.ok(bookings.count(({ status }) => status === 'confirmed') >= 8, `seed ${seed}: confirmed`)
    assert.ok(bookings.count(({ status }) => status === 'held') >= 1, `seed ${seed}: held`)
    assert.ok(flights.count(({ status }) => status === 'cancelled') >= 4, `seed ${seed}: cancelled flights`)
    assert.ok(travellers.count(({ passport_expires }) => passport_expires < '2026-03-02') >= 2)
    assert.ok(budgets.find(({ left }) => left < 300))
    assert.is(new Set(travellers.list().map(({ name }) => name)).size, travellers.count())
  }
})

test('the free seats of a booking are those it can choose, and a seat that is given up is free again', () => {
  const session = open(13)
  const plane = flight(session, roomy)
  const made = buy(session, passenger(session).itinerary, plane, 'flex')
  const seats = () =>
    succeed(session, 'find_free_seats', { booking: made, position: 'window' }) as {
      found: number
      seats: { seat: string; position: string }[]
    }
  const before = seats()
  const [first, second] = seatsOffered(plane, 'economy').filter((seat) => /[AD]$/.test(seat))
  assert.is(before.seats[0]?.seat, first)
  assert.ok(before.seats.every(({ position }) => position === 'window'))
  succeed(session, 'choose_seat', { booking: made, seat: first })
  assert.is(seats().found, before.found - 1)
  if (second === undefined) return
  succeed(session, 'choose_seat', { booking: made, seat: second })
  assert.is(seats().seats[0]?.seat, first)
})

test.run()
