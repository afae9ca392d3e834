import type { Invariant } from '../kernel/define-environment.js'
import { covers, flightOf, isCancelled, roomsTaken, saltOf } from './availability.js'
import { clash, LIMITS, passportObstacle, REFUND } from './rules.js'
import { type Booking, CABINS, type TravelTables, type TravelView } from './schema.js'
import { DATES, dayOf } from './time.js'
import { seatsOffered } from './timetable.js'

const invariant = (
  name: string,
  check: (now: TravelView, seed: TravelView) => string | undefined,
): Invariant<TravelTables> => ({ name, check })

const live = ({ status }: Booking): boolean => status === 'held' || status === 'confirmed'

/** Live bookings by the value of a field that is not null. */
function grouped(db: TravelView, field: 'flight' | 'hotel' | 'traveller' | 'itinerary'): Map<string, Booking[]> {
  const groups = new Map<string, Booking[]>()
  for (const row of db.bookings.list(live)) {
    const key = row[field]
    if (key !== null) groups.set(key, [...(groups.get(key) ?? []), row])
  }
  return groups
}

const pairs = <T>(items: readonly T[]): [T, T][] =>
  items.flatMap((a, i) => items.slice(i + 1).map((b): [T, T] => [a, b]))

/** Where a booking may go from the status it had. */
const AHEAD: Readonly<Record<Booking['status'], readonly Booking['status'][]>> = {
  held: ['held', 'confirmed', 'cancelled', 'lapsed'],
  confirmed: ['confirmed', 'cancelled'],
  cancelled: ['cancelled'],
  lapsed: ['lapsed'],
}

/** What cancelling may have left of a booking, by what it was paid for and when it was cancelled. */
function keptOf(db: TravelView, { budget, flight, fare, price, nights }: Booking): number[] {
  if (budget === null) return [0]
  if (flight === null) return [0, Math.round(price / nights!)]
  const kept = price - Math.floor((price * REFUND[fare!]) / 100)
  return isCancelled(db, flight) ? [0, kept] : [kept]
}

export const travelInvariants = [
  invariant('what a budget has left and what its bookings have kept is its total', ({ budgets, bookings }) => {
    const wrong = budgets.find(({ budget, total, left }) => {
      const kept = bookings.by('budget', budget).reduce((sum, { paid }) => sum + paid, 0)
      return left < 0 || left + kept !== total
    })
    return wrong && `${wrong.budget} has ${wrong.left} of ${wrong.total} left`
  }),

  invariant('a booking is paid for in full, not at all, or in part once it is cancelled', ({ bookings }) => {
    const wrong = bookings.find(({ status, price, paid, budget, held_until }) => {
      if (status === 'confirmed') return paid !== price || budget === null || held_until !== null
      if (status === 'cancelled') return paid > price || (paid > 0 && budget === null)
      return paid !== 0 || budget !== null || held_until === null
    })
    return wrong?.booking
  }),

  invariant('a cancelled booking has kept what its rules keep, and nothing where nothing was paid', (db) => {
    const wrong = db.bookings.by('status', 'cancelled').find((row) => !keptOf(db, row).includes(row.paid))
    return wrong && `${wrong.booking} has kept ${wrong.paid} of ${wrong.price}`
  }),

  invariant('no cabin of a flight is overbooked', (db) => {
    for (const [key, rows] of grouped(db, 'flight')) {
      const flight = flightOf(db, key)
      if (!flight) return `${key} is not in the timetable`
      const full = CABINS.find((cabin) => rows.filter((row) => row.cabin === cabin).length > flight.free[cabin])
      if (full) return `${key} ${full}`
    }
    return undefined
  }),

  invariant('a chosen seat was free, is in the cabin of the booking and has one passenger', (db) => {
    for (const [key, rows] of grouped(db, 'flight')) {
      const flight = flightOf(db, key)!
      const seated = rows.filter(({ seat }) => seat !== null)
      if (new Set(seated.map(({ seat }) => seat)).size < seated.length) return `${key} has two in one seat`
      const wrong = seated.find(({ seat, cabin }) => !seatsOffered(flight, cabin!).includes(seat!))
      if (wrong) return `${wrong.booking} sits in ${wrong.seat}`
    }
    return undefined
  }),

  invariant('no hotel is overbooked on any night', (db) => {
    for (const [key, rows] of grouped(db, 'hotel')) {
      const hotel = db.hotels.get(key)!
      for (const day of DATES.keys()) {
        const own = rows.filter((row) => covers(row, day)).length
        if (own > 0 && own + roomsTaken(saltOf(db), hotel, day) > hotel.rooms) return `${key} on ${DATES[day]}`
      }
    }
    return undefined
  }),

  invariant('nobody is on two flights at once or has to be where no plane brings them in time', (db) => {
    for (const rows of grouped(db, 'traveller').values()) {
      const flights = rows.flatMap(({ flight }) => (flight === null ? [] : [flightOf(db, flight)!]))
      const obstacle = pairs(flights).flatMap(([a, b]) => clash(a, b) ?? [])[0]
      if (obstacle) return obstacle.detail ?? obstacle.code
    }
    return undefined
  }),

  invariant('nobody has two hotels for a night', (db) => {
    for (const [traveller, rows] of grouped(db, 'traveller')) {
      const stays = rows.filter(({ hotel }) => hotel !== null)
      const twice = pairs(stays).find(([a, b]) => {
        const first = dayOf(a.check_in!)!
        return Array.from({ length: a.nights! }, (_, i) => first + i).some((day) => covers(b, day))
      })
      if (twice) return `${traveller}: ${twice[0].booking} and ${twice[1].booking}`
    }
    return undefined
  }),

  invariant('who flies abroad has a passport for it', (db) => {
    const wrong = db.bookings.find(
      (row) =>
        live(row) &&
        row.flight !== null &&
        passportObstacle(db.travellers.get(row.traveller)!, flightOf(db, row.flight)!) !== undefined,
    )
    return wrong?.booking
  }),

  invariant('itineraries stay within their quotas and their bookings with their traveller', (db) => {
    const stray = db.bookings.find(({ itinerary, traveller }) => db.itineraries.get(itinerary)?.traveller !== traveller)
    if (stray) return stray.booking
    const long = [...grouped(db, 'itinerary')].find(([, rows]) => rows.length > LIMITS.bookings)
    if (long) return long[0]
    return db.travellers.find(({ traveller }) => db.itineraries.by('traveller', traveller).length > LIMITS.itineraries)
      ?.traveller
  }),

  invariant('bookings only move forward: held, confirmed, cancelled or lapsed', ({ bookings }, seed) => {
    const back = seed.bookings.find(({ booking, status }) => !AHEAD[status].includes(bookings.get(booking)!.status))
    return back?.booking
  }),

  invariant(
    'points are spent on upgrades only, and a fare pays for its cabin otherwise',
    ({ travellers, bookings }, seed) => {
      const spent = (view: TravelView['bookings'], traveller: string): number =>
        view.by('traveller', traveller).reduce((sum, row) => sum + row.points_spent, 0)
      const wrong = travellers.find(
        ({ traveller, points }) =>
          points < 0 ||
          points + spent(bookings, traveller) !==
            seed.travellers.get(traveller)!.points + spent(seed.bookings, traveller),
      )
      if (wrong) return `${wrong.traveller} has ${wrong.points} points`
      return bookings.find(({ fare, cabin }) => fare === 'business' && cabin !== 'business')?.booking
    },
  ),

  invariant(
    'a business fare is paid from a budget that covers it, and bags are within bounds',
    ({ budgets, bookings }) => {
      const wrong = bookings.find(
        ({ fare, budget, extra_bags }) =>
          extra_bags > LIMITS.extraBags ||
          (fare === 'business' && budget !== null && budgets.get(budget)?.business !== true),
      )
      return wrong?.booking
    },
  ),
]
