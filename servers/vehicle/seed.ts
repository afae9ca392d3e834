import { addDays } from '../kernel/dates.js'
import type { SeedContext, SeedRows } from '../kernel/define-environment.js'
import { twoDigitNumbers } from '../kernel/key-numbers.js'
import type { SeededRandom } from '../kernel/random.js'
import { slug } from '../kernel/text.js'
import {
  CAR,
  type Car,
  CONNECTORS,
  type Destination,
  DOORS,
  type Driver,
  type Fault,
  GUARDS,
  type Playlist,
  PURPOSES,
  type Trip,
  type VehicleTables,
  WINDOWS,
} from './schema.js'
import { seedDestinations } from './seed-destinations.js'
import * as words from './words.js'

/** How a session finds the car, which stands; what is named more often is more common. */
const SCENES = [
  ...['parked', 'parked'],
  ...['ready', 'ready', 'ready', 'ready', 'ready'],
  ...['idling', 'idling', 'idling', 'idling'],
  ...['waiting', 'waiting', 'waiting', 'waiting', 'waiting', 'waiting', 'waiting', 'waiting', 'waiting'],
  ...['ready', 'waiting', 'waiting', 'waiting'],
  ...['charging', 'charging'],
  'stalled',
] as const
type Scene = (typeof SCENES)[number]

const TRIPS = 84

/** One electric car in one of several scenes, with its drivers, destinations, trips, faults and playlists. */
export function seedVehicle({ random, start, home }: SeedContext): SeedRows<VehicleTables> {
  const today = start.slice(0, 10)
  const scene = random.pick(SCENES)
  const connector = random.pick(CONNECTORS)
  const destinations = seedDestinations(random, today, connector, home)
  const drivers = seedDrivers(random, today)
  const { faults, appointments } = seedFaults(random, today, destinations)
  const playlists = seedPlaylists(random, drivers)
  const trips = seedTrips(random, today, drivers, destinations)
  const car = seedCar(random, start, scene, connector, drivers, destinations, playlists)
  // Who waits in gear has closed the doors and let the parking brake go.
  const open = car.guard !== 'valet' && scene !== 'waiting' && random.chance(0.3) ? random.pick(DOORS) : undefined
  const locking = scene === 'parked' && random.chance(0.6)
  return {
    cars: [car],
    drivers,
    doors: DOORS.map((door) => ({
      door,
      open: door === open,
      locked: door !== open && (locking || (door === 'trunk' && car.guard === 'valet') || random.chance(0.25)),
    })),
    windows: WINDOWS.map((window) => ({
      window,
      opening: random.chance(0.35) ? random.int(1, 10) * 10 : 0,
    })),
    tyres: ['front left', 'front right', 'rear left', 'rear right'].map((tyre) => ({
      tyre,
      kpa: random.chance(0.2) ? random.int(170, 210) : random.int(225, 255),
    })),
    destinations,
    trips,
    faults,
    appointments,
    playlists,
  }
}

/** `count` pairs of words, where every first word occurs about twice: each has a near-miss. */
function pairs(random: SeededRandom, first: readonly string[], second: readonly string[], count: number) {
  const heads = random.sample(first, Math.ceil(count / 2))
  return random
    .shuffle(heads.flatMap((head) => random.sample(second, 2).map((tail) => `${head} ${tail}`)))
    .slice(0, count)
}

function seedDrivers(random: SeededRandom, today: string): Driver[] {
  const [family, ...others] = random.sample(words.LAST_NAMES, 4)
  const lasts = [family, family, family, ...others].slice(0, random.int(4, 5))
  const firsts = random.sample(words.FIRST_NAMES, lasts.length)
  const expired = random.int(1, lasts.length - 1)
  return lasts.map((last, i) => ({
    driver: slug(`${firsts[i]} ${last}`),
    name: `${firsts[i]} ${last}`,
    top_speed: i === 0 ? 180 : random.int(9, 16) * 10,
    seat: random.int(1, 9),
    temperature: random.int(18, 24),
    licence_until: addDays(today, i === expired ? -random.int(2, 90) : random.int(30, 3000)),
  }))
}

function seedFaults(random: SeededRandom, today: string, destinations: readonly Destination[]) {
  const kinds = [
    ...random.sample(words.DISABLING_FAULTS, random.chance(0.4) ? 2 : 1),
    ...random.sample(words.CRITICAL_FAULTS, random.chance(0.3) ? 1 : 0),
    ...random.sample(words.MINOR_FAULTS, random.int(5, 6)),
  ]
  const numbers = twoDigitNumbers(random, kinds.length)
  const booked = random.sample(kinds, 2)
  const faults = random.shuffle(kinds).map(
    (kind, i): Fault => ({
      fault: `fault-${numbers[i]}`,
      title: kind[0],
      system: kind[1],
      severity: kind[2],
      disables: kind[3],
      status: booked.includes(kind) ? 'booked' : 'open',
    }),
  )
  const appointments = faults
    .filter(({ status }) => status === 'booked')
    .map(({ fault, system }, i) => {
      const garage = random.pick(destinations.filter(({ logitErrors }) => logitErrors.includes(system)))
      // Mondays to Fridays of the third and fourth week, one a week.
      return {
        appointment: `service-${11 + i}`,
        fault,
        garage: garage.destination,
        date: addDays(today, 14 + 7 * i + random.int(0, 4)),
      }
    })
  return { faults, appointments }
}

function seedPlaylists(random: SeededRandom, drivers: readonly Driver[]): Playlist[] {
  return pairs(random, words.PLAYLIST_FIRST, words.PLAYLIST_SECOND, 18).map((title, i) => ({
    playlist: slug(title),
    title,
    driver: drivers[i % drivers.length]!.driver,
    songs: random.int(8, 120),
    explicit: i % 6 === 0,
  }))
}

function seedTrips(
  random: SeededRandom,
  today: string,
  drivers: readonly Driver[],
  destinations: readonly Destination[],
): Trip[] {
  const places = random.sample(destinations, 30)
  return Array.from({ length: TRIPS }, (_, i): Trip => {
    const { destination, name } = random.pick(places)
    return {
      trip: `trip-${i + 11}`,
      name,
      destination,
      driver: random.pick(drivers).driver,
      // From about four months ago to yesterday, in order.
      date: addDays(today, -1 - Math.floor((122 * (TRIPS - 1 - i)) / TRIPS)),
      km: random.chance(0.7) ? random.int(2, 40) : random.int(41, 260),
      purpose: random.pick(PURPOSES),
    }
  })
}

function seedCar(
  random: SeededRandom,
  start: string,
  scene: Scene,
  connector: Car['connector'],
  drivers: readonly Driver[],
  destinations: readonly Destination[],
  playlists: readonly Playlist[],
): Car {
  const running = scene === 'idling' || scene === 'waiting'
  const guard = random.chance(0.65) ? 'off' : random.pick(GUARDS)
  const driver = random.pick(drivers.filter(({ licence_until }) => licence_until >= start.slice(0, 10)))
  const atCharger = scene === 'charging' || (scene === 'parked' && random.chance(0.7)) || random.chance(0.35)
  const fits = (place: Destination) => (atCharger ? place.connector === connector : place.kind === 'saved')
  const capacity = random.int(8, 18) * 5000
  const charge = !running && random.chance(0.2) ? random.int(4, 18) : random.int(25, 92)
  const minutes = random.int(12, 40)
  const playable = playlists.filter(({ explicit }) => !explicit || guard !== 'child')
  return {
    car: CAR,
    model: random.pick(words.MODELS),
    engine: running ? 'running' : 'off',
    gear: scene === 'waiting' || scene === 'stalled' ? 'drive' : 'park',
    speed: 0,
    since: null,
    metres: 0,
    foot_brake: scene === 'parked' || (scene === 'charging' && random.chance(0.5)) ? 'off' : 'on',
    parking_brake:
      scene === 'parked' || scene === 'charging' || (scene !== 'waiting' && random.chance(0.25)) ? 'on' : 'off',
    cruise: null,
    driver: driver.driver,
    guard,
    pin: String(random.int(1001, 9998)),
    beam: running ? random.pick(['low', 'low', 'high', 'fog'] as const) : random.pick(['off', 'parking'] as const),
    energy: Math.floor((capacity * charge) / 100),
    capacity,
    consumption: random.int(28, 42) * 5,
    connector,
    charging_since: scene === 'charging' ? `${start.slice(0, 11)}08:${60 - minutes}:00Z` : null,
    charged: random.int(400, 9000) * 1000,
    odometer: random.int(3000, 90_000),
    location: random.pick(destinations.filter(fits)).destination,
    route: null,
    route_km: 0,
    under_way: false,
    climate: { driver: driver.temperature, passenger: random.int(18, 24), rear: random.int(17, 23) },
    outside: random.int(-6, 14),
    playlist: running && random.chance(0.5) ? random.pick(playable).playlist : null,
    volume: random.int(4, 16),
  }
}
