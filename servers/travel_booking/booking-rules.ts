import { addDays } from '../kernel/dates.js'
import { covers, flightOf, isCancelled, isLive, roomsLeft, seatsLeft } from './availability.js'
import { cabinOf, clash, flightTitle, LIMITS, passportObstacle, REFUND } from './rules.js'
import type { Booking, Hotel, Itinerary, Obstacle, TravelView } from './schema.js'
import { clock, DATES, dayOf, instantOf, minuteOf } from './time.js'
import type { Cabin, Fare, Flight } from './timetable.js'

/** What stands against anyone's taking the flight, if anything. */
function departureObstacle(db: TravelView, now: string, flight: Flight): Obstacle | undefined {
  if (isCancelled(db, flight.flight)) return { code: 'flight_cancelled', detail: `${flight.name} was cancelled.` }
  if (flight.departs - minuteOf(now) < LIMITS.closesBefore)
    return { code: 'too_late', detail: `Booking closes ${LIMITS.closesBefore} minutes before departure.` }
  return undefined
}

/** What stands against a traveller's taking the flight beside those already booked (`except` one), if anything. */
function personalObstacle(
  db: TravelView,
  now: string,
  traveller: string,
  flight: Flight,
  except?: string,
): Obstacle | undefined {
  const passport = passportObstacle(db.travellers.get(traveller)!, flight)
  if (passport) return passport
  for (const row of db.bookings.by('traveller', traveller)) {
    if (row.flight === null || row.booking === except || !isLive(row, now)) continue
    const obstacle = clash(flightOf(db, row.flight)!, flight)
    if (obstacle) return obstacle
  }
  return undefined
}

function cabinObstacle(db: TravelView, now: string, flight: Flight, cabin: Cabin): Obstacle | undefined {
  if (seatsLeft(db, flight, cabin, now) > 0) return undefined
  return { code: 'flight_full', detail: `${flight.name} has no free seat in ${cabin}.` }
}

export function liveBookings(db: TravelView, itinerary: string, now: string): Booking[] {
  return db.bookings.by('itinerary', itinerary).filter((row) => isLive(row, now))
}

function roomInItinerary(db: TravelView, now: string, { itinerary }: Itinerary): Obstacle | undefined {
  if (liveBookings(db, itinerary, now).length < LIMITS.bookings) return undefined
  return { code: 'itinerary_full', detail: `${itinerary} has ${LIMITS.bookings} bookings.` }
}

export function bookFlightObstacle(
  db: TravelView,
  now: string,
  itinerary: Itinerary,
  flight: Flight,
  fare: Fare,
): Obstacle | undefined {
  return (
    departureObstacle(db, now, flight) ??
    roomInItinerary(db, now, itinerary) ??
    personalObstacle(db, now, itinerary.traveller, flight) ??
    cabinObstacle(db, now, flight, cabinOf(fare))
  )
}

/** Returns the obstacle to a stay, if any. @param date of the first night */
export function bookHotelObstacle(
  db: TravelView,
  now: string,
  itinerary: Itinerary,
  hotel: Hotel,
  date: string,
  nights: number,
): Obstacle | undefined {
  const range = rangeObstacle(now, date, nights)
  if (range) return range
  const full = roomInItinerary(db, now, itinerary)
  if (full) return full
  const day = dayOf(date)!
  const stays = db.bookings.by('traveller', itinerary.traveller).filter((row) => row.hotel !== null && isLive(row, now))
  for (let night = day; night < day + nights; night++) {
    const other = stays.find((row) => covers(row, night))
    if (other) return { code: 'overlapping_stay', detail: `${other.title} takes up the night of ${DATES[night]}.` }
  }
  if (roomsLeft(db, hotel, day, nights, now) > 0) return undefined
  return { code: 'hotel_full', detail: `${hotel.name} is full on one of the nights.` }
}

/** Whether nights, or a single day without `nights`, lie between today and the end of the timetable. */
export function rangeObstacle(now: string, date: string, nights = 0): Obstacle | undefined {
  const day = dayOf(date)
  if (day !== undefined && date >= now.slice(0, 10) && day + nights < DATES.length) return undefined
  return { code: 'date_out_of_range', detail: `Dates run from ${now.slice(0, 10)} to ${DATES.at(-1)}.` }
}

/** Returns the obstacle to any further action on a booking, if any. */
export function settledObstacle(row: Booking, now: string): Obstacle | undefined {
  if (row.status === 'cancelled') return { code: 'booking_cancelled', detail: `${row.booking} was cancelled.` }
  if (isLive(row, now)) return undefined
  return { code: 'hold_lapsed', detail: `The hold of ${row.booking} has lapsed: book again.` }
}

/** Whether the flight has left. */
export function hasDeparted(flight: Flight, now: string): boolean {
  return flight.departs <= minuteOf(now)
}

function flownObstacle(flight: Flight, now: string): Obstacle | undefined {
  if (!hasDeparted(flight, now)) return undefined
  return { code: 'too_late', detail: `${flight.name} left at ${clock(flight.departs, flight.day)}.` }
}

/** Returns the refund of a cancellation, or the obstacle to the cancellation. */
export function refundOf(db: TravelView, row: Booking, now: string): { refund: number } | Obstacle {
  const settled = settledObstacle(row, now)
  if (settled) return settled
  if (row.flight !== null) {
    if (isCancelled(db, row.flight)) return { refund: row.paid }
    const flown = flownObstacle(flightOf(db, row.flight)!, now)
    return flown ?? { refund: Math.floor((row.paid * REFUND[row.fare!]) / 100) }
  }
  const today = now.slice(0, 10)
  if (row.check_in! <= today) return { code: 'too_late', detail: `The stay began on ${row.check_in}.` }
  const free = today <= addDays(row.check_in!, -LIMITS.hotelFreeDays)
  return { refund: free ? row.paid : row.paid - Math.round(row.paid / row.nights!) }
}

/** Returns the obstacle to changing a paid booking to another flight, if any. */
export function changeObstacle(db: TravelView, now: string, row: Booking, flight: Flight): Obstacle | undefined {
  if (row.flight === null) return { code: 'not_a_flight' }
  const settled = settledObstacle(row, now)
  if (settled) return settled
  if (row.status !== 'confirmed') return { code: 'not_confirmed', detail: `${row.booking} has not been paid for yet.` }
  if (row.flight === flight.flight) return { code: 'same_flight' }
  const booked = flightOf(db, row.flight)!
  const struck = isCancelled(db, row.flight)
  const flown = struck ? undefined : flownObstacle(booked, now)
  if (flown) return flown
  if (row.fare === 'basic' && !struck) return { code: 'not_in_fare', detail: 'A basic fare cannot be changed.' }
  if (booked.from !== flight.from || booked.to !== flight.to)
    return { code: 'different_route', detail: `${row.booking} is for ${flightTitle(booked)}.` }
  const obstacle =
    departureObstacle(db, now, flight) ??
    personalObstacle(db, now, row.traveller, flight, row.booking) ??
    cabinObstacle(db, now, flight, row.cabin!)
  return obstacle ?? budgetObstacle(db, row.budget!, changeCost(db, row, flight))
}

/**
 * Returns the cost of a change: the fee and the additional price of the new flight. The change costs nothing if the
 * airline had cancelled the old flight.
 */
export function changeCost(db: TravelView, row: Booking, flight: Flight): number {
  if (isCancelled(db, row.flight!)) return 0
  const dearer = flight.prices[row.fare!] - flightOf(db, row.flight!)!.prices[row.fare!]
  return (row.fare === 'standard' ? LIMITS.changeFee : 0) + Math.max(0, dearer)
}

export function budgetObstacle(db: TravelView, budget: string, amount: number): Obstacle | undefined {
  const { name, left } = db.budgets.get(budget)!
  return amount > left ? { code: 'budget_exhausted', detail: `${name} has ${left} euros left.` } : undefined
}

/** Returns the obstacle to paying for a held booking from a budget, if any. */
export function payObstacle(db: TravelView, now: string, row: Booking, budget: string): Obstacle | undefined {
  const settled = settledObstacle(row, now)
  if (settled) return settled
  if (row.status === 'confirmed') return { code: 'already_paid' }
  if (row.fare === 'business' && !db.budgets.get(budget)!.business)
    return { code: 'business_not_covered', detail: `${db.budgets.get(budget)!.name} does not pay for business fares.` }
  return budgetObstacle(db, budget, row.price)
}

/** Returns the obstacle to more checked bags, if any. */
export function baggageObstacle(db: TravelView, now: string, row: Booking, bags: number): Obstacle | undefined {
  const obstacle = aboardObstacle(db, now, row)
  if (obstacle) return obstacle
  if (row.extra_bags + bags > LIMITS.extraBags)
    return { code: 'too_many_bags', detail: `${row.booking} has ${row.extra_bags} of ${LIMITS.extraBags} extra bags.` }
  return row.budget === null ? undefined : budgetObstacle(db, row.budget, bags * LIMITS.bagFee)
}

/** Returns the obstacle to an upgrade to business class, if any. */
export function upgradeObstacle(db: TravelView, now: string, row: Booking): Obstacle | undefined {
  const obstacle = aboardObstacle(db, now, row)
  if (obstacle) return obstacle
  if (row.status !== 'confirmed') return { code: 'not_confirmed', detail: `${row.booking} has not been paid for yet.` }
  if (row.cabin === 'business') return { code: 'already_business' }
  if (row.fare === 'basic') return { code: 'not_in_fare', detail: 'A basic fare cannot be upgraded.' }
  const { name, tier, points } = db.travellers.get(row.traveller)!
  if (tier === 'none') return { code: 'tier_too_low', detail: `${name} has neither silver nor gold status.` }
  if (tier === 'silver' && points < LIMITS.upgradePoints)
    return {
      code: 'not_enough_points',
      detail: `An upgrade takes ${LIMITS.upgradePoints} points, ${name} has ${points}.`,
    }
  return cabinObstacle(db, now, flightOf(db, row.flight!)!, 'business')
}

/** What stands against any service on board: no flight, no live booking, or a plane that is cancelled or gone. */
function aboardObstacle(db: TravelView, now: string, row: Booking): Obstacle | undefined {
  if (row.flight === null) return { code: 'not_a_flight', detail: `${row.booking} is for a hotel.` }
  const settled = settledObstacle(row, now)
  if (settled) return settled
  const flight = flightOf(db, row.flight)!
  if (isCancelled(db, row.flight)) return { code: 'flight_cancelled', detail: `${flight.name} was cancelled.` }
  return flownObstacle(flight, now)
}

/** Returns the obstacle to choosing any seat, if any. */
export function seatObstacle(db: TravelView, now: string, row: Booking): Obstacle | undefined {
  const obstacle = aboardObstacle(db, now, row)
  if (obstacle) return obstacle
  return row.fare === 'basic' ? { code: 'not_in_fare', detail: 'A basic fare has no choice of seat.' } : undefined
}

/** When a hold made now lapses. */
export function holdUntil(now: string): string {
  return instantOf(minuteOf(now) + LIMITS.holdMinutes)
}
