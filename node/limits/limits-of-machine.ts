import type { SensorReading } from '../machine/sensor-reading.js'
import type { WorkLimit } from './work-limit.js'

/** Limits that go by what the machine tells. What it does not tell holds nobody up: that it is not kept to is said elsewhere. */

type Reading<T> = () => SensorReading<T>

/** Not on battery. */
export const mainsLimit = (onMains: Reading<boolean>): WorkLimit => ({
  mayWork() {
    const told = onMains()
    return told.known && !told.value ? { ok: false, why: 'the machine runs on battery', atOnce: true } : { ok: true }
  },
})

/** Not while somebody uses the machine. @param idleMs  since the last key or pointer movement */
export const idleLimit = (minutes: number, idleMs: Reading<number>): WorkLimit => ({
  mayWork() {
    const told = idleMs()
    if (!told.known || told.value >= minutes * 60_000) return { ok: true }
    return { ok: false, why: `somebody used the machine in the last ${minutes} min`, atOnce: true }
  },
})

/** Not beside other programs on the GPU. @param others  their names */
export const gpuFreeLimit = (others: Reading<readonly string[]>): WorkLimit => ({
  mayWork() {
    const told = others()
    if (!told.known || told.value.length === 0) return { ok: true }
    return { ok: false, why: `the GPU is used by ${told.value.slice(0, 3).join(', ')}`, atOnce: true }
  },
})

/** So far it must have cooled down before it works again. */
const COOLER_BY = 5

/** Not above a temperature. @param celsius  of the hottest part that tells one */
export function temperatureLimit(most: number, celsius: Reading<number>): WorkLimit {
  let hot = false
  return {
    mayWork() {
      const told = celsius()
      if (!told.known) return { ok: true }
      hot = told.value > (hot ? most - COOLER_BY : most)
      if (!hot) return { ok: true }
      return { ok: false, why: `the machine is hotter than ${most} °C`, atOnce: true }
    },
  }
}

/** Not beyond what the data folder may hold. @param bytes  that it holds */
export const diskLimit = (gibibytes: number, bytes: Reading<number>): WorkLimit => ({
  mayWork() {
    const told = bytes()
    if (!told.known || told.value <= gibibytes * 2 ** 30) return { ok: true }
    const held = (told.value / 2 ** 30).toFixed(1)
    return { ok: false, why: `the data folder holds ${held} GiB, ${gibibytes} are allowed` }
  },
})

/** Not beyond a month's traffic. @param month  bytes both ways in this month, and when the next one begins */
export const trafficLimit = (
  gibibytes: number,
  month: () => { readonly bytes: number; readonly nextMs: number },
): WorkLimit => ({
  mayWork() {
    const { bytes, nextMs } = month()
    if (bytes < gibibytes * 2 ** 30) return { ok: true }
    return { ok: false, why: `the ${gibibytes} GiB of this month are used up`, untilMs: nextMs }
  },
})
