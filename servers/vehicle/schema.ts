import { z } from 'zod'
import {
  type Db,
  type DbView,
  type ObstacleOf,
  type RowOf,
  type ToolContext,
  toolMaker,
} from '../kernel/define-environment.js'

export const SYSTEMS = ['drive', 'battery', 'tyres', 'body', 'climate', 'media'] as const
export const GEARS = ['park', 'reverse', 'neutral', 'drive'] as const
export const GUARDS = ['off', 'valet', 'child'] as const
export const DOORS = ['driver', 'passenger', 'rear', 'trunk'] as const
export const WINDOWS = ['driver', 'passenger', 'rear', 'roof'] as const
export const ZONES = ['driver', 'passenger', 'rear'] as const
export const BEAMS = ['off', 'parking', 'low', 'high', 'fog'] as const
export const PURPOSES = ['business', 'private'] as const
export const KINDS = ['saved', 'charger', 'garage'] as const
export const CONNECTORS = ['ccs', 'chademo'] as const

/** Key of the one row of `cars`. */
export const CAR = 'car'

/** km/h. */
export const speed = z.int().min(0).max(180)
/** Degrees Celsius. */
export const temperature = z.int().min(16).max(28)
/** Per cent. */
export const opening = z.int().min(0).max(100)
export const volume = z.int().min(0).max(30)
const date = z.iso.date()

const car = z.object({
  car: z.literal(CAR),
  model: z.string(),
  engine: z.enum(['off', 'running']),
  gear: z.enum(GEARS),
  speed,
  /** Since when it goes at this speed; null while it stands. */
  since: z.string().nullable(),
  /** Metres driven from the start of the engine until `since`, or until the car stood. */
  metres: z.int().min(0),
  foot_brake: z.enum(['on', 'off']),
  parking_brake: z.enum(['on', 'off']),
  /** Speed that cruise control holds; null when it is off. */
  cruise: speed.nullable(),
  driver: z.string(),
  guard: z.enum(GUARDS),
  pin: z.string().regex(/^\d{4}$/),
  beam: z.enum(BEAMS),
  /** Wh in the battery, and how many fit. */
  energy: z.int().min(0),
  capacity: z.int().positive(),
  /** Wh per km. */
  consumption: z.int().positive(),
  connector: z.enum(CONNECTORS),
  /** Since when the car charges; null when no cable is plugged in. */
  charging_since: z.string().nullable(),
  /** Wh ever charged. */
  charged: z.int().min(0),
  /** km ever driven. */
  odometer: z.int().min(0),
  /** Destination at which the car stands or from which it set out, and to which it comes back without a route. */
  location: z.string(),
  /** Destination of the route guidance; null when there is none. */
  route: z.string().nullable(),
  /** km from where the car set out to the end of the route, with what was driven before the route was chosen; 0 without one. */
  route_km: z.int().min(0),
  /** Whether the car has moved since the route was started. */
  under_way: z.boolean(),
  climate: z.object({ driver: temperature, passenger: temperature, rear: temperature }),
  outside: z.int(),
  playlist: z.string().nullable(),
  volume,
})

const driver = z.object({
  driver: z.string(),
  name: z.string(),
  /** What the owner lets this driver drive at most, km/h. */
  top_speed: speed,
  seat: z.int().min(1).max(9),
  temperature,
  licence_until: date,
})

const door = z.object({ door: z.enum(DOORS), open: z.boolean(), locked: z.boolean() })
const window = z.object({ window: z.enum(WINDOWS), opening })
const tyre = z.object({ tyre: z.string(), kpa: z.int().positive() })

const destination = z.object({
  destination: z.string(),
  name: z.string(),
  kind: z.enum(KINDS),
  address: z.string(),
  city: z.string(),
  /** Name and city in lower case, for searching. */
  search: z.string(),
  /** Position on a flat map, km. */
  x: z.int(),
  y: z.int(),
  /** Power of the charger there; null when there is none. */
  kilowatts: z.int().positive().nullable(),
  connector: z.enum(CONNECTORS).nullable(),
  /** Cents per kWh. */
  tariff: z.int().min(0),
  /** Systems that a garage repairs. */
  logitErrors: z.array(z.enum(SYSTEMS)),
  /** First day on which a garage has time; null for other kinds. */
  free_from: date.nullable(),
  open_saturdays: z.boolean(),
})

const trip = z.object({
  trip: z.string(),
  /** The destination's name. */
  name: z.string(),
  destination: z.string(),
  driver: z.string(),
  date,
  km: z.int().positive(),
  purpose: z.enum(PURPOSES),
})

const fault = z.object({
  fault: z.string(),
  title: z.string(),
  system: z.enum(SYSTEMS),
  severity: z.enum(['notice', 'warning', 'critical']),
  /** What does not work because of it. */
  disables: z.enum(['cruise', 'high', 'fog', 'roof', 'rear']).nullable(),
  status: z.enum(['open', 'booked']),
})

const appointment = z.object({ appointment: z.string(), fault: z.string(), garage: z.string(), date })

const playlist = z.object({
  playlist: z.string(),
  title: z.string(),
  driver: z.string(),
  songs: z.int().positive(),
  explicit: z.boolean(),
})

export const tables = {
  cars: { row: car, key: 'car' },
  drivers: { row: driver, key: 'driver', missing: 'unknown_driver' },
  doors: { row: door, key: 'door' },
  windows: { row: window, key: 'window' },
  tyres: { row: tyre, key: 'tyre' },
  destinations: { row: destination, key: 'destination', missing: 'unknown_destination' },
  trips: { row: trip, key: 'trip' },
  faults: { row: fault, key: 'fault', missing: 'unknown_fault' },
  appointments: { row: appointment, key: 'appointment' },
  playlists: { row: playlist, key: 'playlist' },
} as const

export const failures = {
  unknown_driver: 'There is no such driver.',
  unknown_destination: 'There is no such destination.',
  unknown_fault: 'There is no such fault.',
  unknown_playlist: 'No playlist has that title.',
  ambiguous_playlist: 'Several playlists fit that title.',
  unknown_address: 'There is no such address.',
  engine_off: 'The engine must be running for that.',
  engine_running: 'The engine must be off for that.',
  brake_released: 'The foot brake must be on for that.',
  brake_on: 'A brake is on.',
  would_roll_away: 'Nothing else would hold the car.',
  not_in_park: 'The gear must be in park for that.',
  no_gear: 'The gear must be in drive or reverse for that.',
  vehicle_moving: 'The car must stand still for that.',
  door_open: 'A door or the trunk is open.',
  door_locked: 'It is locked.',
  cable_connected: 'The charging cable is plugged in.',
  not_charging: 'The charging cable is not plugged in.',
  no_charger: 'There is no charger where the car stands.',
  wrong_connector: 'The charger has another connector.',
  battery_full: 'The battery is full.',
  low_battery: 'The battery is too low for that while the engine is off.',
  out_of_range: 'The battery does not last that far.',
  trip_under_way: 'A trip is under way: park and stop the engine first.',
  no_trip: 'No trip is under way that could be logged.',
  already_there: 'The car is there already.',
  over_limit: 'The car may not go that fast now.',
  too_slow: 'The car is too slow for cruise control.',
  safety_hold: 'A critical fault stands in the way until its repair is booked.',
  part_faulty: 'A fault disables that part.',
  licence_expired: 'The licence of this driver has expired.',
  child_lock: 'The child mode does not allow that.',
  valet_restricted: 'The valet mode does not allow that.',
  wrong_pin: 'That is not the PIN of the car.',
  pin_locked: 'After three wrong PINs the car takes none any more; its garage has to reset it.',
  destination_exists: 'A destination of that name is saved already.',
  memory_full: 'No more destinations can be saved.',
  not_a_garage: 'That destination is not a garage.',
  wrong_garage: 'This garage does not repair that.',
  garage_closed: 'The garage is closed on that day.',
  garage_full: 'The garage has no time on that day.',
  bad_date: 'An appointment must lie between tomorrow and 60 days ahead.',
  already_booked: 'The repair of this fault is booked already.',
  day_taken: 'The car is at another garage on that day.',
} as const

export type VehicleTables = typeof tables
export type FailureCode = keyof typeof failures
export type Context = ToolContext<typeof tables, FailureCode>
export type Obstacle = ObstacleOf<typeof failures>
export type VehicleDb = Db<VehicleTables>
export type VehicleView = DbView<VehicleTables>
export type Car = RowOf<VehicleTables['cars']>
export type Driver = RowOf<VehicleTables['drivers']>
export type Door = RowOf<VehicleTables['doors']>
export type Window = RowOf<VehicleTables['windows']>
export type Destination = RowOf<VehicleTables['destinations']>
export type Trip = RowOf<VehicleTables['trips']>
export type Fault = RowOf<VehicleTables['faults']>
export type Playlist = RowOf<VehicleTables['playlists']>
export type System = (typeof SYSTEMS)[number]

export const tool = toolMaker(tables, failures)
