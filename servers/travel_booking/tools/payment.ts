import { z } from 'zod'
import { choose } from '../../kernel/choose.js'
import { timeOf } from '../../kernel/dates.js'
import { ref } from '../../kernel/fields.js'
import { statusAt } from '../availability.js'
import { payObstacle, refundOf } from '../booking-rules.js'
import { tool } from '../schema.js'

const listTravelBudgets = tool({
  name: 'list_travel_budgets',
  description:
    'List the travel budgets that bookings are paid from: what they have left in euros and whether they pay for business fares.',
  input: z.strictObject({}),
  output: z.object({
    found: z.int(),
    budgets: z.array(z.object({ name: z.string(), budget: ref('budget'), left: z.int(), business: z.boolean() })),
  }),
  annotations: { readOnly: true },
  sample: () => ({}),
  run(_, { db }) {
    const budgets = db.budgets.list()
    return { found: budgets.length, budgets }
  },
})

const payBooking = tool({
  name: 'pay_booking',
  description: 'Pay for a held booking from a travel budget before the hold lapses; this confirms it.',
  input: z.strictObject({
    booking: ref('booking'),
    budget: ref('budget', 'Budget that pays, from list_travel_budgets.'),
  }),
  output: z.object({
    title: z.string(),
    booking: ref('booking'),
    status: z.string(),
    paid: z.int(),
    budget_left: z.int(),
  }),
  annotations: { readOnly: false },
  sample({ db, random, bound, now }) {
    const payable = (booking: string, budget: string): boolean =>
      payObstacle(db, now(), db.bookings.get(booking)!, budget) === undefined
    const payers = bound.budget === undefined ? db.budgets.list().map(({ budget }) => budget) : [bound.budget]
    if (!payers.every((budget) => db.budgets.has(budget))) return null
    const row = choose(
      db.bookings,
      random,
      bound.booking,
      ({ booking, status }) => status === 'held' && payers.some((budget) => payable(booking, budget)),
    )
    if (!row) return null
    return { booking: row.booking, budget: random.pick(payers.filter((budget) => payable(row.booking, budget))) }
  },
  run(args, context) {
    const { unless, rowOf, db } = context
    const now = context.now()
    const row = rowOf('bookings', args.booking)
    const { budget, left } = rowOf('budgets', args.budget)
    unless(payObstacle(db, now, row, budget))
    const { left: budget_left } = db.budgets.update(budget, { left: left - row.price })
    const patch = { status: 'confirmed', held_until: null, paid: row.price, budget } as const
    return { ...db.bookings.update(row.booking, patch), budget_left }
  },
})

const getBooking = tool({
  name: 'get_booking',
  description: 'Show the status, price and details of a booking, and what cancelling it now would give back, in euros.',
  input: z.strictObject({ booking: ref('booking') }),
  output: z.object({
    title: z.string(),
    booking: ref('booking'),
    status: z.string(),
    price: z.int(),
    held_until: z.string().optional(),
    flight: ref('flight').optional(),
    fare: z.string().optional(),
    cabin: z.string().optional(),
    seat: z.string().optional(),
    extra_bags: z.int().optional(),
    hotel: ref('hotel').optional(),
    nights: z.int().optional(),
    refund: z.int().optional(),
  }),
  annotations: { readOnly: true },
  sample({ db, random, bound }) {
    const row = choose(db.bookings, random, bound.booking)
    return row ? { booking: row.booking } : null
  },
  run(args, context) {
    const { rowOf, db } = context
    const now = context.now()
    const row = rowOf('bookings', args.booking)
    const { title, booking, price, flight, fare, cabin, seat, hotel, nights } = row
    const status = statusAt(row, now)
    const given = refundOf(db, row, now)
    const details = { flight, fare, cabin, seat, hotel, nights }
    return {
      title,
      booking,
      status,
      price,
      ...Object.fromEntries(Object.entries(details).filter(([, value]) => value !== null)),
      ...(status === 'held' ? { held_until: timeOf(row.held_until!) } : {}),
      ...(row.extra_bags > 0 ? { extra_bags: row.extra_bags } : {}),
      ...('refund' in given ? { refund: given.refund } : {}),
    }
  },
})

export const paymentTools = [listTravelBudgets, payBooking, getBooking]
