import { addDays } from '../kernel/dates.js'
import { flightMinutes } from './distances.js'
import type { Obstacle, Traveller } from './schema.js'
import { clock, DATES } from './time.js'
import { type Cabin, cityAt, type Fare, type Flight, isIntercontinental } from './timetable.js'

/** The agency's limits: name, value, unit. */
export const LIMITS = {
  /** How long a booking is held unpaid. Minutes. */
  holdMinutes: 30,
  /** Flights cannot be booked or changed to later than this before departure. Minutes. */
  closesBefore: 60,
  /** Between landing and the next take-off at the same airport. Minutes. */
  connection: 45,
  /** The longest wait that a search for connecting flights proposes. Minutes. */
  layover: 360,
  /** How long a passport must outlast a flight to another continent. Days. */
  passportDays: 180,
  /** Live bookings of an itinerary. */
  bookings: 5,
  /** Itineraries of a traveller. */
  itineraries: 3,
  /** Checked bags beyond those that the fare includes. */
  extraBags: 3,
  /** Per extra bag. Euros. */
  bagFee: 40,
  /** For changing a standard fare. Euros. */
  changeFee: 60,
  /** For an upgrade with silver status; with gold it costs nothing. */
  upgradePoints: 5000,
  /** A hotel is cancelled free of charge until this many days before check-in; later the first night is kept. */
  hotelFreeDays: 2,
} as const

/** Share of the price that comes back when a flight is cancelled, per cent. */
export const REFUND: Readonly<Record<Fare, number>> = { basic: 0, standard: 50, flex: 100, business: 100 }

export function cabinOf(fare: Fare): Cabin {
  return fare === 'business' ? 'business' : 'economy'
}

/** `Lisbon to Oslo 5 March`. */
export function flightTitle({ from, to, day }: Flight): string {
  return `${cityAt(from).city} to ${cityAt(to).city} ${spokenDate(DATES[day]!)}`
}

/** `Grand Anchor Hotel 5 March`. */
export function stayTitle(hotel: string, date: string): string {
  return `${hotel} ${spokenDate(date)}`
}

/** `5 March`; the timetable has no other months than March and April. */
function spokenDate(date: string): string {
  return `${Number(date.slice(8))} ${date.slice(5, 7) === '03' ? 'March' : 'April'}`
}

/**
 * Returns the obstacle that the traveller's passport is to a flight, if any. Flights within a country need no passport.
 */
export function passportObstacle(
  { name, passport_expires }: Traveller,
  { from, to, day }: Flight,
): Obstacle | undefined {
  if (cityAt(from).country === cityAt(to).country) return undefined
  const date = DATES[day]!
  const needed = isIntercontinental(from, to) ? addDays(date, LIMITS.passportDays) : date
  if (passport_expires >= needed) return undefined
  return {
    code: 'passport_expired',
    detail: `The passport of ${name} expires on ${passport_expires} and must be valid until ${needed}.`,
  }
}

/**
 * Returns why one person cannot take both flights, if so. The rule looks at two flights alone, so that giving up a third
 * never breaks the rule. A person who lands elsewhere needs at least the time to fly over.
 */
export function clash(a: Flight, b: Flight): Obstacle | undefined {
  const [first, second] = a.departs <= b.departs ? [a, b] : [b, a]
  if (second.departs < first.arrives)
    return { code: 'overlapping_flight', detail: `${flightTitle(first)} and ${flightTitle(second)} overlap.` }
  const over = first.to === second.from ? 0 : LIMITS.connection + flightMinutes(first.to, second.from)
  if (second.departs - first.arrives >= LIMITS.connection + over) return undefined
  const [landed, leaves] = [clock(first.arrives, first.day), clock(second.departs, first.day)]
  return {
    code: 'impossible_connection',
    detail: `Who lands in ${cityAt(first.to).city} at ${landed} cannot leave ${cityAt(second.from).city} at ${leaves}.`,
  }
}
