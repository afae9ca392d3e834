import { z } from 'zod'
import { choose } from '../../kernel/choose.js'
import { ref } from '../../kernel/fields.js'
import { flightOf, isCancelled, lapseHolds, saltOf } from '../availability.js'
import { baggageObstacle, changeCost, changeObstacle, refundOf, upgradeObstacle } from '../booking-rules.js'
import { flightCalled } from '../lookup.js'
import { flightTitle, LIMITS } from '../rules.js'
import { type Booking, type TravelDb, tool } from '../schema.js'
import { type Flight, flightsOn } from '../timetable.js'

/** The booking at a higher price; if it is paid for, the budget pays the difference at once. */
function surcharge(db: TravelDb, { price, paid, budget }: Booking, amount: number): Partial<Booking> {
  if (budget === null) return { price: price + amount }
  db.budgets.update(budget, { left: db.budgets.get(budget)!.left - amount })
  return { price: price + amount, paid: paid + amount }
}

const addBaggage = tool({
  name: 'add_baggage',
  description: `Add checked bags to a flight booking, ${LIMITS.bagFee} euros each, at most ${LIMITS.extraBags} in all. A booking that is paid for has them charged to its budget at once.`,
  input: z.strictObject({ booking: ref('booking'), bags: z.int().min(1).max(10).describe('Bags to add.') }),
  output: z.object({ title: z.string(), booking: ref('booking'), extra_bags: z.int(), price: z.int() }),
  annotations: { readOnly: false },
  sample({ db, random, bound, now }) {
    const least = bound.bags ?? 1
    const row = choose(
      db.bookings,
      random,
      bound.booking,
      (candidate) => baggageObstacle(db, now(), candidate, least) === undefined,
    )
    if (!row) return null
    const fitting = [1, 1, 1, 1, 2, 2, 3].filter((bags) => baggageObstacle(db, now(), row, bags) === undefined)
    return { booking: row.booking, bags: bound.bags ?? random.pick(fitting) }
  },
  run({ booking, bags }, context) {
    const { unless, rowOf, db } = context
    const row = rowOf('bookings', booking)
    unless(baggageObstacle(db, context.now(), row, bags))
    const patch = surcharge(db, row, bags * LIMITS.bagFee)
    return db.bookings.update(booking, { ...patch, extra_bags: row.extra_bags + bags })
  },
})

const upgradeBooking = tool({
  name: 'upgrade_booking',
  description: `Upgrade a confirmed standard or flex booking to business class. Gold travellers pay nothing, silver ones ${LIMITS.upgradePoints} points, others cannot. The seat has to be chosen anew.`,
  input: z.strictObject({ booking: ref('booking') }),
  output: z.object({ title: z.string(), booking: ref('booking'), cabin: z.string(), points_left: z.int() }),
  annotations: { readOnly: false },
  sample({ db, random, bound, now }) {
    const row = choose(
      db.bookings,
      random,
      bound.booking,
      (candidate) => upgradeObstacle(db, now(), candidate) === undefined,
    )
    return row ? { booking: row.booking } : null
  },
  run({ booking }, context) {
    const { unless, rowOf, db } = context
    const now = context.now()
    lapseHolds(db, now)
    const row = rowOf('bookings', booking)
    unless(upgradeObstacle(db, now, row))
    const { tier, points } = db.travellers.get(row.traveller)!
    const spent = tier === 'gold' ? 0 : LIMITS.upgradePoints
    db.travellers.update(row.traveller, { points: points - spent })
    const { title } = db.bookings.update(booking, {
      cabin: 'business',
      seat: null,
      points_spent: row.points_spent + spent,
    })
    return { title, booking, cabin: 'business', points_left: points - spent }
  },
})

const changeFlight = tool({
  name: 'change_flight',
  description: `Move a confirmed booking to another flight of the same route. Standard fares pay ${LIMITS.changeFee} euros and flex and business nothing, but all pay what the new flight is dearer; basic fares cannot change. If the airline cancelled the old flight, every fare changes for free. The seat has to be chosen anew.`,
  input: z.strictObject({ booking: ref('booking'), flight: ref('flight') }),
  output: z.object({
    title: z.string(),
    booking: ref('booking'),
    flight: ref('flight'),
    charged: z.int(),
    price: z.int(),
  }),
  annotations: { readOnly: false, destructive: true },
  needs: ['passport_renewed'],
  sample({ db, random, bound, now }) {
    const target = bound.flight === undefined ? undefined : flightOf(db, bound.flight)
    if (bound.flight !== undefined && !target) return null
    const changeable = (row: Booking): boolean =>
      row.flight !== null && row.status === 'confirmed' && (row.fare !== 'basic' || isCancelled(db, row.flight))
    const onRoute = (row: Booking): boolean =>
      target === undefined || changeObstacle(db, now(), row, target) === undefined
    for (let attempt = 0; attempt < 8; attempt++) {
      const row = choose(db.bookings, random, bound.booking, (candidate) => changeable(candidate) && onRoute(candidate))
      if (!row) return null
      const old = flightOf(db, row.flight!)!
      const options = [-2, -1, 0, 1, 2, 3].flatMap((days): Flight[] =>
        flightsOn(saltOf(db), old.from, old.to, old.day + days),
      )
      const flight = target ?? random.shuffle(options).find((option) => !changeObstacle(db, now(), row, option))
      if (flight) return { booking: row.booking, flight: flight.flight }
    }
    return null
  },
  run(args, context) {
    const { unless, rowOf, db } = context
    const now = context.now()
    lapseHolds(db, now)
    const row = rowOf('bookings', args.booking)
    const flight = flightCalled(context, args.flight)
    unless(changeObstacle(db, now, row, flight))
    const charged = changeCost(db, row, flight)
    const patch = { ...surcharge(db, row, charged), flight: flight.flight, title: flightTitle(flight), seat: null }
    return { ...db.bookings.update(row.booking, patch), flight: flight.flight, charged }
  },
})

const cancelBooking = tool({
  name: 'cancel_booking',
  description: `Cancel a booking; what its rules refund returns to the budget. Flights: basic nothing, standard half, flex and business all, every fare all if the airline cancelled the flight. Hotels: all until ${LIMITS.hotelFreeDays} days before the stay, then all but the first night.`,
  input: z.strictObject({ booking: ref('booking') }),
  output: z.object({ title: z.string(), booking: ref('booking'), status: z.string(), refund: z.int() }),
  annotations: { readOnly: false, destructive: true },
  sample({ db, random, bound, now }) {
    const row = choose(db.bookings, random, bound.booking, (candidate) => 'refund' in refundOf(db, candidate, now()))
    return row ? { booking: row.booking } : null
  },
  run({ booking }, context) {
    const { rowOf, db, fail } = context
    const row = rowOf('bookings', booking)
    const given = refundOf(db, row, context.now())
    if (!('refund' in given)) return fail(given.code, given.detail)
    const { refund } = given
    if (row.budget !== null) db.budgets.update(row.budget, { left: db.budgets.get(row.budget)!.left + refund })
    const patch = { status: 'cancelled', held_until: null, paid: row.paid - refund, seat: null } as const
    return { ...db.bookings.update(booking, patch), refund }
  },
})

export const changeTools = [addBaggage, upgradeBooking, changeFlight, cancelBooking]
