import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { addDays } from '../../../servers/kernel/dates.js'
import { parseAddress } from '../../../servers/kernel/gazetteer.js'
import { generateSeedState, Session } from '../../../servers/kernel/session.js'
import { streetsOf } from '../../../servers/kernel/streets.js'
import { vehicle } from '../../../servers/vehicle/index.js'
import { HOMES, pointOf, roadKm } from '../../../servers/vehicle/map.js'
import { chargePercent, LIMITS, rangeKm, safetyHold, theCar, topSpeed } from '../../../servers/vehicle/rules.js'
import {
  CAR,
  type Car,
  type Destination,
  type Fault,
  type VehicleDb,
  type VehicleView,
} from '../../../servers/vehicle/schema.js'
import { checkEnvironmentContract } from '../../support/environment-contract.js'
import { type Call, refusal, succeed } from '../../support/session-calls.js'

const TODAY = '2026-03-02'
/** A world whose car is nearly empty, has a critical fault and one in the rear heater, and stands at a fitting charger. */
const NEARLY_EMPTY = 175

const stateOf = (session: Session) => session.db as unknown as VehicleView
const carOf = (session: Session) => theCar(stateOf(session))
const open = (seed: number) => Session.open(generateSeedState(vehicle, seed))
/** A session whose world fits. */
const openWhere = (fits: (db: VehicleView) => boolean): Session => {
  for (let seed = 1; seed < 300; seed++) if (fits(stateOf(open(seed)))) return open(seed)
  throw new Error('no such world')
}

const brake = (which: 'foot' | 'parking', state: 'on' | 'off'): Call => ['set_brake', { brake: which, state }]
const shift = (gear: string): Call => ['shift_gear', { gear }]
const go = (speed: number): Call => ['accelerate_to', { speed }]
const door = (which: string, action: string): Call => ['operate_door', { door: which, action }]
const guard = (session: Session, mode: string): Call => ['set_guard_mode', { mode, pin: carOf(session).pin }]
const navigate = ({ destination }: Destination): Call => ['start_navigation', { destination }]
const owner = (session: Session): string => stateOf(session).drivers.list()[0]!.driver

/** Whatever the car did: parked, foot brake on, engine off, cable out, doors closed, no guard mode. */
function park(session: Session): void {
  if (carOf(session).charging_since !== null) succeed(session, 'switch_charging', { charging: 'off' })
  succeed(session, ...brake('foot', 'on'))
  succeed(session, ...shift('park'))
  if (carOf(session).engine === 'running') succeed(session, 'stop_engine', {})
  for (const row of stateOf(session).doors.list()) succeed(session, ...door(row.door, 'close'))
  succeed(session, ...guard(session, 'off'))
}

function start(session: Session): void {
  park(session)
  succeed(session, 'start_engine', { driver: owner(session) })
}

function drive(session: Session, speed: number): void {
  start(session)
  roll(session, speed)
}

/** From a running engine in park to driving. */
function roll(session: Session, speed: number): void {
  succeed(session, ...shift('drive'))
  succeed(session, ...brake('parking', 'off'))
  succeed(session, ...brake('foot', 'off'))
  succeed(session, ...go(speed))
}

/** Drives to a destination and stops the engine there. */
function travel(session: Session, place: Destination): Readonly<Record<string, unknown>> {
  start(session)
  succeed(session, ...navigate(place))
  roll(session, 40)
  succeed(session, ...brake('foot', 'on'))
  succeed(session, ...shift('park'))
  return succeed(session, 'stop_engine', {})
}

const kmTo = (session: Session, place: Destination): number =>
  roadKm(stateOf(session).destinations.get(carOf(session).location)!, place)
const within = (session: Session, fits: (place: Destination) => boolean): Destination =>
  stateOf(session).destinations.find(
    (row) => fits(row) && row.destination !== carOf(session).location && kmTo(session, row) <= rangeKm(carOf(session)),
  )!
const isGarage = ({ kind }: Destination) => kind === 'garage'
const faultWhere = (session: Session, fits: (row: Fault) => boolean) => stateOf(session).faults.find(fits)!
const garageFor = (session: Session, { system }: Fault): Destination =>
  stateOf(session).destinations.find((row) => isGarage(row) && row.logitErrors.includes(system))!
const book = (fault: Fault, garage: Destination, date: string): Call => [
  'book_service',
  { fault: fault.fault, garage: garage.destination, date },
]
/** A Wednesday at least five weeks ahead: every garage is open and has time. */
const WEDNESDAY = '2026-04-15'
const isOpen = ({ status }: Fault) => status === 'open'
const bookCritical = (session: Session) => {
  const fault = safetyHold(stateOf(session))
  if (fault) succeed(session, ...book(fault, garageFor(session, fault), WEDNESDAY))
}

checkEnvironmentContract(vehicle, {
  sampleFloor: 1,
  provokeSeed: NEARLY_EMPTY,
  provoke: {
    unknown_driver: () => ['start_engine', { driver: 'nobody-known' }],
    unknown_destination: (s) => {
      start(s)
      return ['start_navigation', { destination: 'nowhere' }]
    },
    unknown_fault: (s) => [
      'book_service',
      { fault: 'fault-7', garage: within(s, isGarage).destination, date: WEDNESDAY },
    ],
    unknown_playlist: () => ['play_playlist', { title: 'Silence of the Yaks' }],
    ambiguous_playlist: (s) => {
      const [head] = stateOf(s).playlists.list()[0]!.title.split(' ')
      return ['play_playlist', { title: head }]
    },
    unknown_address: () => ['save_destination', { name: 'Moon Base', address: '1 Crater Lane, Moon' }],
    engine_off: (s) => {
      park(s)
      return shift('drive')
    },
    engine_running: (s) => {
      start(s)
      return ['switch_charging', { charging: 'on' }]
    },
    brake_released: (s) => {
      start(s)
      succeed(s, ...brake('foot', 'off'))
      return shift('drive')
    },
    brake_on: (s) => {
      start(s)
      succeed(s, ...shift('drive'))
      return go(30)
    },
    would_roll_away: (s) => {
      park(s)
      succeed(s, ...brake('parking', 'off'))
      succeed(s, ...shift('neutral'))
      return brake('foot', 'off')
    },
    not_in_park: (s) => {
      start(s)
      succeed(s, ...shift('neutral'))
      return ['stop_engine', {}]
    },
    no_gear: (s) => {
      start(s)
      return go(30)
    },
    vehicle_moving: (s) => {
      drive(s, 30)
      return brake('parking', 'on')
    },
    door_open: (s) => {
      start(s)
      succeed(s, ...door('rear', 'unlock'))
      succeed(s, ...door('rear', 'open'))
      succeed(s, ...shift('reverse'))
      succeed(s, ...brake('parking', 'off'))
      return brake('foot', 'off')
    },
    door_locked: (s) => {
      park(s)
      succeed(s, ...door('driver', 'lock'))
      return door('driver', 'open')
    },
    cable_connected: (s) => {
      park(s)
      succeed(s, 'switch_charging', { charging: 'on' })
      return ['start_engine', { driver: owner(s) }]
    },
    not_charging: (s) => {
      park(s)
      return ['switch_charging', { charging: 'off' }]
    },
    no_charger: (s) => {
      travel(
        s,
        within(s, ({ kilowatts }) => kilowatts === null),
      )
      return ['switch_charging', { charging: 'on' }]
    },
    wrong_connector: (s) => {
      travel(
        s,
        within(s, ({ connector }) => connector !== null && connector !== carOf(s).connector),
      )
      return ['switch_charging', { charging: 'on' }]
    },
    battery_full: (s) => {
      park(s)
      succeed(s, 'switch_charging', { charging: 'on' })
      for (let minute = 0; minute < 900; minute++) succeed(s, 'set_headlights', { beam: 'off' })
      succeed(s, 'switch_charging', { charging: 'off' })
      return ['switch_charging', { charging: 'on' }]
    },
    low_battery: () => ['move_window', { window: 'driver', opening: 50 }],
    out_of_range: (s) => {
      start(s)
      return navigate(stateOf(s).destinations.find((row) => kmTo(s, row) > rangeKm(carOf(s)))!)
    },
    trip_under_way: (s) => {
      start(s)
      succeed(s, ...navigate(within(s, () => true)))
      roll(s, 40)
      return navigate(within(s, isGarage))
    },
    no_trip: (s) => {
      start(s)
      return ['stop_engine', { purpose: 'business' }]
    },
    already_there: (s) => {
      start(s)
      return ['start_navigation', { destination: carOf(s).location }]
    },
    over_limit: (s) => {
      drive(s, 10)
      return go(LIMITS.hold + 5)
    },
    too_slow: (s) => {
      drive(s, LIMITS.cruise - 5)
      return ['set_cruise_control', { speed: LIMITS.cruise }]
    },
    safety_hold: (s) => {
      drive(s, 50)
      return ['set_cruise_control', { speed: 50 }]
    },
    part_faulty: (s) => {
      start(s)
      return ['set_cabin_climate', { zone: 'rear', temperature: 21 }]
    },
    licence_expired: (s) => {
      park(s)
      return ['start_engine', { driver: stateOf(s).drivers.find((row) => row.licence_until < TODAY)!.driver }]
    },
    child_lock: (s) => {
      start(s)
      succeed(s, ...guard(s, 'child'))
      return ['move_window', { window: 'rear', opening: 20 }]
    },
    valet_restricted: (s) => {
      park(s)
      succeed(s, ...guard(s, 'valet'))
      return ['search_trips', { driver: owner(s), month: '2026-02' }]
    },
    wrong_pin: (s) => {
      park(s)
      return ['set_guard_mode', { mode: 'child', pin: carOf(s).pin === '1234' ? '4321' : '1234' }]
    },
    pin_locked: (s) => {
      park(s)
      const wrong = carOf(s).pin === '1234' ? '4321' : '1234'
      for (let i = 0; i < 3; i++) s.call('set_guard_mode', { mode: 'child', pin: wrong })
      return guard(s, 'child')
    },
    destination_exists: () => ['save_destination', { name: 'HOME', address: '3 Via Alta, Rome' }],
    memory_full: (s) => {
      const saved = stateOf(s).destinations.count(({ kind }) => kind === 'saved')
      for (let i = saved; i < LIMITS.saved; i++)
        succeed(s, 'save_destination', { name: `Stop ${i}`, address: `${i} Via Roma, Rome` })
      return ['save_destination', { name: 'One more', address: '3 Via Alta, Rome' }]
    },
    not_a_garage: (s) => book(faultWhere(s, isOpen), stateOf(s).destinations.get('home')!, WEDNESDAY),
    wrong_garage: (s) => {
      const fault = faultWhere(s, isOpen)
      const other = stateOf(s).destinations.find((row) => isGarage(row) && !row.logitErrors.includes(fault.system))!
      return book(fault, other, WEDNESDAY)
    },
    garage_closed: (s) => {
      const fault = faultWhere(s, isOpen)
      return book(fault, garageFor(s, fault), '2026-04-12')
    },
    garage_full: (s) => {
      const busy = stateOf(s).destinations.find((row) => (row.free_from ?? '') > '2026-03-06')!
      const fault = faultWhere(s, (row) => isOpen(row) && busy.logitErrors.includes(row.system))
      return book(fault, busy, '2026-03-05')
    },
    bad_date: (s) => {
      const fault = faultWhere(s, isOpen)
      return book(fault, garageFor(s, fault), TODAY)
    },
    already_booked: (s) => {
      const fault = faultWhere(s, ({ status }) => status === 'booked')
      return book(fault, garageFor(s, fault), WEDNESDAY)
    },
    day_taken: (s) => {
      const fault = faultWhere(s, isOpen)
      const elsewhere = (row: Fault) => isOpen(row) && garageFor(s, row).destination !== garageFor(s, fault).destination
      succeed(s, ...book(fault, garageFor(s, fault), WEDNESDAY))
      const other = faultWhere(s, elsewhere)
      return book(other, garageFor(s, other), WEDNESDAY)
    },
  },
})

test('an engine starts only with the foot brake on, and in park', () => {
  const session = open(3)
  park(session)
  succeed(session, ...brake('foot', 'off'))
  assert.is(refusal(session, 'start_engine', { driver: owner(session) }), 'brake_released')
  const stalled = openWhere((db) => theCar(db).engine === 'off' && theCar(db).gear === 'drive')
  assert.is(refusal(stalled, 'start_engine', { driver: owner(stalled) }), 'not_in_park')
  succeed(stalled, ...shift('park'))
  assert.is(succeed(stalled, 'start_engine', { driver: owner(stalled) }).engine, 'running')
})

test('the driver who starts the engine brings their temperature and their top speed along', () => {
  const session = open(5)
  park(session)
  const other = stateOf(session)
    .drivers.list()
    .findLast(({ licence_until }) => licence_until >= TODAY)!
  const stated = succeed(session, 'start_engine', { driver: other.driver })
  assert.is(stated.temperature, other.temperature)
  assert.is(carOf(session).climate.driver, other.temperature)
  assert.ok((stated.top_speed as number) <= other.top_speed)
  roll(session, 20)
  assert.is(refusal(session, ...go(topSpeed(stateOf(session), carOf(session)).limit + 5)), 'over_limit')
})

test('with both brakes off in drive the car creeps, and the foot brake stops it', () => {
  const session = open(8)
  start(session)
  succeed(session, ...shift('drive'))
  succeed(session, ...brake('parking', 'off'))
  assert.is(succeed(session, ...brake('foot', 'off')).speed, LIMITS.creep)
  assert.is(refusal(session, ...door('trunk', 'open')), 'vehicle_moving')
  assert.is(succeed(session, ...brake('foot', 'on')).speed, 0)
})

test('doors lock themselves above walking pace and the roof window shuts at speed', () => {
  const session = openWhere((db) => !safetyHold(db) && !db.faults.find(({ disables }) => disables === 'roof'))
  start(session)
  succeed(session, 'move_window', { window: 'roof', opening: 40 })
  for (const row of stateOf(session).doors.list()) succeed(session, ...door(row.door, 'unlock'))
  roll(session, LIMITS.autoLock)
  assert.is(
    stateOf(session).doors.count(({ locked }) => locked),
    0,
  )
  succeed(session, ...go(LIMITS.roof))
  assert.is(
    stateOf(session).doors.count(({ locked }) => locked),
    4,
  )
  assert.is(stateOf(session).windows.get('roof')!.opening, 40)
  succeed(session, ...go(LIMITS.roof + 10))
  assert.is(stateOf(session).windows.get('roof')!.opening, 0)
  assert.is(refusal(session, 'move_window', { window: 'roof', opening: 10 }), 'over_limit')
})

test('booking the repair of a critical fault lets the car go faster and frees cruise control', () => {
  const session = openWhere((db) => safetyHold(db) !== undefined && !db.faults.find((row) => row.disables === 'cruise'))
  drive(session, 60)
  assert.is(refusal(session, ...go(LIMITS.hold + 10)), 'over_limit')
  assert.is(refusal(session, 'set_cruise_control', { speed: 60 }), 'safety_hold')
  bookCritical(session)
  assert.is(succeed(session, ...go(LIMITS.hold + 10)).speed, LIMITS.hold + 10)
  assert.is(succeed(session, 'set_cruise_control', { speed: 70 }).cruise, 70)
  assert.is(carOf(session).speed, 70)
  succeed(session, ...brake('foot', 'on'))
  assert.is(carOf(session).cruise, null)
})

test('a trip uses up the battery, moves the car and enters the log', () => {
  const session = openWhere((db) => chargePercent(theCar(db)) > 50)
  const place = within(session, ({ kind }) => kind === 'saved')
  const [before, km] = [carOf(session), kmTo(session, place)]
  const stated = travel(session, place)
  assert.is(stated.name, place.name)
  assert.is(stated.km, km)
  assert.is(stated.purpose, 'private')
  const after = carOf(session)
  assert.is(after.location, place.destination)
  assert.is(after.odometer, before.odometer + km)
  assert.is(after.energy, before.energy - km * before.consumption + (after.charged - before.charged))
  const trips = succeed(session, 'search_trips', { driver: owner(session), month: '2026-03' }).trips as { km: number }[]
  assert.is(trips[0]!.km, km)
})

test('a drive without a route takes charge while it lasts, and comes back to where it set out', () => {
  const session = openWhere((db) => chargePercent(theCar(db)) > 80 && !safetyHold(db))
  drive(session, 60)
  const before = carOf(session)
  const stated = () => String((succeed(session, 'check_vehicle', { system: 'battery' }).readings as string[])[1])
  const range = stated()
  for (let minute = 1; minute < 30; minute++) succeed(session, 'set_headlights', { beam: 'low' })
  assert.is.not(stated(), range)
  succeed(session, ...brake('foot', 'on'))
  succeed(session, ...shift('park'))
  const { km, name } = succeed(session, 'stop_engine', { purpose: 'business' })
  assert.is(km, 30)
  const after = carOf(session)
  assert.is(after.location, before.location)
  assert.is(name, stateOf(session).destinations.get(before.location)!.name)
  assert.is(after.energy, before.energy - 30 * before.consumption)
  assert.is(after.odometer, before.odometer + 30)
})

test('a car whose battery has run empty goes no farther', () => {
  const session = open(NEARLY_EMPTY)
  drive(session, 50)
  const { energy, consumption } = carOf(session)
  for (let minute = 0; minute < 400; minute++) succeed(session, 'set_headlights', { beam: 'low' })
  assert.is(refusal(session, ...go(45)), 'low_battery')
  succeed(session, ...brake('foot', 'on'))
  succeed(session, ...shift('park'))
  assert.is(succeed(session, 'stop_engine', {}).km, Math.floor(energy / consumption))
})

test('a route is dropped when the engine stops before the car has moved', () => {
  const session = open(9)
  start(session)
  succeed(session, ...navigate(within(session, () => true)))
  assert.is(succeed(session, 'stop_engine', {}).km, undefined)
  assert.is(carOf(session).route, null)
})

test('charging adds what the charger gave in the time and says what it costs', () => {
  const session = open(NEARLY_EMPTY)
  park(session)
  const { kilowatts, tariff } = stateOf(session).destinations.get(carOf(session).location)!
  const { energy } = carOf(session)
  succeed(session, 'switch_charging', { charging: 'on' })
  assert.is(refusal(session, ...shift('neutral')), 'cable_connected')
  for (let minute = 1; minute < 10; minute++) succeed(session, 'set_headlights', { beam: 'parking' })
  const stated = succeed(session, 'switch_charging', { charging: 'off' })
  const added = Math.floor((kilowatts! * 1000 * 10) / 60)
  assert.is(carOf(session).energy, energy + added)
  assert.is(stated.cost, Math.ceil((added * tariff) / 100_000))
})

test('valet mode hides the private life of the car, locks the trunk and slows it down', () => {
  const session = openWhere((db) => chargePercent(theCar(db)) > 50)
  start(session)
  const saved = within(session, ({ kind }) => kind === 'saved')
  succeed(session, ...navigate(saved))
  succeed(session, ...guard(session, 'valet'))
  assert.is(carOf(session).route, null)
  assert.is(succeed(session, 'find_destination', { text: saved.name }).found, 0)
  assert.is(refusal(session, ...navigate(saved)), 'valet_restricted')
  assert.is(refusal(session, ...door('trunk', 'unlock')), 'valet_restricted')
  succeed(session, ...navigate(within(session, ({ kind }) => kind === 'charger')))
  roll(session, LIMITS.valet)
  assert.is(refusal(session, ...go(LIMITS.valet + 5)), 'over_limit')
})

test('child mode keeps rear doors and windows shut and ends explicit music', () => {
  const session = open(12)
  start(session)
  const { title } = stateOf(session).playlists.find(({ explicit }) => explicit)!
  succeed(session, 'play_playlist', { title })
  succeed(session, ...guard(session, 'child'))
  assert.is(carOf(session).playlist, null)
  assert.is(refusal(session, 'play_playlist', { title }), 'child_lock')
  succeed(session, ...door('rear', 'unlock'))
  assert.is(refusal(session, ...door('rear', 'open')), 'child_lock')
})

test('a saved address of the gazetteer becomes a place that can be driven to', () => {
  const session = openWhere((db) => chargePercent(theCar(db)) > 50)
  start(session)
  const { city } = stateOf(session).destinations.get(carOf(session).location)!
  const street = streetsOf(city).at(-1)!
  const stated = succeed(session, 'save_destination', {
    name: "Ana's New Flat",
    address: `12 ${street.toLowerCase()}, ${city}`,
  })
  assert.is(stated.destination, 'ana-s-new-flat')
  assert.is(stated.city, city)
  const way = succeed(session, 'start_navigation', { destination: stated.destination, avoid: 'tolls' })
  assert.is(way.address, `12 ${street}, ${city}`)
  assert.is(way.km, Math.ceil((stated.km as number) * 1.2))
})

test('a full name usually finds one destination, a city several with the nearest first', () => {
  let single = 0
  let names = 0
  for (let seed = 1; seed <= 10; seed++) {
    const session = open(seed)
    if (carOf(session).guard === 'valet') continue
    for (const { name, city } of stateOf(session).destinations.list()) {
      names++
      if (succeed(session, 'find_destination', { text: name }).found === 1) single++
      const { destinations } = succeed(session, 'find_destination', { text: city }) as {
        destinations: { km: number }[]
      }
      const km = destinations.map((row) => row.km)
      assert.equal(
        km,
        km.toSorted((a, b) => a - b),
      )
    }
  }
  assert.ok(single >= 0.95 * names, `${single} of ${names}`)
})

test('distances are those of the map', () => {
  const at = (text: string) => pointOf(parseAddress(text)!)
  const paris = roadKm(at('1 Place de la Fontaine, Paris'), at('1 Place de la Fontaine, Brussels'))
  assert.ok(paris > 260 && paris < 400, `${paris} km from Paris to Brussels`)
  assert.is(roadKm(at('1 Via Alta, Rome'), at('90 Via Alta, Rome')), 1)
  assert.ok(HOMES.length >= 8)
  assert.is(addDays('2026-02-27', 3), '2026-03-02')
})

test('the invariants notice a car that was tampered with', () => {
  const tamper = (change: (db: VehicleDb) => void): string[] => {
    const session = openWhere((db) => theCar(db).guard === 'valet' && theCar(db).speed === 0)
    change(session.db as unknown as VehicleDb)
    return session.violations()
  }
  assert.equal(
    tamper(() => {}),
    [],
  )
  const car = (patch: Partial<Car>) => tamper((db) => db.cars.update(CAR, patch))
  for (const stated of [
    car({ speed: 60 }),
    car({ cruise: 20 }),
    car({ energy: 1 }),
    car({ odometer: 7 }),
    car({ gear: 'neutral', foot_brake: 'off', parking_brake: 'off' }),
    tamper((db) => db.doors.update('trunk', { locked: false })),
    tamper((db) => db.trips.update(db.trips.list()[0]!.trip, { km: 999 })),
    tamper((db) => db.faults.update(db.faults.by('status', 'open')[0]!.fault, { status: 'booked' })),
    tamper((db) => db.destinations.update('home', { name: db.destinations.list()[1]!.name })),
  ])
    assert.ok(stated.length > 0)
})

test.run()
