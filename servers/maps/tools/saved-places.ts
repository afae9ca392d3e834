import { z } from 'zod'
import { spotAt } from '../lookup.js'
import { someAddress, someCity } from '../sampling.js'
import { address, LIMITS, tool } from '../schema.js'
import { SAVED_AS, SAVED_NAMES } from '../words.js'

const savePlace = tool({
  name: 'save_place',
  description: `Save an address under a name. An address has one name and a name marks one address, so either replaces what was saved before. At most ${LIMITS.savedPlaces} can be saved.`,
  input: z.strictObject({
    address: address('House number, street and city, such as 12 Rua do Moinho, Lisbon.'),
    name: z
      .string()
      .trim()
      .regex(/^[A-Za-z][A-Za-z0-9 '-]{1,23}$/, 'letters, digits, spaces, hyphens and apostrophes, at most 24')
      .describe('Your name for it, such as Home.'),
  }),
  output: z.object({
    name: z.string(),
    address: address(),
    saved: z.int().describe('Number of saved addresses.'),
    replaced: z.string().optional().describe('The address or name that gave way.'),
  }),
  annotations: { readOnly: false, destructive: true, idempotent: true },
  sample(sampling) {
    const { db, random, bound } = sampling
    const where = bound.address ?? someAddress(sampling, someCity(sampling))
    if (bound.name === undefined && db.saved_places.has(where)) return null
    const place = db.places.find((row) => row.address === where)
    const full = db.saved_places.count() >= LIMITS.savedPlaces && !db.saved_places.has(where)
    const used = db.saved_places.list().map(({ name }) => name)
    // A place is saved as what it is; what lies at any other address only its user knows.
    const wanted = place ? SAVED_AS[place.category] : SAVED_NAMES
    const names = full ? wanted.filter((name) => used.includes(name)) : wanted.filter((name) => !used.includes(name))
    if (bound.name === undefined && names.length === 0) return null
    const name = bound.name ?? random.pick(names)
    return full && !used.includes(name) ? null : { address: where, name, ...bound }
  },
  run(args, context) {
    const { db, fail } = context
    const { address: where } = spotAt(context, args.address)
    const name = args.name.replaceAll(/\s+/g, ' ')
    const earlier = db.saved_places.get(where)
    const rows = db.saved_places.list()
    const marked = rows.find((row) => row.name.toLowerCase() === name.toLowerCase() && row.address !== where)
    if (!earlier && !marked && rows.length >= LIMITS.savedPlaces)
      fail('too_many_saved_places', `${LIMITS.savedPlaces} places are saved: use a name that one of them has.`)
    if (marked) db.saved_places.remove(marked.address)
    if (earlier) db.saved_places.update(where, { name })
    else db.saved_places.insert({ address: where, name })
    const renamed = earlier && earlier.name !== name ? earlier.name : undefined
    const replaced = marked?.address ?? renamed
    const saved = rows.length + (earlier ? 0 : 1) - (marked ? 1 : 0)
    return { name, address: where, saved, ...(replaced === undefined ? {} : { replaced }) }
  },
})

const listSavedPlaces = tool({
  name: 'list_saved_places',
  description: `List saved addresses with their names, those saved last first.`,
  input: z.strictObject({
    name: z.string().trim().min(2).max(24).optional().describe('Only places with this in their name.'),
  }),
  output: z.object({ found: z.int(), places: z.array(z.object({ name: z.string(), address: address() })) }),
  pages: { places: 'long' },
  annotations: { readOnly: true },
  sample({ db, random, bound }) {
    const rows = db.saved_places.list()
    return { ...(rows.length > 0 && random.chance(0.4) ? { name: random.pick(rows).name } : {}), ...bound }
  },
  run({ name }, { db }) {
    const part = name?.toLowerCase() ?? ''
    const rows = db.saved_places.list((row) => row.name.toLowerCase().includes(part)).reverse()
    return { found: rows.length, places: rows }
  },
})

export const savedPlaceTools = [savePlace, listSavedPlaces]
