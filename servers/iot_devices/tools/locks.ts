import { z } from 'zod'
import { ref, sensitive } from '../../kernel/fields.js'
import { change, lockObstacle, modeOf, ready } from '../rules.js'
import { chooseReady } from '../sampling.js'
import { LIMITS, tool } from '../schema.js'

const pin = sensitive(z.string().regex(/^\d{4}$/, 'a PIN has four digits'))
const lockState = z.object({ name: z.string(), lock: ref('lock'), status: z.string(), battery: z.int().optional() })

const lockDoor = tool({
  name: 'lock_door',
  description: `Lock a door. The door must be closed and the battery of the lock must hold ${LIMITS.lockBattery} percent.`,
  input: z.strictObject({ lock: ref('lock') }),
  output: lockState,
  annotations: { readOnly: false, idempotent: true },
  establishes: ['doors_locked'],
  needs: ['door_unlocked'],
  sample(draw) {
    const { random, bound } = draw
    const fits = (state: string) =>
      chooseReady(draw, 'lock', bound.lock, (row) => row.state === state && !lockObstacle(row))
    const lock = (random.chance(0.8) ? fits('unlocked') : undefined) ?? fits('locked') ?? fits('unlocked')
    return lock ? { lock: lock.device } : null
  },
  run({ lock: key }, context) {
    const lock = ready(context, key, 'lock')
    context.unless(lockObstacle(lock))
    const { state } = change(context.db, lock, { state: 'locked' })
    return { name: lock.name, lock: key, status: state, ...(lock.battery === null ? {} : { battery: lock.battery }) }
  },
})

const unlockDoor = tool({
  name: 'unlock_door',
  description: 'Unlock a door with the four-digit PIN of its lock. Not in away mode: leave that first.',
  input: z.strictObject({ lock: ref('lock'), pin: pin.describe('PIN of the lock, four digits.') }),
  output: lockState,
  annotations: { readOnly: false, idempotent: true },
  establishes: ['door_unlocked'],
  needs: ['mode_set'],
  sample(draw) {
    const { db, bound } = draw
    // Nobody has the house made safe for the night and a door opened then.
    if (modeOf(db) !== 'home') return null
    const fits = (row: Parameters<typeof lockObstacle>[0]) =>
      row.state === 'locked' && !lockObstacle(row) && row.pin === (bound.pin ?? row.pin)
    const lock = chooseReady(draw, 'lock', bound.lock, fits)
    return lock ? { lock: lock.device, pin: lock.pin! } : null
  },
  run({ lock: key, pin: given }, context) {
    const { unless, db, fail } = context
    const lock = ready(context, key, 'lock')
    if (modeOf(db) === 'away') fail('mode_forbids', 'No door is unlocked in away mode.')
    if (lock.pin !== given) fail('wrong_pin', `That is not the PIN of ${lock.name}.`)
    unless(lockObstacle(lock))
    const { state } = change(db, lock, { state: 'unlocked' })
    return { name: lock.name, lock: key, status: state, ...(lock.battery === null ? {} : { battery: lock.battery }) }
  },
})

export const lockTools = [lockDoor, unlockDoor]
