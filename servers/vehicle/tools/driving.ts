import { z } from 'zod'
import { chooseByDraws } from '../../kernel/choose.js'
import { ref } from '../../kernel/fields.js'
import {
  brakeOutcome,
  chargePercent,
  cruiseObstacle,
  goAt,
  LIMITS,
  shiftObstacle,
  speedObstacle,
  startObstacle,
  theCar,
  topSpeed,
  tripKm,
} from '../rules.js'
import { cross, pickAgreeing } from '../sampling.js'
import { CAR, GEARS, PURPOSES, speed, tool } from '../schema.js'

const startEngine = tool({
  name: 'start_engine',
  description:
    'Start the engine for a driver with a valid licence, who becomes the current driver with their seat and temperature. The gear must be in park or neutral, the foot brake on and the charging cable out.',
  input: z.strictObject({ driver: ref('driver') }),
  output: z.object({
    name: z.string(),
    engine: z.string(),
    seat: z.int(),
    temperature: z.int(),
    top_speed: z.int(),
  }),
  annotations: { readOnly: false },
  establishes: ['engine_running'],
  needs: ['brake_set', 'cable_moved'],
  sample({ db, random, bound, today }) {
    const row = chooseByDraws(db.drivers, random, bound.driver, ({ driver }) => !startObstacle(db, today(), driver))
    return row ? { driver: row.driver } : null
  },
  run({ driver }, { unless, db, today }) {
    unless(startObstacle(db, today(), driver))
    const row = db.drivers.get(driver)!
    const car = db.cars.update(CAR, {
      engine: 'running',
      driver,
      climate: { ...theCar(db).climate, driver: row.temperature },
    })
    return { ...row, engine: car.engine, top_speed: topSpeed(db, car).limit }
  },
})

const stopEngine = tool({
  name: 'stop_engine',
  description:
    'Stop the engine; the gear must be in park. A trip that is under way ends at its destination, a drive of a kilometre or more without a route where it set out; either goes into the trip log, as private unless a purpose is given. A route on which the car has not moved is dropped.',
  input: z.strictObject({
    purpose: z.enum(PURPOSES).describe('How the trip is logged; private if not given.').optional(),
  }),
  output: z.object({
    engine: z.string(),
    charge: z.int(),
    name: z.string().optional().describe('Where the trip ended.'),
    km: z.int().optional(),
    purpose: z.string().optional(),
  }),
  annotations: { readOnly: false },
  establishes: ['engine_stopped'],
  needs: ['engine_running', 'gear_set'],
  sample({ db, random, bound, now }) {
    const car = theCar(db)
    if (car.engine === 'off' || car.gear !== 'park') return null
    const purpose = bound.purpose ?? (random.chance(0.5) ? random.pick(PURPOSES) : undefined)
    return tripKm(car, now()) > 0 && purpose !== undefined ? { purpose } : {}
  },
  run({ purpose }, { db, fail, nextId, now, today }) {
    const car = theCar(db)
    if (car.engine === 'off') fail('engine_off', 'The engine is off already.')
    if (car.gear !== 'park') fail('not_in_park', `The gear is in ${car.gear}.`)
    const rest = { engine: 'off', beam: 'off', route: null, route_km: 0, under_way: false, metres: 0 } as const
    const km = tripKm(car, now())
    if (km === 0) {
      if (purpose !== undefined) fail('no_trip')
      return { engine: db.cars.update(CAR, rest).engine, charge: chargePercent(car) }
    }
    const place = car.under_way ? car.route! : car.location
    const arrived = db.cars.update(CAR, {
      ...rest,
      energy: car.energy - km * car.consumption,
      odometer: car.odometer + km,
      location: place,
    })
    const trip = db.trips.insert({
      trip: nextId('trip'),
      name: db.destinations.get(place)!.name,
      destination: place,
      driver: car.driver,
      date: today(),
      km,
      purpose: purpose ?? 'private',
    })
    return { ...trip, engine: arrived.engine, charge: chargePercent(arrived) }
  },
})

const setBrake = tool({
  name: 'set_brake',
  description: `Put the foot brake or the parking brake on or off. The foot brake stops the car and ends cruise control. The parking brake goes on only when the car stands, and off only while the foot brake is on. In drive or reverse the car creeps at ${LIMITS.creep} km/h once both are off.`,
  input: z.strictObject({
    brake: z.enum(['foot', 'parking']).describe('Which brake.'),
    state: z.enum(['on', 'off']).describe('Whether it is to be on or off.'),
  }),
  output: z.object({ foot_brake: z.string(), parking_brake: z.string(), speed: z.int() }),
  annotations: { readOnly: false, idempotent: true },
  establishes: ['brake_set', 'standing'],
  needs: ['gear_set', 'doors_closed', 'moving'],
  sample({ db, random, bound }) {
    const car = theCar(db)
    const changes = cross(['foot', 'parking'] as const, ['on', 'off'] as const)
      .filter(([brake, state]) => car[`${brake}_brake`] !== state && !('code' in brakeOutcome(db, brake, state)))
      .map(([brake, state]) => ({ brake, state }))
    // What the foot does is said where nothing else can be done.
    const byHand = changes.filter(({ brake }) => brake === 'parking')
    const likely = byHand.length > 0 && random.chance(0.8) ? byHand : changes
    // In gear somebody wants to go, and who drives brakes now and then.
    const releases = changes.filter(({ state }) => state === 'off' && car.gear === 'drive')
    const drivesOn = car.speed > 0 && bound.state === undefined && random.chance(0.6)
    return pickAgreeing(random, bound, drivesOn ? releases : [...likely, ...releases, ...releases])
  },
  run({ brake, state }, { db, fail, now }) {
    const outcome = brakeOutcome(db, brake, state)
    if ('code' in outcome) return fail(outcome.code, outcome.detail)
    const cruise = outcome.speed === 0 ? null : theCar(db).cruise
    goAt(db, now(), outcome.speed, cruise)
    return db.cars.update(CAR, brake === 'foot' ? { foot_brake: state } : { parking_brake: state })
  },
})

const shiftGear = tool({
  name: 'shift_gear',
  description:
    'Shift into a gear. The foot brake must be on and the charging cable out; drive and reverse need a running engine.',
  input: z.strictObject({ gear: z.enum(GEARS).describe('Gear that the car gets.') }),
  output: z.object({ gear: z.string(), engine: z.string(), foot_brake: z.string(), parking_brake: z.string() }),
  annotations: { readOnly: false, idempotent: true },
  establishes: ['gear_set'],
  needs: ['engine_running', 'brake_set'],
  sample({ db, random, bound }) {
    const car = theCar(db)
    // Who has started the engine drives off; nobody stops in neutral.
    const gears = GEARS.filter((gear) => gear !== car.gear && !shiftObstacle(car, gear)).flatMap((gear) =>
      gear === 'drive' || gear === 'park' ? [gear, gear, gear] : [gear],
    )
    return pickAgreeing(
      random,
      bound,
      gears.map((gear) => ({ gear })),
    )
  },
  run({ gear }, { unless, db }) {
    unless(shiftObstacle(theCar(db), gear))
    return db.cars.update(CAR, { gear })
  },
})

const drives = z.object({ speed: z.int(), cruise: z.int().nullable(), gear: z.string() })

/** Speeds that people choose, km/h; below the first of the rest they only manoeuvre. */
const SPEEDS = { slow: [5, 10, 15, 20, 25], fast: [30, 40, 50, 60, 70, 80, 90, 100, 110, 120, 130] } as const
/** How much faster than before people go at once, km/h. */
const SPURT = 80

const accelerateTo = tool({
  name: 'accelerate_to',
  description: `Drive at a speed in km/h, without cruise control; what is driven takes charge, until the battery is empty. The gear must be in drive or reverse, both brakes off and all doors closed. The driver, reverse (${LIMITS.reverse}), valet mode (${LIMITS.valet}) and a critical fault (${LIMITS.hold}) limit the speed. Above ${LIMITS.autoLock} the doors lock, above ${LIMITS.roof} the roof window shuts.`,
  input: z.strictObject({ speed: speed.min(5).describe('km/h.') }),
  output: drives,
  annotations: { readOnly: false, idempotent: true },
  establishes: ['moving'],
  needs: ['brake_set'],
  sample({ db, random, bound, now }) {
    if (bound.speed !== undefined) return speedObstacle(db, now(), bound.speed) ? null : { speed: bound.speed }
    if (speedObstacle(db, now(), 5)) return null
    const { limit } = topSpeed(db, theCar(db))
    const { speed } = theCar(db)
    const further = (limit < LIMITS.cruise ? SPEEDS.slow : SPEEDS.fast).filter(
      (wanted) => wanted > speed && wanted <= Math.min(limit, speed + SPURT),
    )
    return further.length > 0 ? { speed: random.pick(further) } : null
  },
  run({ speed }, { unless, db, now }) {
    unless(speedObstacle(db, now(), speed))
    return goAt(db, now(), speed, null)
  },
})

const setCruiseControl = tool({
  name: 'set_cruise_control',
  description: `Let cruise control hold a speed in km/h. The car must already go at least ${LIMITS.cruise} in drive; the driver's top speed and the valet mode hold. A critical fault whose repair is not booked prevents it. The foot brake or accelerating ends it.`,
  input: z.strictObject({ speed: speed.min(LIMITS.cruise).describe('km/h.') }),
  output: drives,
  annotations: { readOnly: false, idempotent: true },
  needs: ['moving', 'hold_lifted'],
  sample({ db, random, bound, now }) {
    if (bound.speed !== undefined) return cruiseObstacle(db, now(), bound.speed) ? null : { speed: bound.speed }
    // Cruise control holds the speed that somebody has come to, or one not far above.
    const near = [0, 5, 10].map((more) => theCar(db).speed + more).filter((speed) => !cruiseObstacle(db, now(), speed))
    return near.length === 0 ? null : { speed: random.pick(near) }
  },
  run({ speed }, { unless, db, now }) {
    unless(cruiseObstacle(db, now(), speed))
    return goAt(db, now(), speed, speed)
  },
})

export const drivingTools = [startEngine, stopEngine, setBrake, shiftGear, accelerateTo, setCruiseControl]
