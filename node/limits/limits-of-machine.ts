import type { SensorReading } from '../machine/sensor-reading.js'
import type { WorkLimit } from './work-limit.js'

// Limits on sensor readings. A sensor without a reading never pauses the node; the owner reads elsewhere that such a limit has no effect.

type Reading<T> = () => SensorReading<T>

/** Pauses the node on battery. */
export const mainsLimit = (onMains: Reading<boolean>): WorkLimit => ({
  mayWork() {
    const reading = onMains()
    return reading.known && !reading.value
      ? { ok: false, why: 'the machine runs on battery', atOnce: true }
      : { ok: true }
  },
})

/** Pauses the node while a person uses the machine. @param idleMs  time since the last key or pointer movement */
export const idleLimit = (minutes: number, idleMs: Reading<number>): WorkLimit => ({
  mayWork() {
    const reading = idleMs()
    if (!reading.known || reading.value >= minutes * 60_000) return { ok: true }
    return { ok: false, why: `the machine was used in the last ${minutes} min`, atOnce: true }
  },
})

/** Pauses the node while other programs use the GPU. @param others  names of the programs */
export const gpuFreeLimit = (others: Reading<readonly string[]>): WorkLimit => ({
  mayWork() {
    const reading = others()
    if (!reading.known || reading.value.length === 0) return { ok: true }
    return { ok: false, why: `the GPU is in use by ${reading.value.slice(0, 3).join(', ')}`, atOnce: true }
  },
})

/** Degrees below the limit at which the node works again. */
const COOLER_BY = 5

/** Pauses the node above a temperature. @param celsius  temperature of the hottest sensor */
export function temperatureLimit(most: number, celsius: Reading<number>): WorkLimit {
  let hot = false
  return {
    mayWork() {
      const reading = celsius()
      if (!reading.known) return { ok: true }
      hot = reading.value > (hot ? most - COOLER_BY : most)
      if (!hot) return { ok: true }
      return { ok: false, why: `the machine is hotter than ${most} °C`, atOnce: true }
    },
  }
}

/** Pauses the node when its data folder is too large. @param bytes  size of the folder */
export const diskLimit = (gibibytes: number, bytes: Reading<number>): WorkLimit => ({
  mayWork() {
    const reading = bytes()
    if (!reading.known || reading.value <= gibibytes * 2 ** 30) return { ok: true }
    const size = (reading.value / 2 ** 30).toFixed(1)
    return { ok: false, why: `the data folder has ${size} GiB, and ${gibibytes} GiB are allowed` }
  },
})

/** Pauses the node when the traffic of a month is used up. @param month  bytes in both directions, and the start of the next month */
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
