import { z } from 'zod'
import { ref } from '../../kernel/fields.js'
import { CITIES } from '../../kernel/gazetteer.js'
import { isCancelled, saltOf, seatsLeft } from '../availability.js'
import { rangeObstacle } from '../booking-rules.js'
import { flightMinutes } from '../distances.js'
import { flightCalled, routeBetween, times } from '../lookup.js'
import { LIMITS } from '../rules.js'
import { dayAt, plannedGoal, someFlight } from '../sampling.js'
import { cityField, dateField, type TravelView, tool } from '../schema.js'
import { clock, DATES, dayOf, minuteOf } from '../time.js'
import { cityAt, departureIn, type Flight, flightIn, flightsOn, HUBS, isFlown, SLOT_NUMBERS } from '../timetable.js'

const DATE = 'YYYY-MM-DD; the timetable ends on 2026-04-15.'
const routeAndDate = {
  from_city: cityField().describe('City of departure, such as Oslo.'),
  to_city: cityField().describe('City of arrival.'),
  date: dateField(DATE),
}
const euros = z.int().describe('Euros for a basic fare.')

/** Whether the flight still takes bookings at all. */
function isOffered(db: TravelView, now: string, flight: Flight): boolean {
  return !isCancelled(db, flight.flight) && flight.departs - minuteOf(now) >= LIMITS.closesBefore
}

interface Connection {
  readonly hub: number
  readonly first: Flight
  readonly second: Flight
}

/** The first flight of a route that leaves in a span of minutes and takes bookings. */
function onwardFlight(
  db: TravelView,
  now: string,
  from: number,
  to: number,
  span: readonly [earliest: number, latest: number],
): Flight | undefined {
  const salt = saltOf(db)
  for (let day = Math.floor(span[0] / 1440); day <= Math.floor(span[1] / 1440); day++)
    for (const slot of SLOT_NUMBERS) {
      const departs = departureIn(salt, from, to, day, slot)
      if (departs === undefined || departs < span[0] || departs > span[1]) continue
      const flight = flightIn(salt, from, to, day, slot)
      if (flight && isOffered(db, now, flight)) return flight
    }
  return undefined
}

/** Pairs of flights through a hub that leave on the day and connect, the earliest arrival first. */
function connections(db: TravelView, now: string, from: number, to: number, day: number): Connection[] {
  const salt = saltOf(db)
  const found: Connection[] = []
  for (const hub of HUBS) {
    if (!isFlown(salt, from, hub) || !isFlown(salt, hub, to)) continue
    for (const slot of SLOT_NUMBERS) {
      const departs = departureIn(salt, from, hub, day, slot)
      if (departs === undefined) continue
      const lands = departs + flightMinutes(from, hub)
      const second = onwardFlight(db, now, hub, to, [lands + LIMITS.connection, lands + LIMITS.layover])
      const first = second && flightIn(salt, from, hub, day, slot)
      if (first && isOffered(db, now, first)) found.push({ hub, first, second })
    }
  }
  return found.sort((a, b) => a.second.arrives - b.second.arrives)
}

const searchFlights = tool({
  name: 'search_flights',
  description:
    'List the direct flights between two cities on a date, with the basic fare in euros and the free economy seats. Times are UTC.',
  input: z.strictObject(routeAndDate),
  output: z.object({
    found: z.int(),
    flights: z.array(
      z.object({
        name: z.string(),
        flight: ref('flight'),
        departs: z.string(),
        arrives: z.string(),
        price: euros,
        economy_seats: z.int(),
      }),
    ),
  }),
  annotations: { readOnly: true },
  sample(sampling) {
    const flight = someFlight(sampling, { to: plannedGoal(sampling) })
    if (!flight) return null
    const { from, to, day } = flight
    return { from_city: cityAt(from).city, to_city: cityAt(to).city, date: DATES[day]!, ...sampling.bound }
  },
  run({ from_city, to_city, date }, context) {
    const { unless, db } = context
    const now = context.now()
    const [from, to] = routeBetween(context, from_city, to_city)
    unless(rangeObstacle(now, date))
    const salt = saltOf(db)
    if (!isFlown(salt, from, to))
      context.fail('no_direct_route', `Nobody flies directly from ${from_city} to ${to_city}.`)
    const flights = flightsOn(salt, from, to, dayOf(date)!).filter((flight) => isOffered(db, now, flight))
    return {
      found: flights.length,
      flights: flights.map((flight) => ({
        name: flight.name,
        flight: flight.flight,
        ...times(flight),
        price: flight.prices.basic,
        economy_seats: seatsLeft(db, flight, 'economy', now),
      })),
    }
  },
})

const findConnectingFlights = tool({
  name: 'find_connecting_flights',
  description: `Find pairs of flights between two cities that change planes once, leaving on a date, the earliest arrival first. The wait is ${LIMITS.connection} to ${LIMITS.layover} minutes; each flight is booked by itself.`,
  input: z.strictObject(routeAndDate),
  output: z.object({
    found: z.int(),
    connections: z.array(
      z.object({
        via: z.string(),
        first_flight: ref('flight'),
        second_flight: ref('flight'),
        departs: z.string(),
        arrives: z.string(),
        price: euros,
      }),
    ),
  }),
  pages: { connections: 'longest' },
  annotations: { readOnly: true },
  sample({ db, random, now, bound }) {
    const cityNamed = (name: string | undefined): number | undefined =>
      name === undefined ? undefined : CITIES.findIndex(({ city }) => city === name)
    for (let attempt = 0; attempt < 6; attempt++) {
      const [anywhere, elsewhere] = random.sample([...CITIES.keys()], 2) as [number, number]
      const [from, to] = [cityNamed(bound.from_city) ?? anywhere, cityNamed(bound.to_city) ?? elsewhere]
      const day = bound.date === undefined ? random.int(dayAt(now()) + 1, DATES.length - 2) : DATES.indexOf(bound.date)
      if (from < 0 || to < 0 || from === to || day <= dayAt(now()) || day > DATES.length - 2) continue
      if (attempt < 4 && isFlown(saltOf(db), from, to)) continue
      if (connections(db, now(), from, to, day).length === 0) continue
      return { from_city: cityAt(from).city, to_city: cityAt(to).city, date: DATES[day]! }
    }
    return null
  },
  run({ from_city, to_city, date }, context) {
    const [from, to] = routeBetween(context, from_city, to_city)
    context.unless(rangeObstacle(context.now(), date))
    const found = connections(context.db, context.now(), from, to, dayOf(date)!)
    return {
      found: found.length,
      connections: found.map(({ hub, first, second }) => ({
        via: cityAt(hub).city,
        first_flight: first.flight,
        second_flight: second.flight,
        departs: clock(first.departs, first.day),
        arrives: clock(second.arrives, first.day),
        price: first.prices.basic + second.prices.basic,
      })),
    }
  },
})

const getFlight = tool({
  name: 'get_flight',
  description: 'Show the times (UTC), status, fares in euros and free seats of a flight.',
  input: z.strictObject({ flight: ref('flight') }),
  output: z.object({
    name: z.string(),
    flight: ref('flight'),
    date: dateField('Of departure.'),
    departs: z.string(),
    arrives: z.string(),
    status: z.string(),
    basic: z.int(),
    standard: z.int(),
    flex: z.int(),
    business: z.int(),
    economy_seats: z.int(),
    business_seats: z.int(),
  }),
  annotations: { readOnly: true },
  sample(sampling) {
    const { db, random, bound } = sampling
    if (bound.flight !== undefined) return { flight: bound.flight }
    // Often one that is booked: people ask about those.
    const rows = db.flights.list()
    const flight = random.chance(0.5) && rows.length > 0 ? random.pick(rows).flight : someFlight(sampling)?.flight
    return flight === undefined ? null : { flight }
  },
  run(args, context) {
    const { db, now } = context
    const flight = flightCalled(context, args.flight)
    return {
      name: flight.name,
      flight: flight.flight,
      date: DATES[flight.day]!,
      ...times(flight),
      status: isCancelled(db, flight.flight) ? 'cancelled' : 'scheduled',
      ...flight.prices,
      economy_seats: seatsLeft(db, flight, 'economy', now()),
      business_seats: seatsLeft(db, flight, 'business', now()),
    }
  },
})

export const flightTools = [searchFlights, findConnectingFlights, getFlight]
