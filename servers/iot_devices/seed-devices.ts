import type { SeededRandom } from '../kernel/random.js'
import { slug } from '../kernel/text.js'
import { lightLoad } from './rules.js'
import { type Device, LIMITS, type Mode, PROGRAM_POWER, PROGRAMS, type Room, STATIONS } from './schema.js'
import * as words from './words.js'

/** Rooms with a lockable door to the outside, and what the door is called. */
const OUTER_DOORS: Readonly<Record<string, string>> = {
  Hall: 'Front Door',
  Kitchen: 'Back Door',
  Laundry: 'Cellar Door',
  Garage: 'Garage Door',
  Terrace: 'Terrace Door',
  Balcony: 'Balcony Door',
}
/** Ground floor rooms whose inner door can be locked, as those of the cellar can. */
const LOCKABLE = ['Study', 'Library', 'Music Room']
/** The latest firmware of each kind, by major version. */
const MAJOR = { light: 2, lock: 4, thermostat: 3, cover: 1, sensor: 5, camera: 7, speaker: 6, appliance: 8 } as const

/** Creates the devices of the `rooms`, all of them in order: online, charged and up to date. */
export function seedDevices(random: SeededRandom, rooms: readonly Room[], mode: Mode): Device[] {
  const minors = Object.fromEntries(Object.keys(MAJOR).map((kind) => [kind, random.int(2, 9)]))
  return rooms.flatMap((room, place) => {
    const types = typesIn(random, room, place === rooms.length - 1)
    let free = room.limit
    return types.map((type): Device => {
      const latest = `${MAJOR[type.kind]}.${minors[type.kind]}`
      const label = (type.kind === 'lock' && OUTER_DOORS[room.name]) || `${room.name} ${type.label}`
      const row: Device = {
        // The first words of rooms differ, so one is enough: `guest-blind`.
        device: label === OUTER_DOORS[room.name] ? slug(label) : `${room.room.split('-')[0]}-${type.type}`,
        name: label,
        kind: type.kind,
        type: type.type,
        room: room.room,
        outside: room.floor === 'outdoor' || label === OUTER_DOORS[room.name],
        online: true,
        battery: batteryOf(random, type),
        firmware: latest,
        latest,
        busy_until: '',
        state: 'idle',
        level: 0,
        low: type.low,
        high: type.high,
        watts: type.watts,
        load: 0,
        program: '',
        child_lock: false,
        hot: type.hot,
        noisy: type.noisy,
        pin: type.kind === 'lock' ? String(random.int(1001, 9998)) : null,
      }
      const device = { ...row, ...startOf(random, row, mode, free) }
      free -= device.load
      return device
    })
  })
}

function typesIn(random: SeededRandom, { name, floor }: Room, last: boolean): words.DeviceType[] {
  const sometimes = (p: number, ...types: words.DeviceType[]) => (random.chance(p) ? types : [])
  const door = OUTER_DOORS[name] || LOCKABLE.includes(name) || floor === 'cellar' ? [words.LOCK] : []
  if (floor === 'outdoor') {
    return [
      ...random.sample(words.OUTDOOR_LIGHTS, random.int(0, 2)),
      ...door,
      ...random.sample(words.OUTDOOR_SENSORS, 1),
      ...(last ? [words.RAIN_SENSOR] : []),
      words.CAMERA,
    ]
  }
  const airy = floor === 'upper_floor' || name === 'Kitchen'
  return [
    ...random.sample(words.INDOOR_LIGHTS, random.int(1, name === 'Hall' ? 2 : 3)),
    ...door,
    ...(name === 'Hall' || name === 'Laundry' ? [] : [words.thermostatOf(name)]),
    ...(floor === 'cellar' ? [] : sometimes(0.8, words.BLIND)),
    ...(airy ? sometimes(0.7, words.WINDOW) : []),
    ...random.sample(words.INDOOR_SENSORS, random.int(1, 2)),
    ...(name === 'Hall' ? [words.CAMERA] : sometimes(0.25, words.CAMERA)),
    ...sometimes(name === 'Kitchen' || name === 'Hall' ? 1 : 0.5, words.SPEAKER),
    ...appliancesIn(random, name),
  ]
}

function appliancesIn(random: SeededRandom, room: string): words.DeviceType[] {
  if (room === 'Kitchen') return random.sample(words.KITCHEN_APPLIANCES, 5)
  if (room === 'Laundry') return [...words.LAUNDRY_APPLIANCES]
  return random.chance(0.6) ? random.sample(words.OTHER_APPLIANCES, 1) : []
}

function batteryOf(random: SeededRandom, { kind, type }: words.DeviceType): number | null {
  const p = { lock: 1, sensor: 0.8, thermostat: 0.6, cover: 0.3 }[kind as string] ?? 0
  return type !== 'rain' && random.chance(p) ? random.int(35, 100) : null
}

/** What the device is doing when the session begins, within the watts that its room has left. */
function startOf(random: SeededRandom, device: Device, mode: Mode, free: number): Partial<Device> {
  const { kind, type, low, high, outside } = device
  switch (kind) {
    case 'light': {
      const on = mode !== 'away' && random.chance(0.35)
      const level = !on ? 0 : low === high ? 100 : random.int(1, 10) * 10
      return { state: level > 0 ? 'on' : 'off', level, load: lightLoad(device, level) }
    }
    case 'lock':
      return { state: mode !== 'home' || random.chance(0.7) ? 'locked' : 'unlocked' }
    case 'thermostat': {
      const level = random.int(low + 1, high - 2)
      return { level: mode === 'away' ? Math.min(level, LIMITS.awayDegrees) : level }
    }
    case 'cover':
      if (type === 'window') return { level: mode === 'home' && random.chance(0.2) ? random.int(1, 10) * 10 : 0 }
      return { level: random.pick([0, 0, 30, 50, 80, 100, 100]) }
    case 'sensor':
      if (type === 'rain') return { level: random.chance(0.3) ? random.int(1, high) : 0 }
      return { level: random.int(low, high) }
    case 'camera':
      return { state: (outside ? random.chance(0.7) || mode === 'away' : mode === 'away') ? 'on' : 'off' }
    case 'speaker': {
      const on = mode === 'home' && random.chance(0.3)
      const level = random.int(1, 10) * (mode === 'home' ? 6 : 3)
      return on ? { state: 'on', level, program: random.pick(STATIONS) } : { state: 'off', level }
    }
    case 'appliance': {
      const program = random.pick(PROGRAMS)
      const load = (device.watts * PROGRAM_POWER[program]) / 100
      // A fifth of the circuit is left over, so that something can still be switched on.
      const may = mode === 'home' || (!device.hot && !device.noisy)
      if (may && random.chance(0.3) && load <= free * 0.8) return { state: 'on', program, load }
      return { state: 'off', child_lock: random.chance(0.3) }
    }
  }
}

/** Puts faults on some devices: offline, low and empty batteries, old firmware, a door that stands ajar. */
export function withFaults(random: SeededRandom, devices: readonly Device[]): Device[] {
  const weak = random.sample(
    devices.filter(({ battery }) => battery !== null),
    6,
  )
  const idle = random.shuffle(
    devices.filter((row) => row.load === 0 && row.state !== 'on' && row.type !== 'rain' && !weak.includes(row)),
  )
  const ajar = devices.find(({ kind, outside }) => kind === 'lock' && !outside && random.chance(0.5))
  const faulty = new Map<string, Partial<Device>>(
    weak.map(({ device }, i) => [device, i < 2 ? { battery: 0, online: false } : { battery: random.int(2, 19) }]),
  )
  for (const { device } of idle.slice(0, 3)) faulty.set(device, { online: false })
  return devices.map((row) => {
    const [major, minor] = row.latest.split('.').map(Number) as [number, number]
    return {
      ...row,
      firmware: random.chance(0.2) ? `${major}.${random.int(0, minor - 1)}` : row.latest,
      ...faulty.get(row.device),
      ...(row === ajar ? { state: 'ajar' as const } : {}),
    }
  })
}
