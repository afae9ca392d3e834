import type { Invariant } from '../kernel/define-environment.js'
import { SESSION_START } from '../kernel/session.js'
import { cityNamed } from './cities.js'
import { closedStreets, journey, journeyObstacle, roadMetres } from './routing.js'
import type { MapsTables, MapsView } from './schema.js'
import { LIMITS } from './schema.js'
import { closedRoadKey, placeKey } from './seed.js'
import { locate, streetNamed } from './streets.js'

const invariant = (
  name: string,
  check: (now: MapsView, seed: MapsView) => string | undefined,
): Invariant<MapsTables> => ({
  name,
  check,
})

/** Some drives in the cities with closed roads, and between them. */
function drives(db: MapsView) {
  const cities = [...new Set(db.closed_roads.list().map(({ city }) => city))]
  const spots = cities.flatMap((city) => db.places.by('city', city).slice(0, 3)).map(({ address }) => locate(address)!)
  return spots.flatMap((from, i) => spots.slice(i + 1, i + 6).map((to) => [from, to] as const))
}

export const mapsInvariants = [
  invariant('every place stands at an address of its own, in its city, under its key', ({ places }) => {
    const taken = new Set(places.list().map(({ address }) => address))
    if (taken.size < places.count()) return 'two places share an address'
    const wrong = places.find((row) => {
      const spot = locate(row.address)
      return spot?.address !== row.address || spot.city.city !== row.city || row.place !== placeKey(row.name, spot.city)
    })
    return wrong?.place
  }),

  invariant('no call changes a place', ({ places }, seed) =>
    places.count() === seed.places.count() ? places.find((row) => seed.places.get(row.place) !== row)?.place : 'number',
  ),

  invariant('each saved address exists, has a name of its own, and there are not too many', ({ saved_places }) => {
    const rows = saved_places.list()
    if (rows.length > LIMITS.savedPlaces) return `${rows.length} saved places`
    if (new Set(rows.map(({ name }) => name.toLowerCase())).size < rows.length) return 'a name marks two addresses'
    return rows.find(({ address }) => locate(address)?.address !== address)?.address
  }),

  invariant('every closed road is a street of its city under its key', ({ closed_roads }) => {
    const wrong = closed_roads.find(({ closed_road, street, city }) => {
      const known = cityNamed(city)
      return (
        !known || streetNamed(known.city, street)?.name !== street || closed_road !== closedRoadKey(street, known.city)
      )
    })
    return wrong?.closed_road
  }),

  invariant(
    'a city has few closed roads',
    ({ closed_roads }) =>
      closed_roads.find(({ city }) => closed_roads.by('city', city).length > LIMITS.closedRoads)?.city,
  ),

  invariant('a drive keeps to open roads, is as long as its steps, and no shorter than the road', (db) => {
    for (const [from, to] of drives(db)) {
      // The hour concerns transit only.
      if (journeyObstacle(db, SESSION_START, from, to, 'driving')) continue
      const { metres, legs } = journey(db, from, to, 'driving')
      const stated = `${from.address} to ${to.address}`
      if (legs.reduce((sum, leg) => sum + leg.metres, 0) !== metres) return `${stated}: the steps are not the route`
      if (journey(db, to, from, 'driving').metres !== metres) return `${stated}: longer in one direction`
      if (metres < roadMetres(from, to)) return `${stated}: shorter than the road`
      if (from.city !== to.city) continue
      const closed = closedStreets(db, from.city.city)
      if (legs.some(({ road }) => closed.has(road))) return `${stated}: leads along a closed road`
    }
    return undefined
  }),
]
