import { z } from 'zod'
import {
  type Db,
  type DbView,
  type ObstacleOf,
  type RowOf,
  type ToolContext,
  toolMaker,
} from '../kernel/define-environment.js'
import { ref } from '../kernel/fields.js'

export const FLOORS = ['ground_floor', 'upper_floor', 'cellar', 'outdoor'] as const
export const KINDS = ['light', 'lock', 'thermostat', 'cover', 'sensor', 'camera', 'speaker', 'appliance'] as const
export const MODES = ['home', 'night', 'away'] as const
export const FAULTS = ['connection', 'battery', 'firmware'] as const
export const PROGRAMS = ['eco', 'normal', 'intense'] as const
export const STATIONS = ['news', 'jazz', 'classical', 'pop', 'ambient'] as const
export const TRIGGERS = ['sunrise', 'sunset', 'arrival', 'departure', 'bedtime'] as const
export const SWITCH = ['on', 'off'] as const

export type Kind = (typeof KINDS)[number]
export type Mode = (typeof MODES)[number]
export type Program = (typeof PROGRAMS)[number]

/** The numbers of this environment's rules. */
export const LIMITS = {
  /** Batteries below this count as low. Percent. */
  lowBattery: 20,
  /** What a motor lock needs to turn. Percent. */
  lockBattery: 10,
  /** What a battery must hold to survive a firmware update. Percent. */
  firmwareBattery: 30,
  /** A battery that holds this much is not replaced yet. Percent. */
  goodBattery: 50,
  /** How long a device is busy with a firmware update. Minutes. */
  updateMinutes: 5,
  /** Loudest a speaker may play in night mode. Percent. */
  nightVolume: 30,
  /** Highest target of a thermostat in away mode, and what arming turns it down to. Degrees Celsius. */
  awayDegrees: 18,
  /** How far back the history of sensors reaches. Days before today. */
  historyDays: 7,
} as const

/** Power of a program, relative to the appliance's rated power. Percent. */
export const PROGRAM_POWER: Readonly<Record<Program, number>> = { eco: 60, normal: 100, intense: 140 }

/** The one row of `home`. */
export const HOME = 'home'

const pin = z.string().regex(/^\d{4}$/, 'a PIN has four digits')

export const tables = {
  home: {
    key: 'home',
    row: z.object({ home: z.literal(HOME), mode: z.enum(MODES), pin, spare_batteries: z.int().min(0) }),
  },
  rooms: {
    key: 'room',
    missing: 'unknown_room',
    row: z.object({
      room: z.string(),
      name: z.string(),
      floor: z.enum(FLOORS),
      /** What the lights and appliances of the room may draw together, and what they draw. Watts. */
      limit: z.int().positive(),
      load: z.int().min(0),
    }),
  },
  devices: {
    key: 'device',
    missing: 'unknown_device',
    row: z.object({
      device: z.string(),
      name: z.string(),
      kind: z.enum(KINDS),
      /** What it is more closely: `window`, `rain`, `oven`. */
      type: z.string(),
      room: z.string(),
      /** Whether it is outside the house; of a lock, whether its door leads there. */
      outside: z.boolean(),
      online: z.boolean(),
      /** Percent; null for a device on mains power. */
      battery: z.int().min(0).max(100).nullable(),
      firmware: z.string(),
      /** The firmware that an update would bring. */
      latest: z.string(),
      /** A firmware update keeps the device busy until then (ISO 8601 UTC); empty before the first one. */
      busy_until: z.string(),
      /** `on` and `off` of lights, cameras, speakers and appliances; how a door stands for a lock; `idle` for the others. */
      state: z.enum(['on', 'off', 'locked', 'unlocked', 'ajar', 'idle']),
      /** Brightness of a light, degrees of a thermostat, percent open of a cover, volume of a speaker, value of a sensor. */
      level: z.int(),
      /** Bounds of `level`; a light that cannot be dimmed has equal ones. */
      low: z.int(),
      high: z.int(),
      /** Rated power of a light or an appliance and what it draws now; 0 for the others. */
      watts: z.int().min(0),
      load: z.int().min(0),
      /** Program of a running appliance or station of a playing speaker; empty otherwise. */
      program: z.string(),
      child_lock: z.boolean(),
      /** An appliance that may not run while nobody is at home. */
      hot: z.boolean(),
      /** An appliance that may not start at night. */
      noisy: z.boolean(),
      /** Of locks only. */
      pin: pin.nullable(),
    }),
  },
  readings: {
    key: 'reading',
    row: z.object({
      /** `<device>:<date>`. */
      reading: z.string(),
      device: z.string(),
      date: z.iso.date(),
      lowest: z.int(),
      highest: z.int(),
      average: z.int(),
    }),
  },
  scenes: {
    key: 'scene',
    missing: 'unknown_scene',
    row: z.object({
      scene: z.string(),
      name: z.string(),
      room: z.string(),
      /** Levels of lights, thermostats and blinds of the room. */
      settings: z.array(z.object({ device: z.string(), level: z.int() })),
    }),
  },
  automations: {
    key: 'automation',
    missing: 'unknown_automation',
    row: z.object({
      automation: z.string(),
      name: z.string(),
      scene: z.string(),
      trigger: z.enum(TRIGGERS),
      status: z.enum(SWITCH),
    }),
  },
} as const

export const failures = {
  unknown_room: 'There is no such room.',
  unknown_device: 'There is no such device.',
  unknown_scene: 'There is no such scene.',
  unknown_automation: 'There is no such automation.',
  wrong_kind: 'The device is of another kind.',
  device_offline: 'The device is offline.',
  device_busy: 'The device is busy with a firmware update.',
  device_in_use: 'The appliance is running.',
  already_online: 'The device is online.',
  battery_empty: 'The battery of the device is empty.',
  battery_low: 'The battery does not hold enough for this.',
  battery_still_good: 'The battery is still good.',
  mains_powered: 'The device has no battery.',
  no_spare_batteries: 'There are no spare batteries left.',
  firmware_current: 'The device has the latest firmware.',
  not_dimmable: 'This light can only be at 0 or 100 percent.',
  circuit_overloaded: 'The circuit of the room cannot carry that much.',
  out_of_range: 'The thermostat cannot be set to that.',
  window_open: 'A window is open.',
  raining: 'It is raining: windows stay shut.',
  mode_forbids: 'That is not possible in the current mode of the home.',
  camera_private: 'Indoor cameras can only be on in away mode.',
  door_ajar: 'The door is not closed.',
  door_unlocked: 'An outer door is not locked.',
  wrong_pin: 'That is not the right PIN.',
  pin_locked: 'After three wrong PINs none is taken any more; the installer has to reset it.',
  pin_required: 'Leaving away mode takes the PIN of the home.',
  no_history: 'There is no history for that date.',
  quiet_hours: 'That is too loud for night mode.',
  child_locked: 'The child lock is on.',
  already_running: 'The appliance is running already.',
  not_running: 'The appliance is not running.',
  hot_appliance_running: 'An appliance that must not run unattended is running.',
  already_in_mode: 'The home is in this mode already.',
  scene_exists: 'There is a scene of that name.',
  nothing_to_save: 'The room has nothing that a scene can set.',
  automation_exists: 'There is such an automation.',
  automation_conflict: 'Another automation sets the same device differently at the same time.',
} as const

export type IotTables = typeof tables
export type FailureCode = keyof typeof failures
export type Obstacle = ObstacleOf<typeof failures>
export type IotDb = Db<IotTables>
export type IotView = DbView<IotTables>
export type Context = ToolContext<IotTables, FailureCode>
export type Room = RowOf<IotTables['rooms']>
export type Device = RowOf<IotTables['devices']>
export type Reading = RowOf<IotTables['readings']>
export type Scene = RowOf<IotTables['scenes']>
export type Automation = RowOf<IotTables['automations']>

/** Declares a tool of this environment. */
export const tool = toolMaker(tables, failures)

/** A device's key in a result, under the name of its kind: where a tool for that kind takes it. */
export const keyByKind = {
  light: ref('light').optional(),
  lock: ref('lock').optional(),
  thermostat: ref('thermostat').optional(),
  cover: ref('cover').optional(),
  sensor: ref('sensor').optional(),
  camera: ref('camera').optional(),
  speaker: ref('speaker').optional(),
  appliance: ref('appliance').optional(),
}

export const keyOf = ({ kind, device }: Device): Partial<Record<Kind, string>> => ({ [kind]: device })
