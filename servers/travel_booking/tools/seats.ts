import { z } from 'zod'
import { choose } from '../../kernel/choose.js'
import { ref } from '../../kernel/fields.js'
import { PAGE } from '../../kernel/lists.js'
import { flightOf, lapseHolds, saltOf, seatsToChoose } from '../availability.js'
import { seatObstacle } from '../booking-rules.js'
import { type Booking, type TravelView, tool } from '../schema.js'
import { cabinOfSeat, hashOf } from '../timetable.js'

const POSITIONS = ['window', 'aisle'] as const

const positionOf = (seat: string): (typeof POSITIONS)[number] => (/[AD]$/.test(seat) ? 'window' : 'aisle')

/** Free seats in the cabin of a flight booking. */
const seatsFor = (db: TravelView, row: Booking, now: string): string[] =>
  seatsToChoose(db, flightOf(db, row.flight!)!, row.cabin!, now)

/** Where the traveller of the booking likes to sit: looked for and chosen alike. */
const favourite = (db: TravelView, { traveller }: Booking): (typeof POSITIONS)[number] =>
  POSITIONS[hashOf(saltOf(db), 9, traveller.length, traveller.charCodeAt(0)) % POSITIONS.length]!

const findFreeSeats = tool({
  name: 'find_free_seats',
  description:
    'List free seats that a flight booking can choose, in its own cabin. Basic fares have no choice of seat.',
  input: z.strictObject({
    booking: ref('booking'),
    position: z.enum(POSITIONS).describe('Only seats there.').optional(),
  }),
  output: z.object({
    title: z.string(),
    booking: ref('booking'),
    cabin: z.string(),
    found: z.int(),
    seats: z.array(z.object({ seat: z.string(), position: z.string() })),
  }),
  pages: { seats: 'short' },
  annotations: { readOnly: true },
  sample({ db, random, bound, now }) {
    const row = choose(
      db.bookings,
      random,
      bound.booking,
      // Who has a seat does not look for one.
      (candidate) => candidate.seat === null && seatObstacle(db, now(), candidate) === undefined,
    )
    if (!row) return null
    return { booking: row.booking, ...(random.chance(0.3) ? { position: favourite(db, row) } : {}), ...bound }
  },
  run({ booking, position }, context) {
    const { unless, rowOf, db } = context
    const now = context.now()
    const row = rowOf('bookings', booking)
    unless(seatObstacle(db, now, row))
    const seats = seatsFor(db, row, now)
      .map((seat) => ({ seat, position: positionOf(seat) }))
      .filter((option) => position === undefined || option.position === position)
    return { title: row.title, booking, cabin: row.cabin!, found: seats.length, seats }
  },
})

const chooseSeat = tool({
  name: 'choose_seat',
  description:
    'Choose a seat for a flight booking, in the cabin that is booked. Basic fares have no choice of seat. An earlier choice is given up.',
  input: z.strictObject({
    booking: ref('booking'),
    seat: z
      .string()
      .regex(/^[0-9]{1,2}[A-Z]$/)
      .describe('Row and letter, such as 7C.'),
  }),
  output: z.object({
    title: z.string(),
    booking: ref('booking'),
    seat: z.string(),
    cabin: z.string(),
    position: z.string(),
  }),
  annotations: { readOnly: false },
  sample({ db, random, bound, now }) {
    const free = (row: Booking): string[] => seatsFor(db, row, now())
    const fits = (row: Booking): boolean =>
      seatObstacle(db, now(), row) === undefined &&
      (bound.seat === undefined ? free(row).length > 0 : free(row).includes(bound.seat))
    const row = choose(db.bookings, random, bound.booking, fits)
    if (!row) return null
    // One of the first that a search shows, and where this traveller likes to sit.
    const seats = free(row)
    const liked = seats.filter((seat) => positionOf(seat) === favourite(db, row))
    return {
      booking: row.booking,
      seat: bound.seat ?? random.pick((liked.length > 0 ? liked : seats).slice(0, PAGE.short)),
    }
  },
  run({ booking, seat }, context) {
    const { unless, rowOf, db, fail } = context
    const now = context.now()
    lapseHolds(db, now)
    const row = rowOf('bookings', booking)
    unless(seatObstacle(db, now, row))
    const cabin = cabinOfSeat(seat) ?? fail('no_such_seat', `Planes have no seat ${seat}.`)
    if (cabin !== row.cabin) fail('wrong_cabin', `${seat} is in ${cabin}, ${booking} in ${row.cabin}.`)
    if (row.seat !== seat && !seatsFor(db, row, now).includes(seat)) fail('seat_taken', `${seat} is taken.`)
    const { title } = db.bookings.update(booking, { seat })
    return { title, booking, seat, cabin, position: positionOf(seat) }
  },
})

export const seatTools = [findFreeSeats, chooseSeat]
