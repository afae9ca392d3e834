import { timeOf } from '../kernel/dates.js'
import {
  type Context,
  type Device,
  HOME,
  type IotDb,
  type IotView,
  type Kind,
  LIMITS,
  type Mode,
  type Obstacle,
} from './schema.js'
import { UNITS } from './words.js'

/** A state of the home at a moment: what rules look at. */
export interface Scenery {
  readonly db: IotView
  now(): string
}

export const modeOf = (db: IotView): Mode => db.home.get(HOME)!.mode

/** Whether a firmware update keeps the device busy. */
export const isUpdating = ({ now }: Scenery, { busy_until }: Device): boolean => busy_until !== '' && now() < busy_until

/** Returns why a device cannot do anything now, if so: it is offline or updating. */
export function unready(scenery: Scenery, device: Device): Obstacle | undefined {
  if (!device.online) return { code: 'device_offline', detail: `${device.name} is offline.` }
  if (isUpdating(scenery, device))
    return { code: 'device_busy', detail: `${device.name} is updating until ${timeOf(device.busy_until)}.` }
  return undefined
}

/** The device, if it is of this kind and can do something now. */
export function ready(context: Context, key: string, kind: Kind): Device {
  const device = context.rowOf('devices', key)
  if (device.kind !== kind) context.fail('wrong_kind', `${device.name} is a ${device.kind}, not a ${kind}.`)
  context.unless(unready(context, device))
  return device
}

/** Changes a device and updates the load of its `room`. */
export function change(db: IotDb, device: Device, patch: Partial<Device>): Device {
  const next = db.devices.update(device.device, patch)
  if (next.load !== device.load) {
    const { room, load } = db.rooms.get(device.room)!
    db.rooms.update(room, { load: load + next.load - device.load })
  }
  return next
}

/** Returns the watts that a light draws at a brightness in percent. */
export const lightLoad = ({ watts }: Device, brightness: number): number => Math.round((watts * brightness) / 100)

/** Returns the obstacle to another `more` watts in the `room` with this key, if any. */
export function overload(db: IotView, key: string, more: number): Obstacle | undefined {
  const { limit, load } = db.rooms.get(key)!
  if (more <= 0 || load + more <= limit) return undefined
  return { code: 'circuit_overloaded', detail: `${key} has ${limit - load} watts left, ${more} would be needed.` }
}

export function lightObstacle(db: IotView, light: Device, brightness: number): Obstacle | undefined {
  if (light.low === light.high && brightness !== 0 && brightness !== 100)
    return { code: 'not_dimmable', detail: `${light.device} can only be at 0 or 100 percent.` }
  return overload(db, light.room, lightLoad(light, brightness) - light.load)
}

export const isOpenWindow = ({ type, level }: Device): boolean => type === 'window' && level > 0

export function thermostatObstacle(db: IotView, thermostat: Device, degrees: number): Obstacle | undefined {
  const { device, low, high, level, room } = thermostat
  if (degrees < low || degrees > high)
    return { code: 'out_of_range', detail: `${device} takes ${low} to ${high} degrees.` }
  if (modeOf(db) === 'away' && degrees > LIMITS.awayDegrees)
    return { code: 'mode_forbids', detail: `In away mode nothing is heated above ${LIMITS.awayDegrees} degrees.` }
  if (degrees <= level) return undefined
  const open = db.devices.by('room', room).find(isOpenWindow)
  return open && { code: 'window_open', detail: `${open.device} is open: shut it before heating more.` }
}

export function coverObstacle(db: IotView, { type, level }: Device, position: number): Obstacle | undefined {
  if (type !== 'window' || position <= level) return undefined
  const mode = modeOf(db)
  if (mode !== 'home') return { code: 'mode_forbids', detail: `Windows cannot be opened in ${mode} mode.` }
  return isRaining(db) ? { code: 'raining' } : undefined
}

export const isRaining = (db: IotView): boolean =>
  db.devices.by('type', 'rain').some(({ online, level }) => online && level > 0)

export function lockObstacle({ device, state, battery }: Device): Obstacle | undefined {
  if (state === 'ajar') return { code: 'door_ajar', detail: `The door of ${device} stands ajar.` }
  if (battery !== null && battery < LIMITS.lockBattery)
    return {
      code: 'battery_low',
      detail: `${device} has ${battery} percent left, the motor needs ${LIMITS.lockBattery}.`,
    }
  return undefined
}

/** Describes in one or two words what the device does or measures. */
export function statusOf(scenery: Scenery, device: Device): string {
  if (!device.online) return 'offline'
  if (isUpdating(scenery, device)) return 'updating'
  const { kind, type, state, level, program, child_lock } = device
  switch (kind) {
    case 'light':
      return state === 'on' ? `${level} percent` : 'off'
    case 'thermostat':
      return `${level} degrees`
    case 'cover':
      return level === 0 ? 'shut' : `${level} percent open`
    case 'sensor':
      return `${level} ${level === 1 ? UNITS[type]!.replace(/s$/, '') : UNITS[type]}`
    case 'speaker':
      return state === 'on' ? program : 'off'
    case 'appliance':
      return state === 'on' ? program : child_lock ? 'child-locked' : 'off'
    default:
      return state
  }
}
