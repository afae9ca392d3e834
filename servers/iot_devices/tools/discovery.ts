import { z } from 'zod'
import { choose } from '../../kernel/choose.js'
import { ref } from '../../kernel/fields.js'
import { PAGE } from '../../kernel/lists.js'
import { mentioning } from '../../kernel/text.js'
import { isUpdating, modeOf, statusOf } from '../rules.js'
import { type Device, FAULTS, FLOORS, HOME, type IotView, KINDS, keyByKind, keyOf, LIMITS, tool } from '../schema.js'

type Fault = (typeof FAULTS)[number]

const HAS_FAULT: Readonly<Record<Fault, (device: Device) => boolean>> = {
  connection: ({ online }) => !online,
  battery: ({ battery }) => battery !== null && battery < LIMITS.lowBattery,
  firmware: ({ firmware, latest }) => firmware !== latest,
}

/** Devices whose name has every word of the query. */
function named(db: IotView, query: string): Device[] {
  const matches = mentioning(query)
  return db.devices.list(({ name }) => matches(name.toLowerCase()))
}

const listRooms = tool({
  name: 'list_rooms',
  description:
    'List the rooms of a floor, or those outdoors, with what their lights and appliances draw and what the circuit carries, in watts, and the mode of the home.',
  input: z.strictObject({ floor: z.enum(FLOORS).describe('Part of the home.') }),
  output: z.object({
    mode: z.string(),
    rooms: z.array(z.object({ name: z.string(), room: ref('room'), load: z.int(), limit: z.int() })),
  }),
  pages: { rooms: 'short' },
  annotations: { readOnly: true },
  // Few would call a garden a room.
  sample: ({ random, bound }) => ({ floor: random.pick(FLOORS.filter((floor) => floor !== 'outdoor')), ...bound }),
  run: ({ floor }, { db }) => ({ mode: modeOf(db), rooms: [...db.rooms.by('floor', floor)] }),
})

const listDevices = tool({
  name: 'list_devices',
  description:
    'List the devices of a room, of all kinds or of one, with their status. Covers are blinds and roof windows.',
  input: z.strictObject({ room: ref('room'), kind: z.enum(KINDS).describe('Only devices of this kind.').optional() }),
  output: z.object({
    found: z.int(),
    devices: z.array(z.object({ name: z.string(), ...keyByKind, status: z.string() })),
  }),
  pages: { devices: 'short' },
  annotations: { readOnly: true },
  sample({ db, random, bound }) {
    const device = choose(
      db.devices,
      random,
      undefined,
      ({ room, kind }) => room === (bound.room ?? room) && kind === (bound.kind ?? kind),
    )
    if (!device) return null
    const kind = bound.kind ?? (random.chance(0.5) ? device.kind : undefined)
    return { room: device.room, ...(kind ? { kind } : {}) }
  },
  run({ room, kind }, context) {
    context.rowOf('rooms', room)
    const there = context.db.devices.by('room', room)
    const devices = kind ? there.filter((device) => device.kind === kind) : there
    return {
      found: devices.length,
      devices: devices.map((device) => ({
        name: device.name,
        ...keyOf(device),
        status: statusOf(context, device),
      })),
    }
  },
})

const findDevice = tool({
  name: 'find_device',
  description: `Find devices by the words of their name, such as "kitchen oven". The battery is in percent.`,
  input: z.strictObject({ name: z.string().trim().min(2).max(40).describe('Name or words of it') }),
  output: z.object({
    found: z.int(),
    devices: z.array(
      z.object({
        name: z.string(),
        device: ref('device'),
        ...keyByKind,
        status: z.string(),
        battery: z.int().optional(),
      }),
    ),
  }),
  pages: { devices: 'longest' },
  annotations: { readOnly: true },
  sample({ db, random, bound }) {
    const { name } = random.pick(db.devices.list())
    // Somebody who leaves a word out says the kind of the device: the last word.
    const part = name.split(' ').at(-1)!
    return { name: random.chance(0.25) && named(db, part).length <= PAGE.longest ? part : name, ...bound }
  },
  run({ name }, context) {
    const devices = named(context.db, name)
    return {
      found: devices.length,
      devices: devices.map((device) => ({
        name: device.name,
        device: device.device,
        ...keyOf(device),
        status: statusOf(context, device),
        ...(device.battery === null ? {} : { battery: device.battery }),
      })),
    }
  },
})

const findFaultyDevices = tool({
  name: 'find_faulty_devices',
  description: `Find devices that have no connection (offline), whose battery is below ${LIMITS.lowBattery} percent, or whose firmware is out of date. Tells how many spare batteries are left.`,
  input: z.strictObject({ fault: z.enum(FAULTS).describe('What is wrong with them.') }),
  output: z.object({
    found: z.int(),
    spare_batteries: z.int(),
    devices: z.array(
      z.object({ name: z.string(), device: ref('device'), battery: z.int().optional(), status: z.string() }),
    ),
  }),
  pages: { devices: 'short' },
  annotations: { readOnly: true },
  sample: ({ random, bound }) => ({ fault: random.pick(FAULTS), ...bound }),
  run({ fault }, context) {
    const { db } = context
    const devices = db.devices.list(HAS_FAULT[fault])
    return {
      found: devices.length,
      spare_batteries: db.home.get(HOME)!.spare_batteries,
      devices: devices.map((device) => ({
        name: device.name,
        device: device.device,
        ...(device.battery === null ? {} : { battery: device.battery }),
        status: !device.online ? 'offline' : isUpdating(context, device) ? 'updating' : 'online',
      })),
    }
  },
})

export const discoveryTools = [listRooms, listDevices, findDevice, findFaultyDevices]
