import { addDays, minutesBetween } from '../kernel/dates.js'
import {
  CAR,
  type Car,
  type Destination,
  type Fault,
  type Obstacle,
  type VehicleDb,
  type VehicleView,
} from './schema.js'

/** The car's limits: name, value, unit. */
export const LIMITS = {
  /** Least speed for cruise control, km/h. */
  cruise: 30,
  /** Most in valet mode, km/h. */
  valet: 50,
  /** Most while a critical fault is not booked for repair, km/h. */
  hold: 80,
  reverse: 15,
  /** What the car does by itself in gear once the brakes are off, km/h. */
  creep: 5,
  /** Above this speed the doors lock themselves, km/h. */
  autoLock: 20,
  /** Above this speed the roof window is shut, km/h. */
  roof: 100,
  /** Least charge for windows, climate and music with the engine off, per cent. */
  standby: 15,
  /** Least charge to start the engine, per cent. */
  start: 3,
  /** Destinations that can be saved. */
  saved: 36,
  /** How far ahead a garage takes appointments, days. */
  bookingDays: 60,
} as const

export const theCar = (db: VehicleView): Car => db.cars.get(CAR)!

export const chargePercent = ({ energy, capacity }: Car): number => Math.floor((100 * energy) / capacity)

export const rangeKm = ({ energy, consumption }: Car): number => Math.floor(energy / consumption)

/** Metres driven since the engine was started: as far as the battery lasts. */
export function drivenMetres({ metres, speed, since, energy, consumption }: Car, now: string): number {
  const lately = since === null ? 0 : Math.floor((speed * 1000 * minutesBetween(since, now)) / 60)
  return Math.min(metres + lately, Math.floor((1000 * energy) / consumption))
}

/** The car with what the drive that is under way has taken out of its battery, which is booked when the engine stops. */
export const withDrive = (car: Car, now: string): Car => ({
  ...car,
  energy: car.energy - Math.ceil((drivenMetres(car, now) * car.consumption) / 1000),
})

/** km of the trip that the log gets if the engine stops now, 0 if there was none. */
export function tripKm(car: Car, now: string): number {
  const driven = Math.floor(drivenMetres(car, now) / 1000)
  return car.under_way ? Math.max(car.route_km, driven) : driven
}

/** Whether windows, climate and music have power. */
export const hasPower = (car: Car): boolean => car.engine === 'running' || chargePercent(car) >= LIMITS.standby

/** The open fault that disables `part`, if any; booking its repair does not mend it. */
export const faultOf = (db: VehicleView, part: NonNullable<Fault['disables']>): Fault | undefined =>
  db.faults.by('disables', part)[0]

/** Returns the critical fault whose repair is not booked, if any. */
export const safetyHold = (db: VehicleView): Fault | undefined =>
  db.faults.by('severity', 'critical').find(({ status }) => status === 'open')

/** The most the car may go now in km/h, and who says so. */
export function topSpeed(db: VehicleView, car: Car): { readonly limit: number; readonly why: string } {
  const { name, top_speed } = db.drivers.get(car.driver)!
  const limits = [{ limit: top_speed, why: `${name} may drive` }]
  if (car.gear === 'reverse') limits.push({ limit: LIMITS.reverse, why: 'in reverse the car goes' })
  if (car.guard === 'valet') limits.push({ limit: LIMITS.valet, why: 'in valet mode the car goes' })
  const hold = safetyHold(db)
  if (hold) limits.push({ limit: LIMITS.hold, why: `until the repair of "${hold.title}" is booked the car goes` })
  return limits.reduce((least, next) => (next.limit < least.limit ? next : least))
}

const inGear = ({ gear }: Car): boolean => gear === 'drive' || gear === 'reverse'

const openDoor = (db: VehicleView): Obstacle | undefined => {
  const door = db.doors.by('open', true)[0]
  return door && { code: 'door_open', detail: `Open: ${door.door}.` }
}

/** Who may not start the engine now and why. */
export function startObstacle(db: VehicleView, today: string, driver: string): Obstacle | undefined {
  const car = theCar(db)
  const row = db.drivers.get(driver)
  if (!row) return { code: 'unknown_driver', detail: `There is no driver ${driver}.` }
  if (car.engine === 'running') return { code: 'engine_running', detail: 'The engine is running already.' }
  if (car.charging_since !== null) return { code: 'cable_connected' }
  if (inGear(car))
    return { code: 'not_in_park', detail: `The gear is in ${car.gear}; the engine starts in park or neutral.` }
  if (car.foot_brake === 'off') return { code: 'brake_released' }
  if (row.licence_until < today)
    return { code: 'licence_expired', detail: `The licence of ${row.name} expired on ${row.licence_until}.` }
  if (chargePercent(car) < LIMITS.start) return { code: 'low_battery', detail: 'The battery must be charged first.' }
  return undefined
}

export function shiftObstacle(car: Car, gear: Car['gear']): Obstacle | undefined {
  if (car.charging_since !== null && gear !== 'park') return { code: 'cable_connected' }
  if (car.foot_brake === 'off') return { code: 'brake_released' }
  if (car.engine === 'off' && (gear === 'drive' || gear === 'reverse')) return { code: 'engine_off' }
  return undefined
}

/** Returns the speed of the car after this change of its brakes, or why the change is impossible. */
export function brakeOutcome(
  db: VehicleView,
  brake: 'foot' | 'parking',
  state: 'on' | 'off',
): { readonly speed: number } | Obstacle {
  const car = theCar(db)
  if (brake === 'parking') {
    if (state === 'on') return car.speed > 0 ? { code: 'vehicle_moving' } : { speed: 0 }
    return car.foot_brake === 'off' && car.parking_brake === 'on' ? { code: 'brake_released' } : { speed: car.speed }
  }
  if (state === 'on') return { speed: 0 }
  if (car.foot_brake === 'off') return { speed: car.speed }
  if (car.gear === 'park' || car.parking_brake === 'on') return { speed: 0 }
  if (car.engine === 'off' || car.gear === 'neutral') return { code: 'would_roll_away' }
  return openDoor(db) ?? { speed: LIMITS.creep }
}

/** Why the driver cannot bring the car to `speed`, if so. */
export function speedObstacle(db: VehicleView, now: string, speed: number): Obstacle | undefined {
  const car = theCar(db)
  if (car.engine === 'off') return { code: 'engine_off' }
  if (!inGear(car)) return { code: 'no_gear', detail: `The gear is in ${car.gear}.` }
  if (car.foot_brake === 'on' || car.parking_brake === 'on')
    return { code: 'brake_on', detail: `The ${car.foot_brake === 'on' ? 'foot' : 'parking'} brake is on.` }
  if (rangeKm(withDrive(car, now)) === 0) return { code: 'low_battery', detail: 'The battery is empty.' }
  const { limit, why } = topSpeed(db, car)
  if (speed > limit) return { code: 'over_limit', detail: `At present ${why} at most ${limit} km/h.` }
  return openDoor(db)
}

/** Why cruise control cannot hold `speed`, if so. */
export function cruiseObstacle(db: VehicleView, now: string, speed: number): Obstacle | undefined {
  const car = theCar(db)
  if (car.engine === 'off') return { code: 'engine_off' }
  if (car.gear !== 'drive' || car.speed < LIMITS.cruise)
    return { code: 'too_slow', detail: `The car goes ${car.speed} km/h; it takes ${LIMITS.cruise} in drive.` }
  const hold = safetyHold(db)
  if (hold) return { code: 'safety_hold', detail: `"${hold.title}" is critical: book its repair first.` }
  const broken = faultOf(db, 'cruise')
  if (broken) return { code: 'part_faulty', detail: `"${broken.title}" disables cruise control.` }
  return speedObstacle(db, now, speed)
}

/** Lets the car go at `speed`, with all that follows from it: the trip begins, doors lock, the roof shuts. */
export function goAt(db: VehicleDb, now: string, speed: number, cruise: number | null): Car {
  const car = theCar(db)
  if (speed > LIMITS.autoLock)
    for (const { door } of db.doors.by('locked', false)) db.doors.update(door, { locked: true })
  if (speed > LIMITS.roof && db.windows.get('roof')!.opening > 0) db.windows.update('roof', { opening: 0 })
  const drive = speed === car.speed ? {} : { since: speed === 0 ? null : now, metres: drivenMetres(car, now) }
  return db.cars.update(CAR, { speed, cruise, ...drive, under_way: car.under_way || (speed > 0 && car.route !== null) })
}

/** Why there can be no route to `place`, if so. */
export function routeObstacle(car: Car, place: Destination, km: number): Obstacle | undefined {
  if (car.guard === 'valet' && place.kind === 'saved')
    return { code: 'valet_restricted', detail: 'Saved destinations are hidden in valet mode.' }
  if (!hasPower(car)) return { code: 'low_battery' }
  if (car.under_way) return { code: 'trip_under_way' }
  if (place.destination === car.location) return { code: 'already_there' }
  if (km > rangeKm(car))
    return { code: 'out_of_range', detail: `${place.name} is ${km} km away, the battery lasts for ${rangeKm(car)} km.` }
  return undefined
}

/** Why the car cannot be charged where it stands, if so. */
export function chargeObstacle(db: VehicleView): Obstacle | undefined {
  const car = theCar(db)
  const { name, kilowatts, connector } = db.destinations.get(car.location)!
  if (car.charging_since !== null) return { code: 'cable_connected' }
  if (car.engine === 'running') return { code: 'engine_running' }
  if (car.gear !== 'park') return { code: 'not_in_park' }
  if (kilowatts === null) return { code: 'no_charger', detail: `There is no charger at ${name}.` }
  if (connector !== car.connector)
    return { code: 'wrong_connector', detail: `The charger has ${connector}, the car takes ${car.connector}.` }
  return car.energy === car.capacity ? { code: 'battery_full' } : undefined
}

/** Why the repair of a fault cannot be booked so, if so. */
export function bookingObstacle(
  db: VehicleView,
  today: string,
  fault: Fault,
  garage: Destination,
  date: string,
): Obstacle | undefined {
  if (fault.status === 'booked') return { code: 'already_booked' }
  if (garage.free_from === null) return { code: 'not_a_garage', detail: `${garage.name} is not a garage.` }
  if (!garage.logitErrors.includes(fault.system))
    return { code: 'wrong_garage', detail: `${garage.name} repairs only ${garage.logitErrors.join(', ')}.` }
  if (date <= today || date > addDays(today, LIMITS.bookingDays)) return { code: 'bad_date' }
  if (!isOpenOn(garage, date)) return { code: 'garage_closed', detail: `${garage.name} is closed on ${date}.` }
  if (date < garage.free_from)
    return { code: 'garage_full', detail: `${garage.name} has time from ${garage.free_from}.` }
  const other = db.appointments.by('date', date).find((row) => row.garage !== garage.destination)
  return other && { code: 'day_taken' }
}

/** Garages close on Sundays and most of them on Saturdays. */
export function isOpenOn(garage: Destination, date: string): boolean {
  const weekday = new Date(`${date}T00:00:00Z`).getUTCDay()
  return weekday !== 0 && (weekday !== 6 || garage.open_saturdays)
}
