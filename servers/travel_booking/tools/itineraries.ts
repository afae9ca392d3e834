import { z } from 'zod'
import { choose } from '../../kernel/choose.js'
import { ref } from '../../kernel/fields.js'
import { CITIES } from '../../kernel/gazetteer.js'
import { statusAt } from '../availability.js'
import { liveBookings } from '../booking-rules.js'
import { LIMITS } from '../rules.js'
import { isPlanning } from '../sampling.js'
import { tool } from '../schema.js'
import { PURPOSES } from '../words.js'

const listItineraries = tool({
  name: 'list_itineraries',
  description: 'List the itineraries of a traveller and how many bookings each has.',
  input: z.strictObject({ traveller: ref('traveller') }),
  output: z.object({
    found: z.int(),
    itineraries: z.array(z.object({ title: z.string(), itinerary: ref('itinerary'), bookings: z.int() })),
  }),
  annotations: { readOnly: true },
  sample({ db, random, bound }) {
    // Who has just set up a trip goes on with that one.
    if (isPlanning({ db })) return null
    if (bound.traveller !== undefined) return { traveller: bound.traveller }
    return { traveller: random.pick(db.itineraries.list()).traveller }
  },
  run({ traveller }, context) {
    context.rowOf('travellers', traveller)
    const rows = context.db.itineraries.by('traveller', traveller)
    const itineraries = rows.map(({ title, itinerary }) => ({
      title,
      itinerary,
      bookings: liveBookings(context.db, itinerary, context.now()).length,
    }))
    return { found: rows.length, itineraries }
  },
})

const createItinerary = tool({
  name: 'create_itinerary',
  description: `Begin an itinerary for a traveller, to which flights and hotels are booked. A traveller can have ${LIMITS.itineraries}.`,
  input: z.strictObject({
    traveller: ref('traveller'),
    title: z
      .string()
      .trim()
      .regex(/^[A-Za-z][A-Za-z0-9 '-]{2,39}$/, 'letters, digits, spaces, hyphens and apostrophes, 3 to 40')
      .describe('What the trip is called.'),
  }),
  output: z.object({ title: z.string(), itinerary: ref('itinerary'), traveller: ref('traveller') }),
  annotations: { readOnly: false },
  sample({ db, random, bound }) {
    const row = choose(
      db.travellers,
      random,
      bound.traveller,
      ({ traveller }) => db.itineraries.by('traveller', traveller).length < LIMITS.itineraries,
    )
    if (!row) return null
    const title = `${random.pick(CITIES).city} ${random.pick(PURPOSES)}`
    const taken = db.itineraries.by('traveller', row.traveller).some((other) => other.title === title)
    return taken ? null : { traveller: row.traveller, title, ...bound }
  },
  run({ traveller, title }, { rowOf, db, fail, nextId }) {
    const { name } = rowOf('travellers', traveller)
    const rows = db.itineraries.by('traveller', traveller)
    if (rows.some((row) => row.title.toLowerCase() === title.toLowerCase()))
      fail('title_taken', `${name} has ${title}.`)
    if (rows.length >= LIMITS.itineraries) fail('too_many_itineraries', `${name} has ${rows.length} itineraries.`)
    return db.itineraries.insert({ itinerary: nextId('trip'), title, traveller })
  },
})

const getItinerary = tool({
  name: 'get_itinerary',
  description: 'Show the held and confirmed bookings of an itinerary and what they cost together, in euros.',
  input: z.strictObject({ itinerary: ref('itinerary') }),
  output: z.object({
    title: z.string(),
    itinerary: ref('itinerary'),
    total: z.int(),
    bookings: z.array(z.object({ title: z.string(), booking: ref('booking'), status: z.string() })),
  }),
  annotations: { readOnly: true },
  sample({ db, random, bound, now }) {
    const isBooked = (itinerary: string): boolean => liveBookings(db, itinerary, now()).length > 0
    // Where nothing is booked there is nothing to see.
    const row = choose(db.itineraries, random, bound.itinerary, ({ itinerary }) => isBooked(itinerary))
    return row ? { itinerary: row.itinerary } : null
  },
  run(args, context) {
    const { title, itinerary } = context.rowOf('itineraries', args.itinerary)
    const now = context.now()
    const rows = liveBookings(context.db, itinerary, now)
    return {
      title,
      itinerary,
      total: rows.reduce((sum, { price }) => sum + price, 0),
      bookings: rows.map((row) => ({ title: row.title, booking: row.booking, status: statusAt(row, now) })),
    }
  },
})

export const itineraryTools = [listItineraries, createItinerary, getItinerary]
