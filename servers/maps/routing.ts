import { type CityFacts, cityNamed, localClock } from './cities.js'
import { citiesBetween, metresBetween } from './network.js'
import type { MapsView, Mode, Obstacle } from './schema.js'
import { crossings, type Spot, type Street, station } from './streets.js'

/** Metres per minute in a city and on the way from one city to another. */
export const SPEEDS: Readonly<Record<Mode, { readonly town: number; readonly country: number }>> = {
  walking: { town: 80, country: 80 },
  cycling: { town: 250, country: 300 },
  transit: { town: 350, country: 1800 },
  driving: { town: 500, country: 1500 },
}
/** The longest way by modes that tire, metres. */
export const LONGEST: Readonly<Partial<Record<Mode, number>>> = { walking: 30_000, cycling: 300_000 }
/** Transit rests from midnight until this local time. */
export const FIRST_TRANSIT = '05:00'

const LONG_DISTANCE: Readonly<Record<Mode, string>> = {
  walking: 'Footpath',
  cycling: 'Cycleway',
  transit: 'Train',
  driving: 'Motorway',
}

/** A part of a route on one road or line. */
export interface Leg {
  readonly road: string
  readonly heading?: string
  readonly metres: number
}

export interface Journey {
  readonly metres: number
  readonly minutes: number
  readonly legs: readonly Leg[]
}

const NONE_CLOSED: ReadonlySet<string> = new Set()

/** Names of the streets of a city that are closed to cars. */
export function closedStreets(db: MapsView, city: string): ReadonlySet<string> {
  const rows = db.closed_roads.by('city', city)
  return rows.length === 0 ? NONE_CLOSED : new Set(rows.map(({ street }) => street))
}

const along = (spot: Spot, { runs }: Street): number => (runs === 'east' ? spot.x : spot.y)

function leg(street: Street, from: number, to: number): Leg {
  const [ahead, back] = street.runs === 'east' ? ['east', 'west'] : ['north', 'south']
  return { road: street.name, heading: to > from ? ahead : back, metres: Math.abs(to - from) }
}

/**
 * The street that makes the way between two parallel streets shortest. Another turn would never save anything, since
 * every street crosses the whole city. With at most three closed streets there always is an open one.
 */
function connection(from: Spot, to: Spot, closed: ReadonlySet<string>): Street {
  let best: Street | undefined
  let least = Number.POSITIVE_INFINITY
  const [start, end] = [along(from, from.street), along(to, from.street)]
  for (const street of crossings(from.city, from.street)) {
    const metres = Math.abs(start - street.line) + Math.abs(street.line - end)
    if (metres >= least || closed.has(street.name)) continue
    best = street
    least = metres
  }
  return best!
}

/** The shortest way within a city on streets that are not closed. Both ends must be on open streets. */
export function townLegs(from: Spot, to: Spot, closed: ReadonlySet<string> = NONE_CLOSED): Leg[] {
  const [first, last] = [from.street, to.street]
  const [start, end] = [along(from, first), along(to, last)]
  if (first.name === last.name) return start === end ? [] : [leg(first, start, end)]
  if (first.runs !== last.runs) return [leg(first, start, last.line), leg(last, first.line, end)]
  const middle = connection(from, to, closed)
  const legs = [leg(first, start, middle.line), leg(middle, first.line, last.line), leg(last, middle.line, end)]
  return legs.filter(({ metres }) => metres > 0)
}

const sum = (legs: readonly Leg[]): number => legs.reduce((metres, part) => metres + part.metres, 0)

/** All legs of a way through a city in one. */
function together(legs: readonly Leg[]): Leg[] {
  return legs.length < 2 ? [...legs] : [{ road: legs.map(({ road }) => road).join(', '), metres: sum(legs) }]
}

/** The way from station to station in at most three legs. */
function countryLegs(from: Spot, to: Spot, mode: Mode): Leg[] {
  const way = citiesBetween(from.city, to.city).slice(1)
  const name = LONG_DISTANCE[mode]
  const single = way.map(({ city, metres }) => ({ road: `${name} to ${city.city}`, metres }))
  if (single.length <= 3) return single
  const middle = way.slice(1, -1)
  const through = middle.map(({ city }) => city.city)
  const metres = middle.reduce((part, hop) => part + hop.metres, 0)
  return [single[0]!, { road: `${name} via ${through.join(', ')}`, metres }, single.at(-1)!]
}

/** Metres by road, closures aside; infinite across the sea. A metric: symmetric, and no stop makes a way shorter. */
export function roadMetres(from: Spot, to: Spot): number {
  if (from.city === to.city) return sum(townLegs(from, to))
  const between = metresBetween(from.city, to.city)
  return between + sum(townLegs(from, station(from.city))) + sum(townLegs(station(to.city), to))
}

/** Whether transit runs in the city. @param now ISO 8601 in UTC */
export function transitRuns(now: string, city: CityFacts): boolean {
  return localClock(now, city).time >= FIRST_TRANSIT
}

function closedAt(db: MapsView, spots: readonly Spot[]): Obstacle | undefined {
  const blocked = spots.find(({ city, street }) => closedStreets(db, city.city).has(street.name))
  if (!blocked) return undefined
  return { code: 'road_closed', detail: `${blocked.street.name} in ${blocked.city.city} is closed to cars.` }
}

/** Returns the obstacle to going from one address to another, if any. */
export function journeyObstacle(db: MapsView, now: string, from: Spot, to: Spot, mode: Mode): Obstacle | undefined {
  if (from.address === to.address) return { code: 'same_address', detail: `Both addresses are ${from.address}.` }
  const far = from.city !== to.city
  if (far && metresBetween(from.city, to.city) === Number.POSITIVE_INFINITY)
    return { code: 'no_land_route', detail: `There is no way over land from ${from.city.city} to ${to.city.city}.` }
  const longest = LONGEST[mode]
  if (longest !== undefined && far && roadMetres(from, to) > longest)
    return { code: 'too_far_for_mode', detail: `${mode} goes no farther than ${longest / 1000} km.` }
  if (mode === 'driving') {
    const ends = far ? [from, station(from.city), station(to.city), to] : [from, to]
    return closedAt(db, ends)
  }
  if (mode === 'transit' && !transitRuns(now, cityNamed(from.city.city)!))
    return {
      code: 'transit_not_running',
      detail: `Transit in ${from.city.city} rests until ${FIRST_TRANSIT} local time.`,
    }
  return undefined
}

/** The shortest journey between two addresses that nothing stands against. Closed roads concern cars only. */
export function journey(db: MapsView, from: Spot, to: Spot, mode: Mode): Journey {
  const closed = (spot: Spot) => (mode === 'driving' ? closedStreets(db, spot.city.city) : NONE_CLOSED)
  const { town, country } = SPEEDS[mode]
  if (from.city === to.city) {
    const legs = townLegs(from, to, closed(from))
    const metres = sum(legs)
    return { metres, minutes: Math.ceil(metres / town), legs }
  }
  const out = townLegs(from, station(from.city), closed(from))
  const arrival = townLegs(station(to.city), to, closed(to))
  const inTown = sum(out) + sum(arrival)
  const between = metresBetween(from.city, to.city)
  return {
    metres: inTown + between,
    minutes: Math.ceil(inTown / town + between / country),
    legs: [...together(out), ...countryLegs(from, to, mode), ...together(arrival)],
  }
}
