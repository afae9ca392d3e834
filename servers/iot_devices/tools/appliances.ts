import { z } from 'zod'
import { ref } from '../../kernel/fields.js'
import { change, modeOf, overload, ready } from '../rules.js'
import { chooseReady } from '../sampling.js'
import {
  type Device,
  type IotView,
  type Obstacle,
  PROGRAM_POWER,
  PROGRAMS,
  type Program,
  SWITCH,
  tool,
} from '../schema.js'

const powerOf = ({ watts }: Device, program: Program): number => (watts * PROGRAM_POWER[program]) / 100

function startObstacle(db: IotView, appliance: Device, program: Program): Obstacle | undefined {
  const { device, state, child_lock, hot, noisy, room } = appliance
  if (state === 'on') return { code: 'already_running', detail: `${device} is running ${appliance.program}.` }
  if (child_lock) return { code: 'child_locked', detail: `The child lock of ${device} is on.` }
  const mode = modeOf(db)
  if (hot && mode === 'away') return { code: 'mode_forbids', detail: `${device} must not run while nobody is at home.` }
  if (noisy && mode === 'night') return { code: 'quiet_hours', detail: `${device} is too loud for night mode.` }
  return overload(db, room, powerOf(appliance, program))
}

const startAppliance = tool({
  name: 'start_appliance',
  description: `Start an appliance; it runs until it is stopped. Eco draws ${PROGRAM_POWER.eco} and intense ${PROGRAM_POWER.intense} percent of its rated watts, and the circuit of the room must carry it. Hot appliances do not start in away mode, loud ones not in night mode, and none with the child lock on.`,
  input: z.strictObject({
    appliance: ref('appliance'),
    program: z.enum(PROGRAMS).describe('How hard it works, and what it draws.'),
  }),
  output: z.object({
    name: z.string(),
    appliance: ref('appliance'),
    status: z.string(),
    watts: z.int(),
    room_load: z.int(),
    room_limit: z.int(),
  }),
  annotations: { readOnly: false },
  establishes: ['appliance_running'],
  needs: ['child_lock_set', 'mode_set'],
  sample(draw) {
    const { db, random, bound } = draw
    const programs = bound.program === undefined ? PROGRAMS : [bound.program]
    const possible = (row: Device) => programs.filter((program) => !startObstacle(db, row, program))
    const appliance = chooseReady(draw, 'appliance', bound.appliance, (row) => possible(row).length > 0)
    return appliance ? { appliance: appliance.device, program: random.pick(possible(appliance)) } : null
  },
  run({ appliance: key, program }, context) {
    const { unless, db } = context
    const appliance = ready(context, key, 'appliance')
    unless(startObstacle(db, appliance, program))
    const { load: watts } = change(db, appliance, { state: 'on', program, load: powerOf(appliance, program) })
    const { load, limit } = db.rooms.get(appliance.room)!
    return { name: appliance.name, appliance: key, status: program, watts, room_load: load, room_limit: limit }
  },
})

const stopAppliance = tool({
  name: 'stop_appliance',
  description: 'Stop a running appliance. The child lock does not hinder it.',
  input: z.strictObject({ appliance: ref('appliance') }),
  output: z.object({ name: z.string(), appliance: ref('appliance'), status: z.string(), room_load: z.int() }),
  annotations: { readOnly: false },
  establishes: ['appliance_stopped'],
  needs: ['appliance_running'],
  sample(draw) {
    const appliance = chooseReady(draw, 'appliance', draw.bound.appliance, ({ state }) => state === 'on')
    return appliance ? { appliance: appliance.device } : null
  },
  run({ appliance: key }, context) {
    const { db, fail } = context
    const appliance = ready(context, key, 'appliance')
    if (appliance.state !== 'on') fail('not_running', `${appliance.name} is not running.`)
    change(db, appliance, { state: 'off', program: '', load: 0 })
    return { name: appliance.name, appliance: key, status: 'off', room_load: db.rooms.get(appliance.room)!.load }
  },
})

const setChildLock = tool({
  name: 'set_child_lock',
  description: 'Put the child lock of an appliance on or off. While it is on, the appliance cannot be started.',
  input: z.strictObject({
    appliance: ref('appliance'),
    child_lock: z.enum(SWITCH).describe('Whether the child lock is to be on or off.'),
  }),
  output: z.object({ name: z.string(), appliance: ref('appliance'), child_lock: z.string() }),
  annotations: { readOnly: false, idempotent: true },
  establishes: ['child_lock_set'],
  sample(draw) {
    const { random, bound } = draw
    const appliance = chooseReady(draw, 'appliance', bound.appliance)
    if (!appliance) return null
    const other = appliance.child_lock ? 'off' : 'on'
    return { appliance: appliance.device, child_lock: bound.child_lock ?? (random.chance(0.9) ? other : 'on') }
  },
  run({ appliance: key, child_lock }, context) {
    const appliance = ready(context, key, 'appliance')
    change(context.db, appliance, { child_lock: child_lock === 'on' })
    return { name: appliance.name, appliance: key, child_lock }
  },
})

export const applianceTools = [startAppliance, stopAppliance, setChildLock]
