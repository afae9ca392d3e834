import { change, lightLoad, overload, type Scenery, thermostatObstacle, unready } from './rules.js'
import type { Automation, Device, IotDb, IotView, Obstacle, Scene } from './schema.js'

/** Whether a scene can set the device. Windows are left out: a scene should not open the house. */
export const isSettable = ({ kind, type }: Device): boolean =>
  kind === 'light' || kind === 'thermostat' || type === 'blind'

/** Returns the obstacle to setting the scene now, if any. A scene can be set completely or not at all. */
export function sceneObstacle(scenery: Scenery, { room, settings }: Scene): Obstacle | undefined {
  const { db } = scenery
  let more = 0
  for (const { device: key, level } of settings) {
    const device = db.devices.get(key)!
    const obstacle =
      unready(scenery, device) ?? (device.kind === 'thermostat' ? thermostatObstacle(db, device, level) : undefined)
    if (obstacle) return obstacle
    if (device.kind === 'light') more += lightLoad(device, level) - device.load
  }
  return overload(db, room, more)
}

/** Sets what the scene says; the number of devices that were not so already. */
export function applyScene(db: IotDb, { settings }: Scene): number {
  let changed = 0
  for (const { device: key, level } of settings) {
    const device = db.devices.get(key)!
    if (device.level === level) continue
    if (device.kind === 'light') setLight(db, device, level)
    else change(db, device, { level })
    changed++
  }
  return changed
}

/** Sets a light to a brightness; 0 switches it off. */
export const setLight = (db: IotDb, light: Device, brightness: number): Device =>
  change(db, light, {
    state: brightness > 0 ? 'on' : 'off',
    level: brightness,
    load: lightLoad(light, brightness),
  })

/** The automation that is on at the same trigger and sets one of the scene's devices to something else, if there is one. */
export function conflictOf(db: IotView, scene: Scene, trigger: Automation['trigger']): Automation | undefined {
  return db.automations
    .by('trigger', trigger)
    .find((other) => other.status === 'on' && disagree(db.scenes.get(other.scene)!, scene))
}

/** Whether two scenes set one device differently. */
export const disagree = (a: Scene, b: Scene): boolean =>
  a.room === b.room &&
  a.settings.some((one) => b.settings.some((other) => other.device === one.device && other.level !== one.level))
