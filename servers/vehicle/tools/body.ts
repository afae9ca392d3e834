import { z } from 'zod'
import { sensitive } from '../../kernel/fields.js'
import { faultOf, hasPower, LIMITS, theCar } from '../rules.js'
import { cross, pickAgreeing } from '../sampling.js'
import {
  BEAMS,
  CAR,
  type Car,
  DOORS,
  type Door,
  GUARDS,
  type Obstacle,
  opening,
  tool,
  type VehicleView,
  WINDOWS,
} from '../schema.js'

const ACTIONS = ['open', 'close', 'lock', 'unlock'] as const
type Action = (typeof ACTIONS)[number]

function doorObstacle(car: Car, { door, open, locked }: Door, action: Action): Obstacle | undefined {
  if (action === 'lock') return open ? { code: 'door_open', detail: `${door} is open.` } : undefined
  if (action === 'close') return undefined
  if (car.speed > 0) return { code: 'vehicle_moving', detail: `The car goes ${car.speed} km/h.` }
  if (door === 'trunk' && car.guard === 'valet') return { code: 'valet_restricted' }
  if (action === 'unlock') return undefined
  if (door === 'rear' && car.guard === 'child') return { code: 'child_lock' }
  return locked ? { code: 'door_locked', detail: `${door} is locked.` } : undefined
}

/** What the action makes of a door. */
const after = ({ open, locked }: Door, action: Action): Pick<Door, 'open' | 'locked'> => ({
  open: action === 'open' || (action !== 'close' && open),
  locked: action === 'lock' || (action !== 'unlock' && locked),
})

const operateDoor = tool({
  name: 'operate_door',
  description:
    'Open, close, lock or unlock a door; "rear" are both rear doors, "trunk" is the trunk. The car must stand still to open or unlock. A locked door must be unlocked first, an open one closed before it is locked. Valet mode keeps the trunk shut, child mode the rear doors.',
  input: z.strictObject({
    door: z.enum(DOORS).describe('Which door.'),
    action: z.enum(ACTIONS).describe('What to do with it.'),
  }),
  output: z.object({ door: z.string(), open: z.boolean(), locked: z.boolean() }),
  annotations: { readOnly: false, idempotent: true },
  establishes: ['doors_closed'],
  needs: ['guard_set', 'standing'],
  sample({ db, random, bound }) {
    const car = theCar(db)
    const changes = cross(db.doors.list(), ACTIONS)
      .filter(([row, action]) => {
        const { open, locked } = after(row, action)
        return (open !== row.open || locked !== row.locked) && !doorObstacle(car, row, action)
      })
      .map(([{ door }, action]) => ({ door, action }))
    return pickAgreeing(random, bound, changes)
  },
  run({ door, action }, { unless, db }) {
    const row = db.doors.get(door)!
    unless(doorObstacle(theCar(db), row, action))
    return db.doors.update(door, after(row, action))
  },
})

function windowObstacle(db: VehicleView, window: string, opening: number): Obstacle | undefined {
  const car = theCar(db)
  if (car.guard === 'child') return { code: 'child_lock', detail: 'The windows do not move in child mode.' }
  if (!hasPower(car)) return { code: 'low_battery' }
  if (window !== 'roof') return undefined
  const broken = faultOf(db, 'roof')
  if (broken) return { code: 'part_faulty', detail: `"${broken.title}" disables the roof window.` }
  return car.speed > LIMITS.roof && opening > 0
    ? { code: 'over_limit', detail: `The roof window stays shut above ${LIMITS.roof} km/h.` }
    : undefined
}

const moveWindow = tool({
  name: 'move_window',
  description: `Move a window to an opening in per cent, 0 being shut. Not in child mode. With the engine off the battery must hold ${LIMITS.standby} %; above ${LIMITS.roof} km/h the roof window stays shut.`,
  input: z.strictObject({
    window: z.enum(WINDOWS).describe('Which window; roof is the roof window.'),
    opening: opening.describe('Percent open, 0 is shut.'),
  }),
  output: z.object({ window: z.string(), opening: z.int() }),
  annotations: { readOnly: false, idempotent: true },
  needs: ['guard_set', 'engine_running'],
  sample({ db, random, bound }) {
    // Windows are opened further, on a cold day by a gap. Who wants one shut or wide open says so without a number.
    const gaps = theCar(db).outside < 10 ? [5, 10, 15] : [10, 20, 25, 30, 50, 75]
    const opening = bound.opening ?? random.pick(gaps)
    const windows = WINDOWS.filter(
      (window) => db.windows.get(window)!.opening < opening && !windowObstacle(db, window, opening),
    )
    return pickAgreeing(
      random,
      bound,
      windows.map((window) => ({ window, opening })),
    )
  },
  run({ window, opening }, { unless, db }) {
    unless(windowObstacle(db, window, opening))
    return db.windows.update(window, { opening })
  },
})

function beamObstacle(db: VehicleView, beam: Car['beam']): Obstacle | undefined {
  const car = theCar(db)
  if (beam === 'off' && car.speed > 0) return { code: 'vehicle_moving', detail: 'The lights stay on while driving.' }
  if (beam === 'off' || beam === 'parking') return undefined
  if (car.engine === 'off') return { code: 'engine_off' }
  const broken = beam === 'low' ? undefined : faultOf(db, beam)
  return broken && { code: 'part_faulty', detail: `"${broken.title}" disables the ${beam} beam.` }
}

const setHeadlights = tool({
  name: 'set_headlights',
  description:
    'Set the headlights to a beam, or off when the car stands. Low, high and fog need a running engine. Stopping the engine turns them off.',
  input: z.strictObject({ beam: z.enum(BEAMS).describe('What the headlights are to show.') }),
  output: z.object({ beam: z.string(), engine: z.string() }),
  annotations: { readOnly: false, idempotent: true },
  needs: ['engine_running'],
  sample({ db, random, bound }) {
    // Stopping the engine turns the lights off; nobody asks for it.
    const wanted = BEAMS.filter((beam) => beam !== 'off' || bound.beam === 'off')
    const beams = wanted.filter((beam) => beam !== theCar(db).beam && !beamObstacle(db, beam))
    return pickAgreeing(
      random,
      bound,
      beams.map((beam) => ({ beam })),
    )
  },
  run({ beam }, { unless, db }) {
    unless(beamObstacle(db, beam))
    return db.cars.update(CAR, { beam })
  },
})

function guardObstacle(db: VehicleView, guard: Car['guard'], pin: string): Obstacle | undefined {
  const car = theCar(db)
  if (car.speed > 0) return { code: 'vehicle_moving', detail: `The car goes ${car.speed} km/h.` }
  if (pin !== car.pin) return { code: 'wrong_pin' }
  if (guard !== 'valet') return undefined
  if (car.under_way) return { code: 'trip_under_way' }
  return db.doors.get('trunk')!.open ? { code: 'door_open', detail: 'The trunk must be closed first.' } : undefined
}

const setGuardMode = tool({
  name: 'set_guard_mode',
  description: `Turn valet mode or child mode on, or both off, with the four-digit PIN of the car, which must stand still. Valet mode allows ${LIMITS.valet} km/h, locks the trunk and hides saved destinations and trips. Child mode blocks windows, rear doors and explicit music.`,
  input: z.strictObject({
    mode: z.enum(GUARDS).describe('Mode that the car gets.'),
    pin: sensitive(
      z
        .string()
        .regex(/^\d{4}$/, 'a PIN has four digits')
        .describe('PIN of the car, four digits.'),
    ),
  }),
  output: z.object({ mode: z.string() }),
  annotations: { readOnly: false, idempotent: true },
  establishes: ['guard_set'],
  needs: ['standing'],
  sample({ db, random, bound }) {
    const { guard, pin } = theCar(db)
    const modes = GUARDS.filter((mode) => mode !== guard && !guardObstacle(db, mode, pin))
    return pickAgreeing(
      random,
      bound,
      modes.map((mode) => ({ mode, pin })),
    )
  },
  run({ mode, pin }, { unless, db }) {
    unless(guardObstacle(db, mode, pin))
    const { route, playlist } = theCar(db)
    db.cars.update(CAR, { guard: mode })
    if (mode === 'valet') {
      db.doors.update('trunk', { locked: true })
      if (route !== null && db.destinations.get(route)!.kind === 'saved')
        db.cars.update(CAR, { route: null, route_km: 0 })
    }
    if (mode === 'child' && playlist !== null && db.playlists.get(playlist)!.explicit)
      db.cars.update(CAR, { playlist: null })
    return { mode }
  },
})

export const bodyTools = [operateDoor, moveWindow, setHeadlights, setGuardMode]
