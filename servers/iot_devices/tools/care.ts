import { z } from 'zod'
import { choose } from '../../kernel/choose.js'
import { addMinutes, timeOf } from '../../kernel/dates.js'
import { ref } from '../../kernel/fields.js'
import { change, statusOf, unready } from '../rules.js'
import { type Device, HOME, type IotView, keyByKind, keyOf, LIMITS, type Obstacle, tool } from '../schema.js'

function batteryObstacle(db: IotView, { device, battery }: Device): Obstacle | undefined {
  if (battery === null) return { code: 'mains_powered', detail: `${device} runs on mains power.` }
  if (battery >= LIMITS.goodBattery)
    return { code: 'battery_still_good', detail: `${device} still has ${battery} percent.` }
  return db.home.get(HOME)!.spare_batteries === 0 ? { code: 'no_spare_batteries' } : undefined
}

function updateObstacle({ name, firmware, latest, battery, kind, state }: Device): Obstacle | undefined {
  if (firmware === latest) return { code: 'firmware_current', detail: `${name} has ${latest} already.` }
  if (battery !== null && battery < LIMITS.firmwareBattery)
    return {
      code: 'battery_low',
      detail: `${name} has ${battery} percent left, an update needs ${LIMITS.firmwareBattery}.`,
    }
  return kind === 'appliance' && state === 'on' ? { code: 'device_in_use', detail: `${name} is running.` } : undefined
}

const reconnectDevice = tool({
  name: 'reconnect_device',
  description: 'Bring an offline device back online. It fails if the battery is empty: replace that first.',
  input: z.strictObject({ device: ref('device') }),
  output: z.object({ name: z.string(), device: ref('device'), ...keyByKind, status: z.string() }),
  annotations: { readOnly: false },
  establishes: ['device_online'],
  needs: ['battery_replaced'],
  sample({ db, random, bound }) {
    const device = choose(db.devices, random, bound.device, ({ online, battery }) => !online && battery !== 0)
    return device ? { device: device.device } : null
  },
  run({ device: key }, context) {
    const { rowOf, db, fail } = context
    const device = rowOf('devices', key)
    if (device.online) fail('already_online', `${device.name} is online.`)
    if (device.battery === 0) fail('battery_empty', `The battery of ${device.name} is empty.`)
    const back = change(db, device, { online: true })
    return { name: back.name, device: key, ...keyOf(back), status: statusOf(context, back) }
  },
})

const replaceBattery = tool({
  name: 'replace_battery',
  description: `Put one of the spare batteries into a device whose battery is below ${LIMITS.goodBattery} percent. A device that is offline stays so until it is reconnected.`,
  input: z.strictObject({ device: ref('device') }),
  output: z.object({
    name: z.string(),
    device: ref('device'),
    lock: keyByKind.lock,
    thermostat: keyByKind.thermostat,
    cover: keyByKind.cover,
    battery: z.int(),
    spare_batteries: z.int(),
  }),
  annotations: { readOnly: false },
  establishes: ['battery_replaced'],
  sample({ db, random, bound }) {
    const device = choose(db.devices, random, bound.device, (row) => !batteryObstacle(db, row))
    return device ? { device: device.device } : null
  },
  run({ device: key }, { rowOf, unless, db }) {
    const device = rowOf('devices', key)
    unless(batteryObstacle(db, device))
    const { spare_batteries } = db.home.update(HOME, { spare_batteries: db.home.get(HOME)!.spare_batteries - 1 })
    change(db, device, { battery: 100 })
    return { name: device.name, device: key, ...keyOf(device), battery: 100, spare_batteries }
  },
})

const updateFirmware = tool({
  name: 'update_firmware',
  description: `Install the latest firmware on a device. A light, camera or speaker is switched off for it, and nothing can be done with the device for ${LIMITS.updateMinutes} minutes. An appliance must not be running.`,
  input: z.strictObject({ device: ref('device') }),
  // Not a reference: nothing can be done with the device for a while.
  output: z.object({ name: z.string(), device: z.string(), firmware: z.string(), busy_until: z.string() }),
  annotations: { readOnly: false },
  needs: ['device_online', 'battery_replaced', 'appliance_stopped'],
  sample(draw) {
    const { db, random, bound } = draw
    const device = choose(db.devices, random, bound.device, (row) => !unready(draw, row) && !updateObstacle(row))
    return device ? { device: device.device } : null
  },
  run({ device: key }, context) {
    const device = context.rowOf('devices', key)
    context.unless(unready(context, device))
    context.unless(updateObstacle(device))
    const busy_until = addMinutes(context.now(), LIMITS.updateMinutes)
    const off = device.state === 'on' ? ({ state: 'off', program: '', load: 0 } as const) : {}
    const level = device.kind === 'light' ? 0 : device.level
    change(context.db, device, { firmware: device.latest, busy_until, level, ...off })
    return { name: device.name, device: key, firmware: device.latest, busy_until: timeOf(busy_until) }
  },
})

export const careTools = [reconnectDevice, replaceBattery, updateFirmware]
