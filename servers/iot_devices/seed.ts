import { addMinutes } from '../kernel/dates.js'
import type { SeedContext, SeedRows } from '../kernel/define-environment.js'
import type { SeededRandom } from '../kernel/random.js'
import { slug } from '../kernel/text.js'
import { disagree, isSettable } from './scenes.js'
import {
  type Automation,
  type Device,
  HOME,
  type IotTables,
  LIMITS,
  type Mode,
  type Reading,
  type Room,
  type Scene,
} from './schema.js'
import { seedDevices, withFaults } from './seed-devices.js'
import * as words from './words.js'

const DAY_MINUTES = 24 * 60

/**
 * Creates a house with about eleven `rooms` and seventy devices, a few of them faulty. The house has scenes, automations
 * and a week of readings.
 */
export function seedIot({ random, start }: SeedContext): SeedRows<IotTables> {
  const mode = random.pick<Mode>(['home', 'home', 'home', 'home', 'night', 'away'])
  const empty = seedRooms(random)
  const devices = withFaults(random, seedDevices(random, empty, mode))
  const scenes = seedScenes(random, empty, devices)
  return {
    home: [{ home: HOME, mode, pin: String(random.int(1001, 9998)), spare_batteries: random.int(2, 4) }],
    rooms: empty.map((room) => ({
      ...room,
      load: devices.reduce((sum, device) => sum + (device.room === room.room ? device.load : 0), 0),
    })),
    devices,
    readings: devices.filter(({ kind }) => kind === 'sensor').flatMap((sensor) => seedReadings(random, start, sensor)),
    scenes,
    automations: seedAutomations(random, scenes),
  }
}

function seedRooms(random: SeededRandom): Room[] {
  const kinds = [
    ...words.FIXED_ROOMS,
    ...random.sample(words.GROUND_ROOMS, 2),
    ...random.sample(words.UPPER_ROOMS, 3),
    ...random.sample(words.CELLAR_ROOMS, 1),
    ...random.sample(words.OUTSIDE_ROOMS, 2),
  ]
  return kinds.map(({ name, floor, limit }) => ({ room: slug(name), name, floor, limit, load: 0 }))
}

function seedReadings(random: SeededRandom, start: string, { device, low, high }: Device): Reading[] {
  return Array.from({ length: LIMITS.historyDays }, (_, i) => {
    const date = addMinutes(start, -(i + 1) * DAY_MINUTES).slice(0, 10)
    const middle = Math.floor((low + high) / 2)
    const lowest = random.int(low, middle)
    const highest = random.int(middle, high)
    return { reading: `${device}:${date}`, device, date, lowest, highest, average: random.int(lowest, highest) }
  })
}

function seedScenes(random: SeededRandom, rooms: readonly Room[], devices: readonly Device[]): Scene[] {
  const taken = new Set<string>()
  return rooms.flatMap(({ room, name: roomName }) => {
    const settable = devices.filter((device) => device.room === room && isSettable(device))
    if (settable.length < 2) return []
    const free = words.scenesIn(roomName).filter(({ name }) => !taken.has(name))
    return random
      .sample(free, Math.min(free.length, random.pick([1, 1, 2, 2, 3])))
      .map(({ name }): Scene => {
        taken.add(name)
        return {
          scene: slug(name),
          name,
          room,
          settings: settable
            .filter(() => random.chance(0.8))
            .map((device) => ({ device: device.device, level: sceneLevel(random, device) })),
        }
      })
      .filter(({ settings }) => settings.length > 0)
  })
}

function sceneLevel(random: SeededRandom, { kind, low, high }: Device): number {
  if (kind === 'thermostat') return random.int(low + 2, high - 2)
  return low === high ? random.pick([0, 100]) : random.pick([0, 20, 40, 60, 80, 100])
}

/** Automations for half of the scenes, some of them twice; one that would conflict with an earlier one is off. */
function seedAutomations(random: SeededRandom, scenes: readonly Scene[]): Automation[] {
  const automations: Automation[] = []
  for (const scene of scenes) {
    const triggers = words.triggersOf(scene.name)
    for (const trigger of random.sample(triggers, Math.min(triggers.length, random.pick([0, 0, 1, 1, 2])))) {
      const conflict = automations.some(
        (other) =>
          other.status === 'on' &&
          other.trigger === trigger &&
          disagree(scenes.find((row) => row.scene === other.scene)!, scene),
      )
      automations.push({
        automation: `${trigger}-${automations.length + 11}`,
        name: `${scene.name} at ${trigger}`,
        scene: scene.scene,
        trigger,
        status: conflict || random.chance(0.25) ? 'off' : 'on',
      })
    }
  }
  return automations
}
