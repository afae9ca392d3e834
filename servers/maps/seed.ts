import type { SeedContext, SeedRows } from '../kernel/define-environment.js'
import { addressIn, CITIES, type City } from '../kernel/gazetteer.js'
import type { SeededRandom } from '../kernel/random.js'
import { streetsOf } from '../kernel/streets.js'
import { metresBetween } from './network.js'
import { CATEGORIES, type Category, type ClosedRoad, type MapsTables, type Place, type SavedPlace } from './schema.js'
import { CHAINS, KIND_NAMES, NAME_FIRST, NAME_SECOND, SAVED_NAMES } from './words.js'

/** Kinds of place that a city has, of all there are. */
const KINDS_PER_CITY = 5

/** Every city of the gazetteer with places of five kinds, some closed roads, and a user who has saved a few addresses. */
export function seedMaps({ random, home }: SeedContext): SeedRows<MapsTables> {
  return {
    places: CITIES.flatMap((city) => seedPlaces(random, city)),
    saved_places: seedSavedPlaces(random, home),
    closed_roads: seedClosedRoads(random),
  }
}

function seedPlaces(random: SeededRandom, city: City): Place[] {
  const kinds = random
    .sample(CATEGORIES, KINDS_PER_CITY)
    .flatMap((category) => Array<Category>(random.pick([1, 1, 2, 2, 3])).fill(category))
  const firsts = random.sample(NAME_FIRST, kinds.length)
  const seconds = random.sample(NAME_SECOND, kinds.length)
  const taken = new Set<string>()
  return kinds.map((category, i) => {
    const chain = CHAINS[category]
    const isChain = chain !== undefined && kinds.indexOf(category) === i && random.chance(0.3)
    const name = isChain ? chain : `${firsts[i]} ${seconds[i]} ${KIND_NAMES[category]}`
    let address = addressIn(random, city.city)
    while (taken.has(address)) address = addressIn(random, city.city)
    taken.add(address)
    return {
      place: placeKey(name, city),
      name,
      category,
      city: city.city,
      address,
      rating: random.int(26, 49) / 10,
      ...hours(random, category),
      words: name.toLowerCase(),
    }
  })
}

/** `Blue Lantern Cafe` in Lisbon -> `blue-lantern-cafe-lis`. */
export function placeKey(name: string, { airport }: City): string {
  return `${name} ${airport}`.toLowerCase().replaceAll(' ', '-')
}

function hours(random: SeededRandom, category: Category): Pick<Place, 'opens' | 'closes' | 'closed_on'> {
  const clock = (hour: number) => `${String(hour).padStart(2, '0')}:00`
  const between = (opens: number, closes: number) => ({ opens: clock(opens), closes: clock(closes) })
  switch (category) {
    case 'charger':
    case 'park':
      return { ...between(0, 24), closed_on: null }
    case 'museum':
    case 'library':
      return {
        ...between(random.int(9, 11), random.int(16, 19)),
        closed_on: random.pick(['Monday', 'Monday', 'Tuesday', 'Sunday']),
      }
    case 'cinema':
      return { ...between(random.int(12, 15), random.int(22, 24)), closed_on: null }
    case 'restaurant':
      return {
        ...between(random.int(11, 13), random.int(21, 23)),
        closed_on: random.chance(0.5) ? random.pick(['Sunday', 'Monday', 'Tuesday']) : null,
      }
    case 'gym':
      return { ...between(random.int(5, 7), random.int(21, 23)), closed_on: null }
    default:
      return { ...between(random.int(6, 9), random.int(17, 20)), closed_on: random.chance(0.6) ? 'Sunday' : null }
  }
}

function seedSavedPlaces(random: SeededRandom, home: City): SavedPlace[] {
  const trips = CITIES.filter((other) => isTrip(home, other))
  const trip = trips.length > 0 ? random.pick(trips) : home
  const cities = [home, home, home, trip, random.pick(CITIES)]
  const others = random.sample(SAVED_NAMES.slice(2), cities.length - 2)
  const rows = new Map<string, SavedPlace>()
  for (const name of ['Home', 'Work', ...others]) {
    const address = addressIn(random, cities[rows.size]!.city)
    if (!rows.has(address)) rows.set(address, { address, name })
  }
  return [...rows.values()]
}

const isTrip = (from: City, to: City): boolean => from !== to && metresBetween(from, to) < 1_000_000

function seedClosedRoads(random: SeededRandom): ClosedRoad[] {
  return random.sample(CITIES, 14).flatMap((city) =>
    // The street of the station stays open at first: while it is closed no car leaves the city.
    random.sample(streetsOf(city.city).slice(1), random.pick([1, 1, 2])).map((street) => ({
      closed_road: closedRoadKey(street, city),
      street,
      city: city.city,
      since: `2026-02-${random.int(10, 28)}`,
    })),
  )
}

/** Returns the key of a closed road: `Mill Lane` in Lisbon has the key `mill-lane-lis`. */
export function closedRoadKey(street: string, { airport }: City): string {
  return `${street} ${airport}`.toLowerCase().replaceAll(' ', '-')
}
