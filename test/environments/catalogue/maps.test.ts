import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { addressIn, CITIES, parseAddress } from '../../../servers/kernel/gazetteer.js'
import { seededRandom } from '../../../servers/kernel/random.js'
import { generateSeedState, Session } from '../../../servers/kernel/session.js'
import { streetsOf } from '../../../servers/kernel/streets.js'
import { CITY_FACTS } from '../../../servers/maps/cities.js'
import { maps } from '../../../servers/maps/index.js'
import { citiesBetween } from '../../../servers/maps/network.js'
import { roadMetres, SPEEDS, townLegs } from '../../../servers/maps/routing.js'
import { CATEGORIES, LIMITS, type MapsView, type Mode } from '../../../servers/maps/schema.js'
import { locate, straightMetres } from '../../../servers/maps/streets.js'
import { weekday } from '../../../servers/maps/time.js'
import { checkEnvironmentContract } from '../../support/environment-contract.js'
import { refusal, succeed } from '../../support/session-calls.js'

const open = (seed: number) => Session.open(generateSeedState(maps, seed))
const mapOf = (session: Session) => session.db as unknown as MapsView
const spot = (address: string) => locate(address)!

const trip = (from_address: string, to_address: string, mode: Mode) => ({ from_address, to_address, mode })
/** A city none of whose roads is closed. */
const freeCity = (session: Session) =>
  CITIES.find(({ city }) => mapOf(session).closed_roads.by('city', city).length === 0)!.city
const close = (session: Session, street: string, city: string) =>
  succeed(session, 'report_closed_road', { street, city })

checkEnvironmentContract(maps, {
  provoke: {
    unknown_address: () => ['geocode_address', { address: '121 Rua do Moinho, Lisbon' }],
    unknown_city: () => ['list_closed_roads', { city: 'Atlantis' }],
    unknown_street: () => ['report_closed_road', { street: 'Yellow Brick Road', city: 'Oslo' }],
    unknown_place: () => ['get_place', { place: 'blue-lantern-cafe-xyz' }],
    unknown_closed_road: () => ['reopen_road', { closed_road: 'mill-lane-xyz' }],
    nothing_there: () => ['reverse_geocode', { latitude: 38.6, longitude: -9.14 }],
    category_not_in_city: (s) => {
      const kinds = mapOf(s).places.by('city', 'Oslo')
      const category = CATEGORIES.find((kind) => kinds.every((row) => row.category !== kind))
      return ['nearest_places', { address: '5 Parkveien, Oslo', category }]
    },
    same_address: () => ['plan_route', trip('5 Parkveien, Oslo', '5 parkveien, oslo', 'walking')],
    too_far_for_mode: () => [
      'get_travel_time',
      trip('5 Rua do Moinho, Lisbon', '5 Rua de Santo Antonio, Porto', 'walking'),
    ],
    no_land_route: () => ['plan_route', trip('5 Rua do Moinho, Lisbon', '5 Mill Lane, Boston', 'driving')],
    road_closed: (s) => {
      const city = freeCity(s)
      const [, one, other] = streetsOf(city)
      close(s, one!.toLowerCase(), city)
      return ['plan_route', trip(`5 ${other}, ${city}`, `9 ${one}, ${city}`, 'driving')]
    },
    transit_not_running: () => ['get_travel_time', trip('5 Mill Lane, Seattle', '7 Oak Avenue, Seattle', 'transit')],
    already_closed: (s) => {
      const { street, city } = mapOf(s).closed_roads.list()[0]!
      return ['report_closed_road', { street: street.toUpperCase(), city }]
    },
    too_many_closed_roads: (s) => {
      const city = freeCity(s)
      const [, ...streets] = streetsOf(city)
      for (const street of streets.slice(0, LIMITS.closedRoads)) close(s, street, city)
      return ['report_closed_road', { street: streets.at(-1), city }]
    },
    too_many_saved_places: (s) => {
      for (let i = 1; mapOf(s).saved_places.count() < LIMITS.savedPlaces; i++)
        succeed(s, 'save_place', { address: `${i} Via Roma, Rome`, name: `Stop ${i}` })
      return ['save_place', { address: '99 Viale dei Pini, Rome', name: 'One More' }]
    },
  },
})

test('every address of the gazetteer has a place of its own on the map, the same for every seed', () => {
  const random = seededRandom(1)
  const [first, second] = [open(1), open(2)]
  const seen = new Map<string, string>()
  for (let i = 0; i < 400; i++) {
    const address = addressIn(random, random.pick(CITIES).city)
    const stated = succeed(first, 'geocode_address', { address: address.toUpperCase() })
    assert.equal(stated, succeed(second, 'geocode_address', { address }))
    assert.is(stated.address, address)
    const point = `${stated.latitude} ${stated.longitude}`
    assert.is(seen.get(point) ?? address, address, 'two addresses at one point')
    seen.set(point, address)
    const back = succeed(first, 'reverse_geocode', { latitude: stated.latitude, longitude: stated.longitude })
    assert.is(back.address, address)
    assert.ok((back.metres as number) <= 8)
  }
})

test('the map knows exactly the addresses that the gazetteer knows', () => {
  const random = seededRandom(2)
  const texts = [
    '0 Parkveien, Oslo',
    '121 Parkveien, Oslo',
    '7 Parkveien',
    '7 Mill Lane, Oslo',
    'Parkveien, Oslo',
    '7 Parkveien, Nowhere',
    '',
  ]
  for (let i = 0; i < 50; i++) texts.push(addressIn(random, random.pick(CITIES).city).replace(', ', ',  '))
  for (const text of texts) assert.is(locate(text) !== undefined, parseAddress(text) !== undefined, text)
  assert.is(CITY_FACTS.length, CITIES.length)
})

test('the road is a metric: symmetric, never shorter than the straight line, never shortened by a stop', () => {
  const random = seededRandom(3)
  for (let i = 0; i < 1500; i++) {
    const cities = random.sample(CITIES, random.pick([1, 1, 2, 3]))
    const [a, b, c] = Array.from({ length: 3 }, () => spot(addressIn(random, random.pick(cities).city))) as [
      ReturnType<typeof spot>,
      ReturnType<typeof spot>,
      ReturnType<typeof spot>,
    ]
    const stated = `${a.address}; ${b.address}; ${c.address}`
    assert.is(roadMetres(a, b), roadMetres(b, a), stated)
    assert.is(straightMetres(a, b), straightMetres(b, a), stated)
    assert.ok(straightMetres(a, b) <= roadMetres(a, b), stated)
    assert.ok(roadMetres(a, c) <= roadMetres(a, b) + roadMetres(b, c), stated)
    assert.is(roadMetres(a, a), 0)
  }
})

test('the steps of a route make up its length, and its time is what the speed of the mode says', () => {
  const session = open(4)
  const random = seededRandom(4)
  for (let i = 0; i < 200; i++) {
    const { city } = random.pick(CITIES)
    const [from, to] = [addressIn(random, city), addressIn(random, city)]
    const mode = random.pick(['walking', 'cycling', 'driving'] as const)
    const result = session.call('plan_route', trip(from, to, mode))
    if (!result.ok) continue
    const { metres, minutes, steps } = result.output as { metres: number; minutes: number; steps: { metres: number }[] }
    assert.is(
      steps.reduce((sum, step) => sum + step.metres, 0),
      metres,
    )
    assert.is(minutes, Math.ceil(metres / SPEEDS[mode].town))
    assert.equal(succeed(session, 'get_travel_time', trip(from, to, mode)), { minutes, metres })
    if (mode === 'walking')
      assert.is(succeed(session, 'measure_distance', { from_address: from, to_address: to }).road_metres, metres)
  }
})

test('a journey between cities leads over their stations and the main roads, and its steps add up', () => {
  const session = open(4)
  const route = succeed(session, 'plan_route', trip('12 Rua do Moinho, Lisbon', '3 Wiatraczna, Warsaw', 'transit'))
  const steps = route.steps as { road: string; metres: number }[]
  assert.is(
    steps.reduce((sum, step) => sum + step.metres, 0),
    route.metres,
  )
  assert.ok(steps.length <= 5)
  const way = citiesBetween(spot('12 Rua do Moinho, Lisbon').city, spot('3 Wiatraczna, Warsaw').city)
  const stated = steps.map(({ road }) => road).join()
  for (const { city } of way.slice(1)) assert.match(stated, city.city)
  assert.match(steps[0]!.road, streetsOf('Lisbon')[0]!)
})

test('modes end where people tire and where the sea begins', () => {
  const session = open(4)
  assert.is(
    refusal(session, 'plan_route', trip('1 Place de la Fontaine, Brussels', '1 Gasthuisplein, Amsterdam', 'walking')),
    'too_far_for_mode',
  )
  const ride = succeed(
    session,
    'get_travel_time',
    trip('1 Place de la Fontaine, Brussels', '1 Gasthuisplein, Amsterdam', 'cycling'),
  )
  assert.ok((ride.minutes as number) > 700)
  assert.is(
    refusal(session, 'get_travel_time', trip('1 Place de la Fontaine, Paris', '1 Calle de la Paz, Madrid', 'cycling')),
    'too_far_for_mode',
  )
  const overseas = { from_address: '1 Elm Street, London', to_address: '1 Elm Street, Dublin' }
  assert.is(refusal(session, 'get_travel_time', { ...overseas, mode: 'transit' }), 'no_land_route')
  const apart = succeed(session, 'measure_distance', overseas)
  assert.ok((apart.straight_metres as number) > 440_000 && (apart.straight_metres as number) < 480_000)
  assert.is(apart.road_metres, undefined)
})

test('a drive goes around a road that was reported closed and comes back to it when it is reopened; walkers do not mind', () => {
  const session = open(5)
  const city = freeCity(session)
  const random = seededRandom(5)
  // A way that turns twice, so that its middle street can be avoided.
  let [from, to] = ['', '']
  while (from === '' || townLegs(spot(from), spot(to)).length !== 3)
    [from, to] = [addressIn(random, city), addressIn(random, city)]
  const before = succeed(session, 'plan_route', trip(from, to, 'driving'))
  const middle = (before.steps as { road: string }[])[1]!.road
  const on_foot = succeed(session, 'plan_route', trip(from, to, 'walking'))
  const { closed_road } = close(session, middle, city)
  const around = succeed(session, 'plan_route', trip(from, to, 'driving'))
  assert.not.match(JSON.stringify(around.steps), middle)
  assert.ok((around.metres as number) >= (before.metres as number))
  assert.equal(succeed(session, 'plan_route', trip(from, to, 'walking')), on_foot)
  assert.equal(succeed(session, 'reopen_road', { closed_road }), { street: middle, city, closed_in_city: 0 })
  assert.equal(succeed(session, 'plan_route', trip(from, to, 'driving')), before)
})

test('no car leaves a city the street of whose station is closed, but trains do', () => {
  const session = open(6)
  const ends = ['8 Museumstrasse, Vienna', '8 Nyar utca, Budapest'] as const
  for (const { closed_road, city } of mapOf(session).closed_roads.list())
    if (city === 'Vienna' || city === 'Budapest') succeed(session, 'reopen_road', { closed_road })
  const before = succeed(session, 'get_travel_time', trip(...ends, 'driving'))
  close(session, streetsOf('Budapest')[0]!, 'Budapest')
  assert.is(refusal(session, 'get_travel_time', trip(...ends, 'driving')), 'road_closed')
  const train = succeed(session, 'get_travel_time', trip(...ends, 'transit'))
  assert.is(train.metres, before.metres)
  assert.ok((train.minutes as number) < (before.minutes as number))
})

test('a stop makes a route longer by the detour, never shorter', () => {
  const session = open(7)
  const random = seededRandom(7)
  for (let i = 0; i < 100; i++) {
    const { city } = random.pick(CITIES)
    const [from, stop, to] = [addressIn(random, city), addressIn(random, city), addressIn(random, city)]
    const result = session.call('plan_route_with_stop', { ...trip(from, to, 'cycling'), stop_address: stop })
    if (!result.ok) continue
    const direct = succeed(session, 'plan_route', trip(from, to, 'cycling'))
    const { metres, minutes, detour_metres, detour_minutes } = result.output as Record<string, number>
    assert.is(metres! - detour_metres!, direct.metres)
    assert.is(minutes! - detour_minutes!, direct.minutes)
    assert.ok(detour_metres! >= 0 && detour_minutes! >= 0)
  }
})

test('the nearest places are the nearest, and reachable within the minutes that the way to them takes', () => {
  const session = open(8)
  for (const { city } of CITIES) {
    const address = `17 ${streetsOf(city)[14]}, ${city}`
    const { category } = mapOf(session).places.by('city', city)[0]!
    const { places } = succeed(session, 'nearest_places', { address, category }) as {
      places: { place: string; address: string; metres: number }[]
    }
    const metres = places.map((row) => row.metres)
    assert.equal(
      metres,
      [...metres].sort((a, b) => a - b),
    )
    const [nearest] = places
    const { minutes } = succeed(session, 'get_travel_time', trip(address, nearest!.address, 'walking'))
    const within = (limit: number) =>
      succeed(session, 'find_reachable_places', { address, category, mode: 'walking', minutes: limit }) as {
        found: number
        places: { place: string; minutes: number }[]
      }
    if ((minutes as number) > 120) continue
    assert.is(within(minutes as number).places[0]!.place, nearest!.place)
    assert.is(within(minutes as number).places[0]!.minutes, minutes)
    if ((minutes as number) > 1) assert.is(within((minutes as number) - 1).found, 0)
  }
})

test('the categories of a city are those of its places', () => {
  const session = open(9)
  const { categories } = succeed(session, 'list_place_categories', { city: 'porto' }) as {
    categories: { category: string; places: number }[]
  }
  const rows = mapOf(session).places.by('city', 'Porto')
  assert.is(
    categories.reduce((sum, { places }) => sum + places, 0),
    rows.length,
  )
  for (const { category, places } of categories) {
    const found = succeed(session, 'nearest_places', { address: '1 Rua de Santo Antonio, Porto', category })
    assert.is(found.found, places)
  }
})

test('a full name in a city finds exactly one place, a chain has places in several cities', () => {
  const session = open(10)
  for (const { name, city, place } of mapOf(session).places.list()) {
    const { found, places } = succeed(session, 'search_places', { query: name, city }) as {
      found: number
      places: { place: string }[]
    }
    assert.is(found, 1, name)
    assert.is(places[0]!.place, place)
  }
  const names = mapOf(session)
    .places.list()
    .map(({ name }) => name)
  assert.ok(new Set(names).size < names.length)
  assert.ok((succeed(session, 'search_places', { query: 'CAFE' }).found as number) > 4)
})

test('places open and close by the clock of their city and rest on their day', () => {
  assert.is(weekday('2026-03-02'), 'Monday')
  assert.is(weekday('2026-03-08'), 'Sunday')
  const session = open(11)
  const stated = (fits: (row: { city: string; opens: string; closes: string; closed_on: string | null }) => boolean) =>
    succeed(session, 'get_place', { place: mapOf(session).places.find(fits)!.place }).open_now
  // Nine in the morning UTC is four at night in Toronto.
  assert.is(
    stated(({ city, opens }) => city === 'Toronto' && opens > '04:00'),
    false,
  )
  assert.is(
    stated(({ city, opens, closes }) => city === 'Helsinki' && opens <= '11:00' && closes > '11:00'),
    true,
  )
  assert.is(
    stated(({ closed_on }) => closed_on === 'Monday'),
    false,
  )
})

test('a saved name marks one address and an address has one name', () => {
  const session = open(12)
  const before = mapOf(session).saved_places.count()
  const home = mapOf(session).saved_places.find(({ name }) => name === 'Home')!
  const moved = succeed(session, 'save_place', { address: '40 Bryggeveien, Oslo', name: 'home' })
  assert.is(moved.replaced, home.address)
  assert.is(moved.saved, before)
  assert.not.ok(mapOf(session).saved_places.has(home.address))
  const renamed = succeed(session, 'save_place', { address: '40 Bryggeveien, Oslo', name: 'Attic' })
  assert.is(renamed.replaced, 'home')
  assert.equal(succeed(session, 'list_saved_places', { name: 'attic' }).places, [
    { name: 'Attic', address: '40 Bryggeveien, Oslo' },
  ])
})

test.run()
