import { CITIES } from '../kernel/gazetteer.js'
import type { SeededRandom } from '../kernel/random.js'
import { flightOf, isLive, saltOf } from './availability.js'
import type { Itinerary, TravelView } from './schema.js'
import { DATES, minuteOf } from './time.js'
import { type Flight, flightsOn, hashOf, isFlown } from './timetable.js'

export interface Sampling {
  readonly db: TravelView
  readonly random: SeededRandom
  now(): string
}

/** The number of the day that a time falls on. */
export function dayAt(now: string): number {
  return Math.floor(minuteOf(now) / 1440)
}

/** The nights that a stay may have, as people mostly travel. */
const NIGHTS = [1, 2, 2, 3, 3, 4, 5] as const

/** The city that a trip is named after, if it is. */
export function goalOf({ title }: Itinerary): number | undefined {
  const found = CITIES.findIndex(({ city }) => title.startsWith(`${city} `))
  return found < 0 ? undefined : found
}

/** The trip that was set up last. */
const newestTrip = (db: TravelView): Itinerary => db.itineraries.list().at(-1)!

/** Whether a trip has just been set up: of those that were there, the last has bookings. */
export const isPlanning = ({ db }: Pick<Sampling, 'db'>): boolean =>
  db.bookings.by('itinerary', newestTrip(db).itinerary).length === 0

/**
 * Returns the city of the newest trip, for which a user looks for flights and hotels. If that trip has bookings already,
 * returns the city only half of the time.
 */
export const plannedGoal = ({ db, random }: Sampling): number | undefined =>
  isPlanning({ db }) || random.chance(0.5) ? goalOf(newestTrip(db)) : undefined

/** Whether a flight can be for the trip: it goes there, or is the way back of one that is booked. */
export function isFlightOf(itinerary: Itinerary, { from, to }: Flight, { db, now }: Sampling): boolean {
  const booked = db.bookings
    .by('itinerary', itinerary.itinerary)
    .flatMap((row) => (row.flight !== null && isLive(row, now()) ? [flightOf(db, row.flight)!] : []))
  if (booked.length === 0) return isWayOf(itinerary, [to])
  return booked.length === 1 && booked[0]!.from === to && booked[0]!.to === from
}

/** Whether something in these cities can be for the trip. */
export function isWayOf(itinerary: Itinerary, cities: readonly number[]): boolean {
  const city = goalOf(itinerary)
  return city === undefined || cities.includes(city)
}

/**
 * Returns the stay that people of this environment plan in a city. The stay lasts from the day on which a booked flight
 * arrives there to the flight back. A user who looks for a hotel room and a user who books one mean the same nights.
 */
export function stayIn({ db, now }: Sampling, city: number): { readonly date: string; readonly nights: number } {
  const flights = db.bookings
    .list((row) => row.flight !== null && isLive(row, now()))
    .map((row) => ({ traveller: row.traveller, flight: flightOf(db, row.flight!)! }))
  const inbound = flights.find(({ flight }) => flight.to === city && flight.day > dayAt(now()))
  const hash = hashOf(saltOf(db), 8, city)
  const usual = NIGHTS[hash % NIGHTS.length]!
  if (!inbound) return { date: DATES[dayAt(now()) + 3 + ((hash >>> 8) % 30)]!, nights: usual }
  const first = Math.floor(inbound.flight.arrives / 1440)
  const back = flights.find(
    ({ traveller, flight }) => traveller === inbound.traveller && flight.from === city && flight.day > first,
  )
  return { date: DATES[first]!, nights: Math.min(back ? back.flight.day - first : usual, 7) }
}

/** A flight of the next weeks, from or to the given city if one is given; nothing when a few attempts found none. */
export function someFlight(
  { db, random, now }: Sampling,
  ends: { readonly from?: number | undefined; readonly to?: number | undefined } = {},
): Flight | undefined {
  const salt = saltOf(db)
  for (let attempt = 0; attempt < 12; attempt++) {
    const from = ends.from ?? random.int(0, CITIES.length - 1)
    const to = ends.to ?? random.int(0, CITIES.length - 1)
    if (!isFlown(salt, from, to)) continue
    const flights = flightsOn(salt, from, to, random.int(dayAt(now()) + 1, 43))
    if (flights.length > 0) return random.pick(flights)
  }
  return undefined
}
