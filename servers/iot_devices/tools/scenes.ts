import { z } from 'zod'
import { choose } from '../../kernel/choose.js'
import { ref } from '../../kernel/fields.js'
import { slug } from '../../kernel/text.js'
import { isOpenWindow } from '../rules.js'
import { applyScene, isSettable, sceneObstacle } from '../scenes.js'
import { type IotView, type Scene, tool } from '../schema.js'
import { scenesIn } from '../words.js'

/** What the room is like now, as a scene would set it. Devices that are offline are left out. */
const settingsNow = (db: IotView, room: string): Scene['settings'] =>
  db.devices
    .by('room', room)
    .filter((device) => device.online && isSettable(device))
    .map(({ device, level }) => ({ device, level }))

const listScenes = tool({
  name: 'list_scenes',
  description: 'List the scenes of a room with the number of devices that each sets.',
  input: z.strictObject({ room: ref('room') }),
  output: z.object({
    found: z.int(),
    scenes: z.array(z.object({ name: z.string(), scene: ref('scene'), devices: z.int() })),
  }),
  pages: { scenes: 'short' },
  annotations: { readOnly: true },
  sample({ db, random, bound }) {
    const room = choose(db.rooms, random, bound.room, (row) => db.scenes.by('room', row.room).length > 0)
    return room ? { room: room.room } : null
  },
  run({ room }, context) {
    context.rowOf('rooms', room)
    const scenes = context.db.scenes.by('room', room)
    return {
      found: scenes.length,
      scenes: scenes.map(({ name, scene, settings }) => ({ name, scene, devices: settings.length })),
    }
  },
})

/** Scenes that nobody would have in the dark. */
const OF_LIGHTS = /Light|Path|Party|Candle/

const saveScene = tool({
  name: 'save_scene',
  description:
    'Save the present state of the lights, thermostats and blinds of a room as a scene under a new name. Devices that are offline are left out.',
  input: z.strictObject({
    room: ref('room'),
    name: z
      .string()
      .trim()
      .min(2)
      .max(40)
      .regex(/^[A-Za-z][A-Za-z0-9 ]+$/, 'a name has letters, digits and spaces')
      .describe('New name of the scene, in letters, digits and spaces.'),
  }),
  output: z.object({ name: z.string(), scene: ref('scene'), room: z.string(), devices: z.int() }),
  annotations: { readOnly: false },
  establishes: ['scene_saved'],
  needs: ['room_arranged'],
  sample({ db, random, bound }) {
    // A room that is being aired is not arranged as somebody would have it again.
    const isAired = (key: string): boolean => db.devices.by('room', key).some(isOpenWindow)
    const room = choose(
      db.rooms,
      random,
      bound.room,
      (row) => settingsNow(db, row.room).length > 0 && !isAired(row.room),
    )
    if (!room) return null
    const isLit = db.devices.by('room', room.room).some(({ kind, level }) => kind === 'light' && level > 0)
    const names = bound.name === undefined ? scenesIn(room.name).map(({ name }) => name) : [bound.name]
    const free = names.filter((name) => !db.scenes.has(slug(name)) && (isLit || !OF_LIGHTS.test(name)))
    return free.length > 0 ? { room: room.room, name: random.pick(free) } : null
  },
  run({ room, name }, { rowOf, db, fail }) {
    rowOf('rooms', room)
    const scene = slug(name)
    if (db.scenes.has(scene)) fail('scene_exists', `There is a scene ${scene} already.`)
    const settings = settingsNow(db, room)
    if (settings.length === 0) fail('nothing_to_save', `${room} has nothing that a scene can set.`)
    db.scenes.insert({ scene, name, room, settings })
    return { name, scene, room, devices: settings.length }
  },
})

const runScene = tool({
  name: 'run_scene',
  description:
    'Run a scene: set all its devices at once. It fails as a whole if one of them is offline or busy, if the circuit cannot carry it, or if a rule for the thermostat stands against it.',
  input: z.strictObject({ scene: ref('scene') }),
  output: z.object({
    name: z.string(),
    scene: ref('scene'),
    room: z.string(),
    devices_changed: z.int(),
    room_load: z.int(),
  }),
  annotations: { readOnly: false, idempotent: true },
  needs: ['device_online', 'windows_moved'],
  sample(draw) {
    const scene = choose(draw.db.scenes, draw.random, draw.bound.scene, (row) => !sceneObstacle(draw, row))
    return scene ? { scene: scene.scene } : null
  },
  run({ scene: key }, context) {
    const { rowOf, unless, db } = context
    const scene = rowOf('scenes', key)
    unless(sceneObstacle(context, scene))
    const devices_changed = applyScene(db, scene)
    const { room, load: room_load } = db.rooms.get(scene.room)!
    return { name: scene.name, scene: key, room, devices_changed, room_load }
  },
})

export const sceneTools = [listScenes, saveScene, runScene]
