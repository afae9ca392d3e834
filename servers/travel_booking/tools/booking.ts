import { z } from 'zod'
import { choose } from '../../kernel/choose.js'
import { timeOf } from '../../kernel/dates.js'
import { ref } from '../../kernel/fields.js'
import { ascending } from '../../kernel/lists.js'
import { flightOf, lapseHolds, roomsLeft } from '../availability.js'
import { bookFlightObstacle, bookHotelObstacle, holdUntil, rangeObstacle } from '../booking-rules.js'
import { flightCalled } from '../lookup.js'
import { cabinOf, flightTitle, LIMITS, stayTitle } from '../rules.js'
import { goalOf, isFlightOf, isWayOf, plannedGoal, someFlight, stayIn } from '../sampling.js'
import { type Booking, cityField, dateField, type Itinerary, tool } from '../schema.js'
import { dayOf } from '../time.js'
import { cityAt, cityNumber, FARES } from '../timetable.js'

const nights = z.int().min(1).max(14)
const held = {
  title: z.string(),
  booking: ref('booking'),
  price: z.int(),
  status: z.string(),
  held_until: z.string().describe('HH:MM, UTC.'),
}

/** A booking that has just been made and not been paid for. */
function heldBooking({ itinerary, traveller }: Itinerary, now: string): Omit<Booking, 'booking' | 'title' | 'price'> {
  return {
    itinerary,
    traveller,
    status: 'held',
    held_until: holdUntil(now),
    paid: 0,
    budget: null,
    flight: null,
    fare: null,
    cabin: null,
    seat: null,
    extra_bags: 0,
    points_spent: 0,
    hotel: null,
    check_in: null,
    nights: null,
  }
}

const confirmation = (row: Booking) => ({ ...row, held_until: timeOf(row.held_until!) })

const bookFlight = tool({
  name: 'book_flight',
  description: `Book a seat on a flight for the traveller of an itinerary. It is held for ${LIMITS.holdMinutes} minutes, in which it has to be paid for. A basic fare cannot be changed, refunded or given a seat; standard refunds half, flex and business all.`,
  input: z.strictObject({
    itinerary: ref('itinerary'),
    flight: ref('flight'),
    fare: z.enum(FARES).describe('Kind of ticket; basic gives nothing back.'),
  }),
  output: z.object(held),
  annotations: { readOnly: false },
  needs: ['passport_renewed'],
  sample(sampling) {
    const { db, random, bound, now } = sampling
    for (let attempt = 0; attempt < 12; attempt++) {
      const known = bound.flight === undefined ? undefined : flightOf(db, bound.flight)
      const itinerary = choose(
        db.itineraries,
        random,
        bound.itinerary,
        (row) => known === undefined || isFlightOf(row, known, sampling),
      )
      if (!itinerary) return null
      const flight = bound.flight === undefined ? someFlight(sampling, { to: goalOf(itinerary) }) : known
      const fare = bound.fare ?? random.pick(FARES)
      if (!flight || !isFlightOf(itinerary, flight, sampling)) continue
      if (bookFlightObstacle(db, now(), itinerary, flight, fare)) continue
      return { itinerary: itinerary.itinerary, flight: flight.flight, fare }
    }
    return null
  },
  run(args, context) {
    const { unless, rowOf, db, nextId } = context
    const now = context.now()
    lapseHolds(db, now)
    const itinerary = rowOf('itineraries', args.itinerary)
    const flight = flightCalled(context, args.flight)
    unless(bookFlightObstacle(db, now, itinerary, flight, args.fare))
    const row = db.bookings.insert({
      ...heldBooking(itinerary, now),
      booking: nextId('booking'),
      title: flightTitle(flight),
      price: flight.prices[args.fare],
      flight: flight.flight,
      fare: args.fare,
      cabin: cabinOf(args.fare),
    })
    return confirmation(row)
  },
})

const searchHotels = tool({
  name: 'search_hotels',
  description:
    'List the hotels of a city that have a free room on every night of a stay, the cheapest first. The price is for all nights, in euros.',
  input: z.strictObject({
    city: cityField().describe('Name of the city, such as Oslo.'),
    date: dateField('Of the first night, YYYY-MM-DD.'),
    nights: nights.describe('Nights of the stay.'),
  }),
  output: z.object({
    found: z.int(),
    hotels: z.array(
      z.object({ name: z.string(), hotel: ref('hotel'), stars: z.int(), price: z.int(), rooms: z.int() }),
    ),
  }),
  annotations: { readOnly: true },
  sample(sampling) {
    const { db, random, bound, now } = sampling
    for (let attempt = 0; attempt < 6; attempt++) {
      const goal = plannedGoal(sampling)
      const city = bound.city ?? (goal === undefined ? random.pick(db.hotels.list()).city : cityAt(goal).city)
      const number = cityNumber(city)
      if (number === undefined) return null
      const args = { city, ...stayIn(sampling, number), ...bound }
      const first = dayOf(args.date)
      if (first === undefined || rangeObstacle(now(), args.date, args.nights)) continue
      const free = db.hotels.by('city', args.city).some((row) => roomsLeft(db, row, first, args.nights, now()) > 0)
      if (free) return args
    }
    return null
  },
  run(args, context) {
    const { unless, db } = context
    const now = context.now()
    const number = cityNumber(args.city) ?? context.fail('unknown_city', `No city called ${args.city} is known.`)
    unless(rangeObstacle(now, args.date, args.nights))
    const day = dayOf(args.date)!
    const hotels = db.hotels
      .by('city', cityAt(number).city)
      .map((row) => ({ ...row, price: row.price * args.nights, rooms: roomsLeft(db, row, day, args.nights, now) }))
      .filter(({ rooms }) => rooms > 0)
      .sort(ascending('price'))
    return { found: hotels.length, hotels }
  },
})

const bookHotel = tool({
  name: 'book_hotel',
  description: `Book a hotel room for the traveller of an itinerary. It is held for ${LIMITS.holdMinutes} minutes, in which it has to be paid for. Cancelling is free until ${LIMITS.hotelFreeDays} days before the stay; after that the first night is kept.`,
  input: z.strictObject({
    itinerary: ref('itinerary'),
    hotel: ref('hotel'),
    date: dateField('Of the first night, YYYY-MM-DD.'),
    nights: nights.describe('Nights of the stay.'),
  }),
  output: z.object(held),
  annotations: { readOnly: false },
  sample(sampling) {
    const { db, random, bound, now } = sampling
    for (let attempt = 0; attempt < 12; attempt++) {
      const goal = bound.itinerary === undefined ? undefined : db.itineraries.get(bound.itinerary)
      const hotel = choose(
        db.hotels,
        random,
        bound.hotel,
        (row) => goal === undefined || isWayOf(goal, [cityNumber(row.city)!]),
      )
      if (!hotel) return null
      const city = cityNumber(hotel.city)!
      const itinerary = choose(db.itineraries, random, bound.itinerary, (row) => isWayOf(row, [city]))
      if (!itinerary) return null
      const { date, nights } = { ...stayIn(sampling, city), ...bound }
      if (bookHotelObstacle(db, now(), itinerary, hotel, date, nights)) continue
      return { itinerary: itinerary.itinerary, hotel: hotel.hotel, date, nights }
    }
    return null
  },
  run(args, context) {
    const { unless, rowOf, db, nextId } = context
    const now = context.now()
    lapseHolds(db, now)
    const itinerary = rowOf('itineraries', args.itinerary)
    const hotel = rowOf('hotels', args.hotel)
    unless(bookHotelObstacle(db, now, itinerary, hotel, args.date, args.nights))
    const row = db.bookings.insert({
      ...heldBooking(itinerary, now),
      booking: nextId('booking'),
      title: stayTitle(hotel.name, args.date),
      price: hotel.price * args.nights,
      hotel: hotel.hotel,
      check_in: args.date,
      nights: args.nights,
    })
    return confirmation(row)
  },
})

export const bookingTools = [bookFlight, searchHotels, bookHotel]
