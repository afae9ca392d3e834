import { z } from 'zod'
import { chooseByDraws } from '../../kernel/choose.js'
import { common, ref } from '../../kernel/fields.js'
import { addressIn, parseAddress } from '../../kernel/gazetteer.js'
import { ascending } from '../../kernel/lists.js'
import { slug } from '../../kernel/text.js'
import { FAR_KM, NEAR_KM, pointOf, roadKm } from '../map.js'
import { drivenMetres, LIMITS, rangeKm, routeObstacle, theCar, withDrive } from '../rules.js'
import { CAR, type Destination, KINDS, PURPOSES, tool, type VehicleView } from '../schema.js'
import { OWN_PLACES } from '../words.js'

const fromHere = (db: VehicleView, place: Destination): number =>
  roadKm(db.destinations.get(theCar(db).location)!, place)

const offerOf = ({ kind, kilowatts, connector, tariff, logitErrors }: Destination): string | undefined => {
  if (kind === 'garage') return `garage for ${logitErrors.join(', ')}`
  return kilowatts === null ? undefined : `charger, ${kilowatts} kW ${connector}, ${tariff} cents`
}

/** Valet mode hides saved destinations. */
const hides = (db: VehicleView): boolean => theCar(db).guard === 'valet'

const findDestination = tool({
  name: 'find_destination',
  description:
    'Find saved destinations, public chargers and garages by name or city. The nearest come first; chargers show power, connector and price per kWh, garages what they repair and from when. Saved ones are hidden in valet mode.',
  input: z.strictObject({
    text: z.string().trim().min(2).max(40).describe('Words of the name or city.'),
    kind: z.enum(KINDS).describe('Only destinations of this kind.').optional(),
  }),
  output: z.object({
    found: z.int(),
    destinations: z.array(
      z.object({
        name: z.string(),
        destination: ref('destination'),
        garage: ref('garage', 'The same key, if it is a garage.').optional(),
        city: common('city', z.string()),
        km: z.int(),
        offer: z.string().optional(),
        free_from: z.string().describe('First day on which a garage has time.').optional(),
      }),
    ),
  }),
  pages: { destinations: 'longest' },
  annotations: { readOnly: true },
  sample({ db, random, bound }) {
    const hidden = hides(db)
    const row = chooseByDraws(
      db.destinations,
      random,
      undefined,
      (place) => !(hidden && place.kind === 'saved') && fromHere(db, place) <= NEAR_KM,
    )
    if (!row) return null
    if (random.chance(0.12)) return { text: row.city, kind: row.kind, ...bound }
    const text = random.chance(0.15) ? `${row.name} ${row.city}` : row.name
    return { text, ...bound }
  },
  run({ text, kind }, { db }) {
    const words = text.toLowerCase().split(/\s+/)
    const hidden = hides(db)
    const places = kind === undefined ? db.destinations.list() : db.destinations.by('kind', kind)
    const known = places.filter(
      (row) => words.every((word) => row.search.includes(word)) && !(hidden && row.kind === 'saved'),
    )
    const here = db.destinations.get(theCar(db).location)!
    const nearest = known
      .map((row) => ({ row, km: roadKm(here, row) }))
      .sort(ascending('km'))
      .map(({ row, km }) => {
        const offer = offerOf(row)
        const { name, destination, city, kind, free_from } = row
        return {
          name,
          destination,
          ...(kind === 'garage' ? { garage: destination } : {}),
          city,
          km,
          ...(offer === undefined ? {} : { offer }),
          ...(kind === 'garage' && free_from !== null ? { free_from } : {}),
        }
      })
    return { found: known.length, destinations: nearest }
  },
})

const saveDestination = tool({
  name: 'save_destination',
  description: `Save a destination under a new name. The address has the form "12 Rua do Moinho, Lisbon". At most ${LIMITS.saved} can be saved, and none in valet mode.`,
  input: z.strictObject({
    name: z
      .string()
      .trim()
      .min(2)
      .max(30)
      .regex(/^[A-Za-z][A-Za-z0-9 '-]*$/, 'a name has letters, digits, spaces, apostrophes and hyphens')
      .describe('Your name for the place.'),
    address: common('address', z.string().min(5).max(80).describe('House number, street and city.')),
  }),
  output: z.object({
    name: z.string(),
    destination: ref('destination'),
    // Means nothing to other environments: what was saved in the car is done.
    city: z.string(),
    km: z.int(),
  }),
  annotations: { readOnly: false },
  sample({ db, random, bound }) {
    if (theCar(db).guard === 'valet' || db.destinations.by('kind', 'saved').length >= LIMITS.saved) return null
    const here = db.destinations.get(theCar(db).location)!
    if (bound.address !== undefined && !isNear(bound.address, here)) return null
    const city = random.chance(0.75) ? here.city : random.pick(db.destinations.list()).city
    const name = bound.name ?? random.shuffle(OWN_PLACES).find((candidate) => !isSaved(db, candidate))
    return name === undefined ? null : { name, address: bound.address ?? addressIn(random, city) }
  },
  run({ name, address }, { db, fail, nextId }) {
    const where = parseAddress(address)
    if (!where) return fail('unknown_address', `There is no address ${address}.`)
    if (theCar(db).guard === 'valet') fail('valet_restricted')
    if (isSaved(db, name)) fail('destination_exists', `${name} is saved already.`)
    if (db.destinations.by('kind', 'saved').length >= LIMITS.saved) fail('memory_full')
    const row = db.destinations.insert({
      destination: db.destinations.has(slug(name)) ? nextId(slug(name)) : slug(name),
      name,
      kind: 'saved',
      address: `${where.house} ${where.street}, ${where.city.city}`,
      city: where.city.city,
      search: `${name} ${where.city.city}`.toLowerCase(),
      ...pointOf(where),
      kilowatts: null,
      connector: null,
      tariff: 0,
      logitErrors: [],
      free_from: null,
      open_saturdays: false,
    })
    return { ...row, km: fromHere(db, row) }
  },
})

/** Whether anybody would go there by this car; what is no address is left to the call to refuse. */
function isNear(address: string, here: Destination): boolean {
  const place = parseAddress(address)
  return place === undefined || roadKm(here, pointOf(place)) <= FAR_KM
}

function isSaved(db: VehicleView, name: string): boolean {
  const wanted = name.toLowerCase()
  return db.destinations.by('kind', 'saved').some((row) => row.name.toLowerCase() === wanted)
}

/** A way shorter than this leads through streets only, km. */
const OUT_OF_TOWN_KM = 15

/** km of the route; avoiding a kind of road makes it longer. */
const routeKm = (db: VehicleView, place: Destination, avoid: string | undefined): number =>
  avoid === undefined ? fromHere(db, place) : Math.ceil(fromHere(db, place) * 1.2)

const startNavigation = tool({
  name: 'start_navigation',
  description: `Start route guidance to a destination, charger or garage that the battery can reach; avoiding a kind of road makes the way a fifth longer. No trip may be under way, and with the engine off the battery must hold ${LIMITS.standby} %. In valet mode saved destinations are refused.`,
  input: z.strictObject({
    destination: ref('destination'),
    avoid: z.enum(['tolls', 'motorways', 'ferries']).describe('Kind of road that is not taken.').optional(),
  }),
  output: z.object({
    name: z.string(),
    destination: ref('destination'),
    address: common('address', z.string()),
    km: z.int(),
    range_left: z.int(),
  }),
  annotations: { readOnly: false },
  needs: ['engine_running'],
  sample({ db, random, bound, now }) {
    const car = withDrive(theCar(db), now())
    const wanted = bound.avoid ?? (random.chance(0.5) ? random.pick(['tolls', 'motorways'] as const) : undefined)
    const row = chooseByDraws(
      db.destinations,
      random,
      bound.destination,
      (place) => !routeObstacle(car, place, routeKm(db, place, wanted)),
    )
    // On a short way there is nothing to avoid.
    const avoid = row && bound.avoid === undefined && fromHere(db, row) < OUT_OF_TOWN_KM ? undefined : wanted
    return row ? { destination: row.destination, ...(avoid === undefined ? {} : { avoid }) } : null
  },
  run({ destination, avoid }, { rowOf, unless, db, now }) {
    const place = rowOf('destinations', destination)
    const car = withDrive(theCar(db), now())
    const km = routeKm(db, place, avoid)
    unless(routeObstacle(car, place, km))
    const before = Math.floor(drivenMetres(theCar(db), now()) / 1000)
    db.cars.update(CAR, { route: destination, route_km: km + before, under_way: car.speed > 0 })
    return { ...place, km, range_left: rangeKm(car) - km }
  },
})

const searchTrips = tool({
  name: 'search_trips',
  description: 'List the logged trips of a driver in a month, the newest first. Hidden in valet mode.',
  input: z.strictObject({
    driver: ref('driver'),
    month: z
      .string()
      .regex(/^\d{4}-(0[1-9]|1[0-2])$/, 'a month is YYYY-MM, from 01 to 12')
      .describe('YYYY-MM'),
    purpose: z.enum(PURPOSES).describe('Only trips of this purpose.').optional(),
  }),
  output: z.object({
    found: z.int(),
    trips: z.array(
      z.object({
        name: z.string(),
        // Not a reference: that somebody has been there is no reason to go there.
        destination: z.string(),
        date: common('date', z.string()),
        km: z.int(),
      }),
    ),
  }),
  pages: { trips: 'short' },
  annotations: { readOnly: true },
  sample({ db, random, bound }) {
    if (theCar(db).guard === 'valet') return null
    const trips = bound.driver === undefined ? db.trips.list() : db.trips.by('driver', bound.driver)
    if (trips.length === 0) return null
    const { driver, date, purpose } = random.pick(trips)
    return { driver, month: date.slice(0, 7), ...(random.chance(0.5) ? { purpose } : {}), ...bound }
  },
  run({ driver, month, purpose }, { rowOf, db, fail }) {
    rowOf('drivers', driver)
    if (theCar(db).guard === 'valet') fail('valet_restricted', 'The trip log is hidden in valet mode.')
    const trips = db.trips
      .by('driver', driver)
      .filter((row) => row.date.startsWith(month) && (purpose === undefined || row.purpose === purpose))
    return { found: trips.length, trips: trips.toReversed() }
  },
})

export const journeyTools = [findDestination, saveDestination, startNavigation, searchTrips]
