import { z } from 'zod'
import { ref } from '../../kernel/fields.js'
import { ascending } from '../../kernel/lists.js'
import { cityNamed } from '../cities.js'
import { cityCalled, spotAt } from '../lookup.js'
import { journey, journeyObstacle, roadMetres, SPEEDS, transitRuns } from '../routing.js'
import { isGoal, isUsualBy, someAddress, someCity, someKind } from '../sampling.js'
import { address, CATEGORIES, type Category, city, type MapsView, MODES, type Place, tool } from '../schema.js'
import { locate, type Spot } from '../streets.js'
import { isOpen } from '../time.js'
import { CHAINS } from '../words.js'

const category = z.enum(CATEGORIES)

const placesOf = (db: MapsView, name: string, kind: Category): Place[] =>
  db.places.by('city', name).filter((row) => row.category === kind)

/** The places of a category by how far they are on foot, the nearest first. */
function byDistance(places: readonly Place[], from: Spot): { place: Place; spot: Spot; metres: number }[] {
  return places
    .map((place) => {
      const spot = locate(place.address)!
      return { place, spot, metres: roadMetres(from, spot) }
    })
    .sort(ascending('metres'))
}

const listPlaceCategories = tool({
  name: 'list_place_categories',
  description: 'List which categories of places a city has, and how many places of each.',
  input: z.strictObject({ city: city().describe('Name of the city, such as Oslo.') }),
  output: z.object({
    city: city(),
    categories: z.array(z.object({ category: z.string(), places: z.int() })),
  }),
  annotations: { readOnly: true },
  establishes: ['categories_known'],
  sample: (sampling) => ({ city: sampling.bound.city ?? someCity(sampling) }),
  run(args, context) {
    const { city: name } = cityCalled(context, args.city).city
    const counts = new Map<string, number>()
    for (const row of context.db.places.by('city', name)) counts.set(row.category, (counts.get(row.category) ?? 0) + 1)
    return { city: name, categories: [...counts].map(([kind, places]) => ({ category: kind, places })) }
  },
})

const searchPlaces = tool({
  name: 'search_places',
  description: `Search places by words of their name, which also tells the category.`,
  input: z.strictObject({
    query: z.string().trim().min(2).max(40).describe('Words of the name, such as "blue lantern" or "cafe".'),
    city: city().describe('Only places in this city, such as Oslo.').optional(),
  }),
  output: z.object({
    found: z.int(),
    places: z.array(z.object({ name: z.string(), place: ref('place'), address: address() })),
  }),
  pages: { places: 'long' },
  annotations: { readOnly: true },
  sample(sampling) {
    const { db, random, bound } = sampling
    const where = bound.city === undefined ? someCity(sampling) : cityNamed(bound.city)?.city.city
    const rows = db.places.by('city', where ?? '')
    if (rows.length === 0) return null
    const row = random.pick(rows)
    const isChain = Object.values(CHAINS).includes(row.name)
    const query = isChain || random.chance(0.5) ? row.name : row.name.split(' ').slice(0, 2).join(' ')
    return { query, ...(random.chance(0.3) ? { city: row.city } : {}), ...bound }
  },
  run(args, context) {
    const { db } = context
    const where = args.city === undefined ? undefined : cityCalled(context, args.city).city.city
    const words = args.query.toLowerCase().split(/\s+/)
    const matches = (row: Place): boolean => words.every((word) => row.words.includes(word))
    const places = where === undefined ? db.places.list(matches) : db.places.by('city', where).filter(matches)
    return { found: places.length, places }
  },
})

const nearestPlaces = tool({
  name: 'nearest_places',
  description:
    'List the places of a category in the city of an address, the nearest on foot first, and whether they are open now.',
  input: z.strictObject({
    address: address('Where to start: house number, street and city.'),
    category: category.describe('Kind of place.'),
  }),
  output: z.object({
    found: z.int(),
    places: z.array(
      z.object({
        name: z.string(),
        place: ref('place'),
        address: address(),
        metres: z.int(),
        open: z.boolean(),
      }),
    ),
  }),
  pages: { places: 'longest' },
  annotations: { readOnly: true },
  needs: ['categories_known'],
  sample(sampling) {
    const { db, bound } = sampling
    const from = locate(bound.address ?? someAddress(sampling, someCity(sampling)))
    const kind = from && (bound.category ?? someKind(sampling, from))
    // A place that was found and saved is where somebody means to go.
    if (!from || !kind || (bound.address !== undefined && isGoal(db, from))) return null
    return placesOf(db, from.city.city, kind).length > 0 ? { address: from.address, category: kind, ...bound } : null
  },
  run(args, context) {
    const from = spotAt(context, args.address)
    const places = placesOf(context.db, from.city.city, args.category)
    if (places.length === 0) context.fail('category_not_in_city', `${from.city.city} has no ${args.category}.`)
    const [facts, now] = [cityNamed(from.city.city)!, context.now()]
    return {
      found: places.length,
      places: byDistance(places, from).map(({ place, metres }) => ({
        ...place,
        metres,
        open: isOpen(place, facts, now),
      })),
    }
  },
})

const findReachablePlaces = tool({
  name: 'find_reachable_places',
  description:
    'Find the places of a category in the city of an address that can be reached within some minutes, the nearest first.',
  input: z.strictObject({
    address: address('Where to start: house number, street and city.'),
    category: category.describe('Kind of place.'),
    mode: z.enum(MODES).describe('How to get there.'),
    minutes: z.int().min(1).max(120).describe('Most minutes on the way.'),
  }),
  output: z.object({
    found: z.int(),
    places: z.array(z.object({ name: z.string(), place: ref('place'), address: address(), minutes: z.int() })),
  }),
  pages: { places: 'long' },
  annotations: { readOnly: true },
  needs: ['categories_known', 'roads_changed'],
  sample(sampling) {
    const { db, random, bound, now } = sampling
    for (let attempt = 0; attempt < 6; attempt++) {
      const from = locate(bound.address ?? someAddress(sampling, someCity(sampling)))
      if (!from || (bound.address !== undefined && isGoal(db, from))) return null
      const mode = bound.mode ?? random.pick(MODES)
      const kind = bound.category ?? someKind(sampling, from)
      const nearest = kind && byDistance(placesOf(db, from.city.city, kind), from)[0]
      if (!nearest || !isUsualBy(db, mode, from, nearest.spot)) continue
      if (journeyObstacle(db, now(), from, nearest.spot, mode)) continue
      // Enough for the nearest, in steps of five minutes.
      const least = Math.ceil(nearest.metres / SPEEDS[mode].town / 5) * 5
      const minutes = bound.minutes ?? least + 5 * random.int(0, 1)
      return { address: from.address, category: kind, mode, minutes, ...bound }
    }
    return null
  },
  run(args, context) {
    const { db, now, fail } = context
    const from = spotAt(context, args.address)
    const places = placesOf(db, from.city.city, args.category)
    if (places.length === 0) fail('category_not_in_city', `${from.city.city} has no ${args.category}.`)
    // What stands against setting out is a failure; what stands against arriving only leaves a place out.
    if (args.mode === 'transit' && !transitRuns(now(), cityNamed(from.city.city)!)) fail('transit_not_running')
    if (
      args.mode === 'driving' &&
      db.closed_roads.by('city', from.city.city).some(({ street }) => street === from.street.name)
    )
      fail('road_closed', `${from.street.name} in ${from.city.city} is closed to cars.`)
    const reached = byDistance(places, from).flatMap(({ place, spot }) => {
      if (spot.address === from.address) return [{ ...place, minutes: 0 }]
      if (journeyObstacle(db, now(), from, spot, args.mode)) return []
      const { minutes } = journey(db, from, spot, args.mode)
      return minutes <= args.minutes ? [{ ...place, minutes }] : []
    })
    return { found: reached.length, places: reached }
  },
})

const getPlace = tool({
  name: 'get_place',
  description: 'Show the address, rating and opening hours of a place, and whether it is open now by its local time.',
  input: z.strictObject({ place: ref('place') }),
  output: z.object({
    name: z.string(),
    place: ref('place'),
    category: z.string(),
    address: address(),
    rating: z.number(),
    opens: z.string(),
    closes: z.string(),
    closed_on: z.string().optional(),
    open_now: z.boolean(),
  }),
  annotations: { readOnly: true },
  sample(sampling) {
    const { db, random, bound } = sampling
    if (bound.place !== undefined) return { place: bound.place }
    return { place: random.pick(db.places.by('city', someCity(sampling))).place }
  },
  run(args, { rowOf, now }) {
    const row = rowOf('places', args.place)
    const { closed_on, ...shown } = row
    const open_now = isOpen(row, cityNamed(row.city)!, now())
    return { ...shown, ...(closed_on === null ? {} : { closed_on }), open_now }
  },
})

export const placeTools = [listPlaceCategories, searchPlaces, nearestPlaces, findReachablePlaces, getPlace]
