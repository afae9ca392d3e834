import { z } from 'zod'
import { timeOf } from '../../kernel/dates.js'
import { ref } from '../../kernel/fields.js'
import { mentions } from '../../kernel/text.js'
import { chargePercent, faultOf, hasPower, LIMITS, rangeKm, theCar, withDrive } from '../rules.js'
import { pickAgreeing } from '../sampling.js'
import {
  CAR,
  type Obstacle,
  type Playlist,
  SYSTEMS,
  type System,
  temperature,
  tool,
  type VehicleView,
  volume,
  ZONES,
} from '../schema.js'

function bodyReadings(db: VehicleView): Record<string, string> {
  const open = db.doors.by('open', true).map(({ door }) => door)
  const locked = db.doors.by('locked', true).map(({ door }) => door)
  const ajar = db.windows.list((row) => row.opening > 0).map((row) => `${row.window} ${row.opening} %`)
  return {
    'open doors': open.join(', ') || 'none',
    'locked doors': locked.join(', ') || 'none',
    'open windows': ajar.join(', ') || 'none',
    headlights: theCar(db).beam,
  }
}

function batteryReadings(db: VehicleView, now: string): Record<string, string> {
  const car = withDrive(theCar(db), now)
  const place = db.destinations.get(car.location)!
  return {
    charge: `${chargePercent(car)} %`,
    range: `${rangeKm(car)} km`,
    charging: car.charging_since === null ? 'no' : `since ${timeOf(car.charging_since)}`,
    connector: car.connector,
    location: `${place.name}, ${place.kilowatts === null ? 'no charger' : `${place.kilowatts} kW ${place.connector}`}`,
  }
}

function mediaReadings(db: VehicleView): Record<string, string> {
  const { playlist, volume, driver } = theCar(db)
  const own = db.playlists.by('driver', driver).slice(0, 4)
  return {
    playing: playlist === null ? 'nothing' : db.playlists.get(playlist)!.title,
    volume: String(volume),
    'playlists of the driver': own.map(({ title }) => title).join(', '),
  }
}

/** At most five readings of a system, by name. */
function annotationsOf(db: VehicleView, now: string, system: System): Record<string, string> {
  const car = theCar(db)
  switch (system) {
    case 'battery':
      return batteryReadings(db, now)
    case 'body':
      return bodyReadings(db)
    case 'media':
      return mediaReadings(db)
    case 'tyres':
      return {
        ...Object.fromEntries(db.tyres.list().map(({ tyre, kpa }) => [tyre, `${kpa} kPa`])),
        recommended: '240 kPa',
      }
    case 'climate':
      return {
        ...Object.fromEntries(ZONES.map((zone) => [zone, `${car.climate[zone]} degrees`])),
        outside: `${car.outside} degrees`,
      }
    case 'drive':
      return {
        engine: `${car.engine}, driver ${db.drivers.get(car.driver)!.name}`,
        gear: car.gear,
        brakes: `foot ${car.foot_brake}, parking ${car.parking_brake}`,
        speed: `${car.speed} km/h, cruise control ${car.cruise === null ? 'off' : 'on'}`,
        'guard mode': car.guard,
      }
  }
}

const checkVehicle = tool({
  name: 'check_vehicle',
  description:
    'Read one system of the car and its faults. "drive" has engine, gear, brakes, speed and mode; "battery" charge, range and where the car stands; "body" doors, windows and headlights; "media" what plays and the playlists of the driver.',
  input: z.strictObject({ system: z.enum(SYSTEMS).describe('What to read.') }),
  output: z.object({
    model: z.string(),
    readings: z.array(z.string()),
    faults: z.array(z.object({ title: z.string(), fault: ref('fault'), severity: z.string(), status: z.string() })),
  }),
  pages: { faults: 'longest' },
  annotations: { readOnly: true },
  sample: ({ random, bound }) => ({ system: random.pick(SYSTEMS), ...bound }),
  run: ({ system }, { db, now }) => ({
    model: theCar(db).model,
    readings: Object.entries(annotationsOf(db, now(), system)).map(([name, value]) => `${name}: ${value}`),
    faults: [...db.faults.by('system', system)],
  }),
})

const listDrivers = tool({
  name: 'list_drivers',
  description: 'List the drivers of the car, with the top speed that the owner lets them drive and their licence.',
  input: z.strictObject({}),
  output: z.object({
    found: z.int(),
    drivers: z.array(
      z.object({ name: z.string(), driver: ref('driver'), top_speed: z.int(), licence_until: z.string() }),
    ),
  }),
  annotations: { readOnly: true },
  sample: () => ({}),
  run(_, { db }) {
    const drivers = db.drivers.list()
    return { found: drivers.length, drivers }
  },
})

function climateObstacle(db: VehicleView, zone: string): Obstacle | undefined {
  if (!hasPower(theCar(db))) return { code: 'low_battery' }
  const broken = zone === 'rear' ? faultOf(db, 'rear') : undefined
  return broken && { code: 'part_faulty', detail: `"${broken.title}" disables the rear zone.` }
}

const setCabinClimate = tool({
  name: 'set_cabin_climate',
  description: `Set the temperature of a zone of the cabin, in degrees Celsius. With the engine off the battery must hold ${LIMITS.standby} %.`,
  input: z.strictObject({
    zone: z.enum(ZONES).describe('Part of the cabin.'),
    temperature: temperature.describe('Degrees Celsius.'),
  }),
  output: z.object({ zone: z.string(), temperature: z.int(), outside: z.int() }),
  annotations: { readOnly: false, idempotent: true },
  needs: ['engine_running'],
  sample({ db, random, bound }) {
    // Nobody heats or cools beside an open window.
    const isShut = (zone: string): boolean => (db.windows.get(zone)?.opening ?? 0) === 0
    const zones = ZONES.filter((zone) => isShut(zone) && !climateObstacle(db, zone))
    const temperature = bound.temperature ?? random.int(18, 24)
    return pickAgreeing(
      random,
      bound,
      zones.map((zone) => ({ zone, temperature })),
    )
  },
  run({ zone, temperature }, { unless, db }) {
    unless(climateObstacle(db, zone))
    const { climate, outside } = theCar(db)
    db.cars.update(CAR, { climate: { ...climate, [zone]: temperature } })
    return { zone, temperature, outside }
  },
})

/** The playlists that `title` means: the one of exactly that title, else all that mention its words. */
function playlistsCalled(db: VehicleView, title: string): Playlist[] {
  const wanted = title.toLowerCase()
  const exact = db.playlists.find((row) => row.title.toLowerCase() === wanted)
  return exact ? [exact] : db.playlists.list((row) => mentions(row.title, title))
}

const playPlaylist = tool({
  name: 'play_playlist',
  description: `Play a playlist by its title, or by words that only one title has. Explicit playlists do not play in child mode. With the engine off the battery must hold ${LIMITS.standby} %.`,
  input: z.strictObject({
    title: z.string().trim().min(2).max(40).describe('Title, or words that only one title has.'),
    volume: volume.describe('0 is silent, 30 is loudest; stays if not given.').optional(),
  }),
  output: z.object({ title: z.string(), songs: z.int(), volume: z.int() }),
  annotations: { readOnly: false, idempotent: true },
  needs: ['engine_running'],
  sample({ db, random, bound }) {
    const { guard, playlist } = theCar(db)
    const title =
      bound.title ??
      random.pick(db.playlists.list((row) => row.playlist !== playlist && !(row.explicit && guard === 'child'))).title
    const volume = bound.volume ?? (random.chance(0.3) ? random.int(4, 18) : undefined)
    return hasPower(theCar(db)) ? { title, ...(volume === undefined ? {} : { volume }) } : null
  },
  run({ title, volume }, { db, fail }) {
    const car = theCar(db)
    const [playlist, ...others] = playlistsCalled(db, title)
    if (!playlist) return fail('unknown_playlist', `No playlist is called ${title}.`)
    if (others.length > 0)
      fail(
        'ambiguous_playlist',
        `It could be ${[playlist, ...others.slice(0, 2)].map((row) => row.title).join(' or ')}.`,
      )
    if (playlist.explicit && car.guard === 'child') fail('child_lock', `${playlist.title} is explicit.`)
    if (!hasPower(car)) fail('low_battery')
    const { volume: set } = db.cars.update(CAR, { playlist: playlist.playlist, volume: volume ?? car.volume })
    return { ...playlist, volume: set }
  },
})

export const cabinTools = [checkVehicle, listDrivers, setCabinClimate, playPlaylist]
