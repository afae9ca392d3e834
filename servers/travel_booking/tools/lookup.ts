import { flightOf } from '../availability.js'
import { clock } from '../calendar.js'
import type { Obstacle } from '../rules.js'
import type { Booking, Budget, FailureCode, Hotel, Itinerary, Traveller, TravelView } from '../schema.js'
import { cityNumber, type Flight } from '../timetable.js'

interface Reader {
  readonly db: TravelView
  fail(code: FailureCode, detail?: string): never
}

export function flightCalled({ db, fail }: Reader, key: string): Flight {
  return flightOf(db, key) ?? fail('unknown_flight', `There is no flight ${key}.`)
}

export function hotelCalled({ db, fail }: Reader, key: string): Hotel {
  return db.hotels.get(key) ?? fail('unknown_hotel', `There is no hotel ${key}.`)
}

export function travellerCalled({ db, fail }: Reader, key: string): Traveller {
  return db.travellers.get(key) ?? fail('unknown_traveller', `There is no traveller ${key}.`)
}

export function itineraryCalled({ db, fail }: Reader, key: string): Itinerary {
  return db.itineraries.get(key) ?? fail('unknown_itinerary', `There is no itinerary ${key}.`)
}

export function bookingCalled({ db, fail }: Reader, key: string): Booking {
  return db.bookings.get(key) ?? fail('unknown_booking', `There is no booking ${key}.`)
}

export function budgetCalled({ db, fail }: Reader, key: string): Budget {
  return db.budgets.get(key) ?? fail('unknown_budget', `There is no travel budget ${key}.`)
}

/** The places of two different cities in the gazetteer. */
export function routeBetween({ fail }: Pick<Reader, 'fail'>, from: string, to: string): [from: number, to: number] {
  const start = cityNumber(from) ?? fail('unknown_city', `No city called ${from} is known.`)
  const end = cityNumber(to) ?? fail('unknown_city', `No city called ${to} is known.`)
  return start === end ? fail('same_city', `${from} and ${to} are the same city.`) : [start, end]
}

/** Ends the call if something stands against it. */
export function refuse({ fail }: Pick<Reader, 'fail'>, obstacle: Obstacle | undefined): void {
  if (obstacle) fail(obstacle.code, obstacle.detail)
}

/** Departure and arrival in UTC as results show them. */
export function times({ departs, arrives, day }: Flight): { departs: string; arrives: string } {
  return { departs: clock(departs, day), arrives: clock(arrives, day) }
}
