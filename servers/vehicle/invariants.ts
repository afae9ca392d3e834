import type { Invariant } from '../kernel/define-environment.js'
import { isOpenOn, LIMITS, theCar, topSpeed } from './rules.js'
import type { VehicleTables, VehicleView } from './schema.js'

type VehicleInvariant = Invariant<VehicleTables>

const motionIsSafe: VehicleInvariant = {
  name: 'the car moves only with a running engine, in gear, with brakes off and doors closed',
  check(now) {
    const { speed, engine, gear, foot_brake, parking_brake } = theCar(now)
    if (speed === 0) return undefined
    const open = now.doors.find((row) => row.open)
    const safe =
      engine === 'running' &&
      (gear === 'drive' || gear === 'reverse') &&
      foot_brake === 'off' &&
      parking_brake === 'off' &&
      !open
    return safe ? undefined : `${speed} km/h, engine ${engine}, ${gear}, foot ${foot_brake}, parking ${parking_brake}`
  },
}

const carIsHeld: VehicleInvariant = {
  name: 'a standing car is held by park or by a brake',
  check(now) {
    const { speed, gear, foot_brake, parking_brake } = theCar(now)
    const held = gear === 'park' || foot_brake === 'on' || parking_brake === 'on'
    return speed > 0 || held ? undefined : `nothing holds the car in ${gear}`
  },
}

const carStartsStanding: VehicleInvariant = {
  name: 'a car stands when a session begins, and one that moves knows since when and lasts as far as it has come',
  check(now, seed) {
    if (theCar(seed).speed > 0) return `it begins at ${theCar(seed).speed} km/h`
    const { speed, since, metres, engine, energy, consumption } = theCar(now)
    if (speed > 0 !== (since !== null)) return `${speed} km/h since ${since}`
    if (engine === 'off' && metres > 0) return `${metres} m with the engine off`
    return metres * consumption > energy * 1000 ? `${metres} m on ${energy} Wh` : undefined
  },
}

const speedIsAllowed: VehicleInvariant = {
  name: 'the speed is within what driver, mode and faults allow, and what follows from it has happened',
  check(now) {
    const car = theCar(now)
    const { limit, why } = topSpeed(now, car)
    if (car.speed > limit) return `${car.speed} km/h, but ${why} ${limit}`
    if (car.speed > LIMITS.autoLock && now.doors.find(({ locked }) => !locked)) return 'a door is not locked'
    if (car.speed > LIMITS.roof && now.windows.get('roof')!.opening > 0) return 'the roof window is open'
    return undefined
  },
}

const cruiseHolds: VehicleInvariant = {
  name: 'cruise control holds the speed of the car, in drive and above its least speed',
  check(now) {
    const { cruise, speed, gear } = theCar(now)
    const fine = cruise === null || (cruise === speed && speed >= LIMITS.cruise && gear === 'drive')
    return fine ? undefined : `cruise ${cruise}, speed ${speed}, ${gear}`
  },
}

const cableIsSafe: VehicleInvariant = {
  name: 'the cable is plugged in only at a fitting charger, in park, with the engine off',
  check(now) {
    const { charging_since, engine, gear, location, connector } = theCar(now)
    if (charging_since === null) return undefined
    const fits = now.destinations.get(location)?.connector === connector
    return engine === 'off' && gear === 'park' && fits
      ? undefined
      : `charging at ${location}, engine ${engine}, ${gear}`
  },
}

/** km of the trips in the log. */
const logged = (db: VehicleView): number => db.trips.list().reduce((sum, { km }) => sum + km, 0)

const energyIsBalanced: VehicleInvariant = {
  name: 'the battery has lost what the driven km took and gained what was charged, and is neither empty nor overfull',
  check(now, seed) {
    const [car, before] = [theCar(now), theCar(seed)]
    const due = before.energy + (car.charged - before.charged) - (car.odometer - before.odometer) * car.consumption
    return car.energy === due && car.energy <= car.capacity ? undefined : `${car.energy} Wh instead of ${due}`
  },
}

const odometerIsLogged: VehicleInvariant = {
  name: 'the odometer has moved by exactly the km of the trip log, whose old entries never change',
  check(now, seed) {
    const moved = theCar(now).odometer - theCar(seed).odometer
    if (moved !== logged(now) - logged(seed)) return `odometer ${moved} km, log ${logged(now) - logged(seed)} km`
    const changed = seed.trips.find((trip) => JSON.stringify(now.trips.get(trip.trip)) !== JSON.stringify(trip))
    return changed && `${changed.trip} changed`
  },
}

const modesHold: VehicleInvariant = {
  name: 'valet mode keeps the trunk locked and no route to a saved destination, child mode plays nothing explicit',
  check(now) {
    const { guard, route, playlist } = theCar(now)
    if (guard === 'valet' && !now.doors.get('trunk')!.locked) return 'the trunk is not locked'
    if (guard === 'valet' && route !== null && now.destinations.get(route)!.kind === 'saved')
      return `on the way to ${route}`
    if (guard === 'child' && playlist !== null && now.playlists.get(playlist)!.explicit) return `${playlist} plays`
    return undefined
  },
}

const lockedIsClosed: VehicleInvariant = {
  name: 'what is locked is closed',
  check: (now) => now.doors.find(({ open, locked }) => open && locked)?.door,
}

const servicesFit: VehicleInvariant = {
  name: 'each booked fault has one appointment, on an open day at a garage that repairs it, one garage a day',
  check(now) {
    const wrong = now.appointments.find(({ fault, garage, date }) => {
      const place = now.destinations.get(garage)
      const row = now.faults.get(fault)
      return (
        place?.free_from == null ||
        !row ||
        !place.logitErrors.includes(row.system) ||
        !isOpenOn(place, date) ||
        date < place.free_from ||
        now.appointments.by('date', date).some((other) => other.garage !== garage)
      )
    })
    if (wrong) return `${wrong.appointment} cannot be`
    const odd = now.faults.find(
      ({ fault, status }) => now.appointments.by('fault', fault).length !== (status === 'booked' ? 1 : 0),
    )
    return odd && `${odd.fault} is ${odd.status}`
  },
}

const memoryHolds: VehicleInvariant = {
  name: 'saved destinations have different names and fit into the memory',
  check(now) {
    const names = now.destinations.by('kind', 'saved').map(({ name }) => name.toLowerCase())
    if (names.length > LIMITS.saved) return `${names.length} are saved`
    return new Set(names).size === names.length ? undefined : 'two have the same name'
  },
}

const routeIsReal: VehicleInvariant = {
  name: 'a trip is under way only on a route, and everything referred to exists',
  check(now) {
    const { under_way, route, route_km, location, driver, playlist } = theCar(now)
    if ((under_way && route === null) || (route === null) !== (route_km === 0)) return `route ${route}, ${route_km} km`
    if (!now.destinations.has(location) || (route !== null && !now.destinations.has(route)))
      return `lost at ${location}`
    if (!now.drivers.has(driver) || (playlist !== null && !now.playlists.has(playlist))) return `${driver}, ${playlist}`
    return now.trips.find((row) => !now.destinations.has(row.destination) || !now.drivers.has(row.driver))?.trip
  },
}

export const vehicleInvariants = [
  motionIsSafe,
  carIsHeld,
  carStartsStanding,
  speedIsAllowed,
  cruiseHolds,
  cableIsSafe,
  energyIsBalanced,
  odometerIsLogged,
  modesHold,
  lockedIsClosed,
  servicesFit,
  memoryHolds,
  routeIsReal,
]
