import { z } from 'zod'
import { sensitive } from '../../kernel/fields.js'
import { armingObstacle, enterMode } from '../modes.js'
import { modeOf } from '../rules.js'
import { HOME, LIMITS, MODES, type Mode, tool } from '../schema.js'

const setHomeMode = tool({
  name: 'set_home_mode',
  description: `Put the home into home, night or away mode. Away mode needs every window shut, every outer door locked and no hot appliance running; it switches lights and speakers off and all cameras on, and heats to ${LIMITS.awayDegrees} degrees at most. Night mode locks the outer doors and silences speakers. The automations for arrival, bedtime or departure run too.`,
  input: z.strictObject({
    mode: z.enum(MODES).describe('Mode that the home gets.'),
    pin: sensitive(
      z
        .string()
        .regex(/^\d{4}$/, 'a PIN has four digits')
        .optional()
        .describe('PIN of the home, needed only to leave away mode'),
    ),
  }),
  output: z.object({
    mode: z.string(),
    devices_changed: z.int(),
    automations_run: z.int(),
    automations_skipped: z.int(),
  }),
  annotations: { readOnly: false },
  establishes: ['mode_set'],
  needs: ['doors_locked', 'windows_moved', 'appliance_stopped'],
  sample({ db, random, bound }) {
    const { mode: current, pin } = db.home.get(HOME)!
    const modes = (bound.mode === undefined ? MODES : [bound.mode]).filter(
      (mode) => mode !== current && (mode !== 'away' || !armingObstacle(db)),
    )
    if (modes.length === 0) return null
    return { mode: random.pick<Mode>(modes), ...(current === 'away' ? { pin } : {}) }
  },
  run({ mode, pin: given }, context) {
    const { unless, db, fail } = context
    const { mode: current, pin } = db.home.get(HOME)!
    if (mode === modeOf(db)) fail('already_in_mode', `The home is in ${mode} mode.`)
    if (current === 'away' && given === undefined) fail('pin_required')
    if (current === 'away' && given !== pin) fail('wrong_pin', 'That is not the PIN of the home.')
    if (mode === 'away') unless(armingObstacle(db))
    const { devices, ran, skipped } = enterMode(context, mode)
    return { mode, devices_changed: devices, automations_run: ran, automations_skipped: skipped }
  },
})

export const modeTools = [setHomeMode]
