import { CITIES, type City, HOUSES_PER_STREET } from '../kernel/gazetteer.js'
import { deriveSeed, seededRandom } from '../kernel/random.js'
import { streetsOf } from '../kernel/streets.js'
import { CITY_FACTS } from './cities.js'

/**
 * A straight street. Half of a city's streets run east and west, the others north and south, and each of the first
 * crosses each of the second. Metres are counted from the centre of the city, to the east and to the north.
 */
export interface Street {
  readonly name: string
  readonly runs: 'east' | 'north'
  /** How far north (`runs` east) or east (`runs` north) of the centre it lies, metres. */
  readonly line: number
}

/** An address on the map. */
export interface Spot {
  /** As the gazetteer writes it: `12 Rua do Moinho, Lisbon`. */
  readonly address: string
  readonly city: City
  readonly street: Street
  /** Metres east and north of the centre. */
  readonly x: number
  readonly y: number
}

interface CityPlan {
  readonly city: City
  /** By name in lower case. */
  readonly streets: ReadonlyMap<string, Street>
  readonly east: readonly Street[]
  readonly north: readonly Street[]
  readonly elevation: number
  /** Rise in metres per kilometre to the east and to the north. */
  readonly slope: readonly [number, number]
  readonly metresPerLongitude: number
}

const METRES_PER_LATITUDE = 111_320
const EARTH_RADIUS = 6_371_000
const HOUSE_SPACING = 45
const FIRST_HOUSE = -2678
/** Streets cross midway between two houses, so that no two addresses are nearer than 30 m and coordinates tell them apart. */
const FIRST_GAP = FIRST_HOUSE + 22
/** Coordinates farther than this from every address belong to none, metres. */
const NEAR_ENOUGH = 300

/** The plan of a city is the same in every environment: addresses that other environments hand out can be found in each. */
function plan(city: City, elevation: number): CityPlan {
  const random = seededRandom(deriveSeed('maps', 'streets', city.city))
  const names = random.shuffle(streetsOf(city.city))
  const half = names.length / 2
  const street = (name: string, place: number): Street => ({
    name,
    runs: place < half ? 'east' : 'north',
    line: FIRST_GAP + HOUSE_SPACING * (6 + 5 * (place % half) + random.int(0, 2)),
  })
  const streets = names.map(street)
  const steep = Math.min(8, Math.floor(elevation / 6))
  return {
    city,
    streets: new Map(streets.map((row) => [row.name.toLowerCase(), row])),
    east: streets.slice(0, half),
    north: streets.slice(half),
    elevation,
    slope: [random.int(-steep, steep), random.int(-steep, steep)],
    metresPerLongitude: Math.round(METRES_PER_LATITUDE * Math.cos((city.latitude * Math.PI) / 180)),
  }
}

const PLANS: readonly CityPlan[] = CITY_FACTS.map(({ city, elevation }) => plan(city, elevation))
const BY_CITY = new Map(PLANS.map((row) => [row.city.city.toLowerCase(), row]))
const planOf = (city: City): CityPlan => BY_CITY.get(city.city.toLowerCase())!

function spot(city: City, street: Street, house: number): Spot {
  const along = FIRST_HOUSE + HOUSE_SPACING * (house - 1)
  const address = `${house} ${street.name}, ${city.city}`
  return street.runs === 'east'
    ? { address, city, street, x: along, y: street.line }
    : { address, city, street, x: street.line, y: along }
}

const ADDRESS = /^(\d{1,3}) ([^,]+), *([^,]+)$/

/**
 * Returns the address on the map, or nothing if the map does not have it. Accepts the same addresses as `parseAddress`,
 * but uses indexes.
 */
export function locate(address: string): Spot | undefined {
  const match = ADDRESS.exec(address.trim())
  if (!match) return undefined
  const known = BY_CITY.get(match[3]!.toLowerCase())
  const street = known?.streets.get(match[2]!.toLowerCase())
  const house = Number(match[1])
  return known && street && house >= 1 && house <= HOUSES_PER_STREET ? spot(known.city, street, house) : undefined
}

/** Returns the street of that name in the city, ignoring case. */
export function streetNamed(city: City, name: string): Street | undefined {
  return planOf(city).streets.get(name.trim().toLowerCase())
}

/** The streets of a city that cross the given one. */
export function crossings(city: City, street: Street): readonly Street[] {
  const { east, north } = planOf(city)
  return street.runs === 'east' ? north : east
}

/** Where the trains stop and the motorways begin. */
export function station(city: City): Spot {
  return STATIONS.get(city.city)!
}

const STATIONS = new Map(CITIES.map((city) => [city.city, locate(`60 ${streetsOf(city.city)[0]}, ${city.city}`)!]))

/** Degrees. */
function position({ city, x, y }: Spot): { latitude: number; longitude: number } {
  return {
    latitude: city.latitude + y / METRES_PER_LATITUDE,
    longitude: city.longitude + x / planOf(city).metresPerLongitude,
  }
}

/** Degrees to four decimals, some ten metres. */
export function coordinates(spot: Spot): { latitude: number; longitude: number } {
  const { latitude, longitude } = position(spot)
  return { latitude: Math.round(latitude * 10_000) / 10_000, longitude: Math.round(longitude * 10_000) / 10_000 }
}

/** Metres of the great circle between two addresses, rounded up, which keeps the triangle inequality. */
export function straightMetres(from: Spot, to: Spot): number {
  const [a, b] = [position(from), position(to)]
  const radians = Math.PI / 180
  const half = (degrees: number): number => Math.sin((degrees * radians) / 2) ** 2
  const chord =
    half(b.latitude - a.latitude) +
    Math.cos(a.latitude * radians) * Math.cos(b.latitude * radians) * half(b.longitude - a.longitude)
  return Math.ceil(2 * EARTH_RADIUS * Math.asin(Math.sqrt(chord)))
}

/** Metres above the sea. */
export function elevation({ city, x, y }: Spot): number {
  const { elevation: centre, slope } = planOf(city)
  return centre + Math.round((slope[0] * x + slope[1] * y) / 1000)
}

/** The address nearest to a point and how many metres off it is, unless none is near. */
export function addressNear(latitude: number, longitude: number): { spot: Spot; metres: number } | undefined {
  for (const { city, metresPerLongitude, streets } of PLANS) {
    const y = (latitude - city.latitude) * METRES_PER_LATITUDE
    const x = (longitude - city.longitude) * metresPerLongitude
    if (Math.abs(x) > 4000 || Math.abs(y) > 4000) continue
    let best = Number.POSITIVE_INFINITY
    let found: [Street, number] | undefined
    for (const street of streets.values()) {
      const [along, across] = street.runs === 'east' ? [x, y] : [y, x]
      const house = Math.min(HOUSES_PER_STREET, Math.max(1, 1 + Math.round((along - FIRST_HOUSE) / HOUSE_SPACING)))
      const off = along - FIRST_HOUSE - HOUSE_SPACING * (house - 1)
      const squared = off * off + (across - street.line) * (across - street.line)
      if (squared >= best) continue
      best = squared
      found = [street, house]
    }
    if (!found || best > NEAR_ENOUGH * NEAR_ENOUGH) return undefined
    return { spot: spot(city, ...found), metres: Math.round(Math.sqrt(best)) }
  }
  return undefined
}
