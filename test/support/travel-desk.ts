import { CITIES } from '../../servers/kernel/gazetteer.js'
import { generateSeedState, Session } from '../../servers/kernel/session.js'
import { isCancelled, roomsLeft, saltOf } from '../../servers/travel_booking/availability.js'
import { travelBooking } from '../../servers/travel_booking/index.js'
import type { Booking, Traveller, TravelView } from '../../servers/travel_booking/schema.js'
import { DATES } from '../../servers/travel_booking/time.js'
import { type Fare, type Flight, flightsOn, seatsOffered } from '../../servers/travel_booking/timetable.js'
import { succeed } from './session-calls.js'

export const NUMBERS = [...CITIES.keys()]

export const open = (seed: number) => Session.open(generateSeedState(travelBooking, seed))
export const desk = (session: Session) => session.db as unknown as TravelView
export const booking = (session: Session, fits: (row: Booking) => boolean) => desk(session).bookings.find(fits)!

/** Returns the first fitting flight of the timetable from the given day on. */
export function flight(session: Session, fits: (row: Flight) => boolean, fromDay = 1): Flight {
  const salt = saltOf(desk(session))
  for (let day = fromDay; day < DATES.length; day++)
    for (const from of NUMBERS)
      for (const to of NUMBERS) {
        const found = flightsOn(salt, from, to, day).find((row) => !isCancelled(desk(session), row.flight) && fits(row))
        if (found) return found
      }
  throw new Error('no such flight')
}

export const roomy = ({ free }: Flight) => free.economy >= 4 && free.business >= 2

/** Returns an empty itinerary of a traveller with a valid passport and no bookings. */
export function passenger(
  session: Session,
  fits: (row: Traveller) => boolean = () => true,
): { itinerary: string; traveller: string } {
  const { traveller } = desk(session).travellers.find(
    (row) =>
      row.passport_expires > '2027-01-01' &&
      desk(session).bookings.by('traveller', row.traveller).length === 0 &&
      fits(row),
  )!
  const begun = desk(session).itineraries.find((row) => row.traveller === traveller && row.title === 'Test Flight')
  const { itinerary } = begun ?? succeed(session, 'create_itinerary', { traveller, title: 'Test Flight' })
  return { itinerary: itinerary as string, traveller }
}

export const purse = (session: Session, business = true) =>
  desk(session).budgets.find((row) => row.business === business && row.left > 3000)!.budget

/** Books a flight and pays for it. */
export function buy(session: Session, itinerary: string, { flight: key }: Flight, fare: Fare): string {
  const { booking: made } = succeed(session, 'book_flight', { itinerary, flight: key, fare })
  succeed(session, 'pay_booking', { booking: made, budget: purse(session) })
  return made as string
}

/** Lets some minutes pass: choosing the same seat again changes only the time. */
export function wait(session: Session, minutes: number): void {
  const { itinerary } = passenger(session)
  const plane = flight(session, roomy, 40)
  const made = buy(session, itinerary, plane, 'flex')
  for (let i = 0; i < minutes; i++)
    succeed(session, 'choose_seat', { booking: made, seat: seatsOffered(plane, 'economy')[0] })
}

/** Returns hotels of one city with a free room on each night. */
export function freeHotels(session: Session, day: number, nights: number): string[] {
  const view = desk(session)
  const rows = view.hotels.list((row) => roomsLeft(view, row, day, nights, session.now()) > 0)
  const city = rows.find((row) => rows.filter((other) => other.city === row.city).length >= 2)!.city
  return rows.filter((row) => row.city === city).map(({ hotel }) => hotel)
}
