import { change, isOpenWindow, lockObstacle, type Scenery, unready } from './rules.js'
import { applyScene, sceneObstacle, setLight } from './scenes.js'
import {
  type Automation,
  type Device,
  HOME,
  type IotDb,
  type IotView,
  LIMITS,
  type Mode,
  type Obstacle,
} from './schema.js'

/** The trigger that a change to the mode sets off. */
const TRIGGER_OF: Readonly<Record<Mode, Automation['trigger']>> = {
  home: 'arrival',
  night: 'bedtime',
  away: 'departure',
}

/** Returns the obstacle to leaving the house alone, if any. Offline devices count with their last known state. */
export function armingObstacle(db: IotView): Obstacle | undefined {
  const open = db.devices.by('type', 'window').find(isOpenWindow)
  if (open) return { code: 'window_open', detail: `${open.device} is open.` }
  const door = db.devices.by('kind', 'lock').find(({ outside, state }) => outside && state !== 'locked')
  if (door) return { code: 'door_unlocked', detail: `${door.device} is ${door.state}.` }
  const hot = db.devices.by('kind', 'appliance').find((device) => device.hot && device.state === 'on')
  return hot && { code: 'hot_appliance_running', detail: `${hot.device} is running and must not run unattended.` }
}

export interface ModeChange {
  /** Devices that were switched, turned down or locked. */
  readonly devices: number
  /** Automations that ran, and those that could not. */
  readonly ran: number
  readonly skipped: number
}

/** Puts the home into `mode`, with all that follows from it. Devices that are offline or busy stay as they are. */
export function enterMode(scenery: Scenery & { readonly db: IotDb }, mode: Mode): ModeChange {
  const { db } = scenery
  db.home.update(HOME, { mode })
  let devices = 0
  for (const device of db.devices.list()) if (!unready(scenery, device) && adapt(db, device, mode)) devices++
  let ran = 0
  let skipped = 0
  for (const { scene: key, status } of db.automations.by('trigger', TRIGGER_OF[mode])) {
    if (status === 'off') continue
    const scene = db.scenes.get(key)!
    if (sceneObstacle(scenery, scene)) skipped++
    else {
      applyScene(db, scene)
      ran++
    }
  }
  return { devices, ran, skipped }
}

/** Does to one device what the mode demands; whether anything was to be done. */
function adapt(db: IotDb, device: Device, mode: Mode): boolean {
  const { kind, state, outside, level } = device
  const on = state === 'on'
  switch (kind) {
    case 'camera': {
      const wanted = mode === 'away' ? 'on' : outside ? state : 'off'
      if (state === wanted) return false
      change(db, device, { state: wanted })
      return true
    }
    case 'speaker':
      if (mode === 'home' || !on) return false
      change(db, device, { state: 'off', program: '', level: Math.min(level, LIMITS.nightVolume) })
      return true
    case 'light':
      if (mode !== 'away' || !on) return false
      setLight(db, device, 0)
      return true
    case 'thermostat':
      if (mode !== 'away' || level <= LIMITS.awayDegrees) return false
      change(db, device, { level: LIMITS.awayDegrees })
      return true
    case 'lock':
      if (mode !== 'night' || !outside || state !== 'unlocked' || lockObstacle(device)) return false
      change(db, device, { state: 'locked' })
      return true
    default:
      return false
  }
}
