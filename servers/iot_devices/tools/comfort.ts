import { z } from 'zod'
import { ref } from '../../kernel/fields.js'
import { change, coverObstacle, lightObstacle, ready, thermostatObstacle, unready } from '../rules.js'
import { chooseReady } from '../sampling.js'
import { setLight } from '../scenes.js'
import { type Device, type IotDb, LIMITS, tool } from '../schema.js'

const percent = z.int().min(0).max(100)

const setLightTool = tool({
  name: 'set_light',
  description:
    'Set the brightness of a light in percent; 0 switches it off, 100 is full. Some lights know only 0 and 100. The circuit of the room must carry it.',
  input: z.strictObject({ light: ref('light'), brightness: percent.describe('Percent, 0 is off') }),
  output: z.object({ name: z.string(), light: z.string(), brightness: z.int(), room: ref('room'), room_load: z.int() }),
  annotations: { readOnly: false, idempotent: true },
  establishes: ['room_arranged'],
  sample(draw) {
    const { db, random, bound } = draw
    // Who wants a light off, or as bright as can be, says so without a number, and some lights know nothing else.
    const light = chooseReady(draw, 'light', bound.light, ({ low, high }) => low !== high)
    if (!light) return null
    const wanted = [15, 20, 35, 40, 50, 60, 75, 80, 90].filter((brightness) => brightness !== light.level)
    const possible = (bound.brightness === undefined ? wanted : [bound.brightness]).filter(
      (brightness) => !lightObstacle(db, light, brightness),
    )
    return possible.length > 0 ? { light: light.device, brightness: random.pick(possible) } : null
  },
  run({ light: key, brightness }, context) {
    const { unless, db } = context
    const light = ready(context, key, 'light')
    unless(lightObstacle(db, light, brightness))
    setLight(db, light, brightness)
    return { name: light.name, light: key, brightness, room: light.room, room_load: db.rooms.get(light.room)!.load }
  },
})

const setThermostat = tool({
  name: 'set_thermostat',
  description: `Set the target of a thermostat in degrees Celsius, within its range. A room is not heated more while a window in it is open, nor above ${LIMITS.awayDegrees} degrees in away mode.`,
  input: z.strictObject({
    thermostat: ref('thermostat'),
    degrees: z.int().min(0).max(40).describe('Target in degrees Celsius.'),
  }),
  output: z.object({ name: z.string(), thermostat: z.string(), degrees: z.int(), room: ref('room') }),
  annotations: { readOnly: false, idempotent: true },
  establishes: ['room_arranged'],
  needs: ['windows_moved'],
  sample(draw) {
    const { db, random, bound } = draw
    const thermostat = chooseReady(draw, 'thermostat', bound.thermostat)
    if (!thermostat) return null
    const { low, high } = thermostat
    // What people are comfortable in, where it is a room for people.
    const [coolest, warmest] = [Math.min(Math.max(low, 19), high - 2), Math.min(high, 23)]
    const range = Array.from({ length: warmest - coolest + 1 }, (_, i) => coolest + i).filter(
      (degrees) => degrees !== thermostat.level,
    )
    const possible = (bound.degrees === undefined ? range : [bound.degrees]).filter(
      (degrees) => !thermostatObstacle(db, thermostat, degrees),
    )
    return possible.length > 0 ? { thermostat: thermostat.device, degrees: random.pick(possible) } : null
  },
  run({ thermostat: key, degrees }, context) {
    const thermostat = ready(context, key, 'thermostat')
    context.unless(thermostatObstacle(context.db, thermostat, degrees))
    change(context.db, thermostat, { level: degrees })
    return { name: thermostat.name, thermostat: key, degrees, room: thermostat.room }
  },
})

/** Turns the thermostats of a room down as far as they go; whether there was one to turn. */
function stopHeating(db: IotDb, room: string, isReady: (device: Device) => boolean): boolean {
  const heating = db.devices.by('room', room).filter((row) => row.kind === 'thermostat' && isReady(row))
  for (const thermostat of heating) change(db, thermostat, { level: thermostat.low })
  return heating.length > 0
}

const moveCover = tool({
  name: 'move_cover',
  description:
    'Move a cover, that is a blind or a roof window, to a position in percent open; 0 is shut. A window opens only in home mode and while it does not rain, and then turns the heating of its room down.',
  input: z.strictObject({ cover: ref('cover'), position: percent.describe('Percent open, 0 is shut') }),
  output: z.object({
    name: z.string(),
    cover: z.string(),
    position: z.int(),
    room: ref('room'),
    heating: z.literal('lowered').optional(),
  }),
  annotations: { readOnly: false, idempotent: true },
  establishes: ['room_arranged', 'windows_moved'],
  sample(draw) {
    const { db, random, bound } = draw
    const cover = chooseReady(draw, 'cover', bound.cover)
    if (!cover) return null
    // Who wants a window shut, or a blind up or down, says so without a number.
    const wanted = cover.type === 'window' ? [20, 30, 50] : [25, 30, 40, 50, 60, 75]
    const possible = (
      bound.position === undefined ? wanted.filter((position) => position !== cover.level) : [bound.position]
    ).filter((position) => !coverObstacle(db, cover, position))
    return possible.length > 0 ? { cover: cover.device, position: random.pick(possible) } : null
  },
  run({ cover: key, position }, context) {
    const { unless, db } = context
    const cover = ready(context, key, 'cover')
    unless(coverObstacle(db, cover, position))
    change(db, cover, { level: position })
    const lowered =
      cover.type === 'window' && position > 0 && stopHeating(db, cover.room, (row) => !unready(context, row))
    return {
      name: cover.name,
      cover: key,
      position,
      room: cover.room,
      ...(lowered ? { heating: 'lowered' as const } : {}),
    }
  },
})

export const comfortTools = [setLightTool, setThermostat, moveCover]
