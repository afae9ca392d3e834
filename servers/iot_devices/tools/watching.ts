import { z } from 'zod'
import { choose } from '../../kernel/choose.js'
import { addMinutes } from '../../kernel/dates.js'
import { common, ref } from '../../kernel/fields.js'
import { change, modeOf, ready } from '../rules.js'
import { chooseReady } from '../sampling.js'
import { type Device, LIMITS, type Mode, STATIONS, SWITCH, tool } from '../schema.js'
import { UNITS } from '../words.js'

const getSensorHistory = tool({
  name: 'get_sensor_history',
  description: `Show the lowest, highest and average value that a sensor measured on one of the ${LIMITS.historyDays} days before today.`,
  input: z.strictObject({ sensor: ref('sensor'), date: common('date', z.iso.date().describe('YYYY-MM-DD')) }),
  output: z.object({
    name: z.string(),
    sensor: z.string(),
    date: z.string(),
    lowest: z.int(),
    highest: z.int(),
    average: z.int(),
    unit: z.string(),
  }),
  annotations: { readOnly: true },
  sample({ db, random, bound, now }) {
    const sensor = choose(db.devices, random, bound.sensor, ({ kind }) => kind === 'sensor')
    if (!sensor) return null
    const date = bound.date ?? addMinutes(now(), -random.int(1, LIMITS.historyDays) * 24 * 60).slice(0, 10)
    return db.readings.has(`${sensor.device}:${date}`) ? { sensor: sensor.device, date } : null
  },
  run({ sensor, date }, { rowOf, db, fail }) {
    const { name, kind, type } = rowOf('devices', sensor)
    if (kind !== 'sensor') fail('wrong_kind', `${sensor} is a ${kind}, not a sensor.`)
    const reading =
      db.readings.get(`${sensor}:${date}`) ??
      fail('no_history', `Only the ${LIMITS.historyDays} days before today are kept.`)
    return { ...reading, name, sensor, unit: UNITS[type]! }
  },
})

/** Why a camera cannot be switched so in a mode. */
const cameraProblem = (
  { outside }: Device,
  power: string,
  mode: Mode,
): 'camera_private' | 'mode_forbids' | undefined => {
  if (power === 'on') return !outside && mode !== 'away' ? 'camera_private' : undefined
  return outside && mode === 'away' ? 'mode_forbids' : undefined
}

const switchCamera = tool({
  name: 'switch_camera',
  description:
    'Switch a camera on or off. Indoor cameras can be on only in away mode; outdoor cameras cannot be switched off in it.',
  input: z.strictObject({
    camera: ref('camera'),
    power: z.enum(SWITCH).describe('Whether the camera is to be on or off.'),
  }),
  output: z.object({ name: z.string(), camera: z.string(), status: z.string() }),
  annotations: { readOnly: false, idempotent: true },
  needs: ['mode_set', 'device_online'],
  sample(draw) {
    const { db, random, bound } = draw
    const mode = modeOf(db)
    const powers = bound.power === undefined ? SWITCH : [bound.power]
    const allowed = (row: Device) => powers.filter((power) => !cameraProblem(row, power, mode))
    const camera = chooseReady(draw, 'camera', bound.camera, (row) => allowed(row).length > 0)
    return camera ? { camera: camera.device, power: random.pick(allowed(camera)) } : null
  },
  run({ camera: key, power }, context) {
    const { db, fail } = context
    const camera = ready(context, key, 'camera')
    const problem = cameraProblem(camera, power, modeOf(db))
    if (problem === 'mode_forbids') fail(problem, 'Outdoor cameras stay on in away mode.')
    if (problem) fail(problem)
    return { name: camera.name, camera: key, status: change(db, camera, { state: power }).state }
  },
})

const playOnSpeaker = tool({
  name: 'play_on_speaker',
  description: `Play a station on a speaker, at its last volume or at the given one in percent. In night mode at most ${LIMITS.nightVolume} percent; not in away mode.`,
  input: z.strictObject({
    speaker: ref('speaker'),
    station: z.enum(STATIONS).describe('What to play.'),
    volume: z.int().min(1).max(100).optional().describe('Percent'),
  }),
  output: z.object({ name: z.string(), speaker: z.string(), station: z.string(), volume: z.int() }),
  annotations: { readOnly: false, idempotent: true },
  needs: ['mode_set'],
  sample(draw) {
    const { db, random, bound } = draw
    const mode = modeOf(db)
    if (mode === 'away') return null
    const loudest = mode === 'night' ? LIMITS.nightVolume : 100
    if ((bound.volume ?? 0) > loudest) return null
    const speaker = chooseReady(draw, 'speaker', bound.speaker)
    if (!speaker) return null
    const loud = Math.min(loudest, 60)
    const given = random.chance(0.3) || speaker.level > loudest
    const volume = bound.volume ?? (given ? random.int(2, loud / 5) * 5 : undefined)
    const quiet = STATIONS.filter((station) => station !== 'pop' && station !== 'news')
    const station = bound.station ?? random.pick(mode === 'night' ? quiet : STATIONS)
    return { speaker: speaker.device, station, ...(volume === undefined ? {} : { volume }) }
  },
  run({ speaker: key, station, volume }, context) {
    const { db, fail } = context
    const speaker = ready(context, key, 'speaker')
    const mode = modeOf(db)
    const level = volume ?? speaker.level
    if (mode === 'away') fail('mode_forbids', 'Nothing is played in away mode.')
    if (mode === 'night' && level > LIMITS.nightVolume)
      fail('quiet_hours', `In night mode the volume is at most ${LIMITS.nightVolume} percent, not ${level}.`)
    change(db, speaker, { state: 'on', program: station, level })
    return { name: speaker.name, speaker: key, station, volume: level }
  },
})

export const watchingTools = [getSensorHistory, switchCamera, playOnSpeaker]
