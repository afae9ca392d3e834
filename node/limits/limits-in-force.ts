import type { MachineReport, SensorName } from '../machine/machine-watch.js'
import type { SensorReading } from '../machine/sensor-reading.js'
import { hoursLimit } from './hours.js'
import { diskLimit, gpuFreeLimit, idleLimit, mainsLimit, temperatureLimit, trafficLimit } from './limits-of-machine.js'
import type { LimitName, LimitSettings } from './settings.js'
import type { Permit, WorkLimit } from './work-limit.js'

export interface LimitParts {
  readonly now: () => number
  readonly sensed: MachineReport
  /** Traffic of this month, and when the next one begins. */
  readonly month: () => { readonly bytes: number; readonly nextMs: number }
}

/** Which sensor a limit goes by. */
const SENSOR_OF: Partial<Record<LimitName, SensorName>> = {
  mains: 'mains',
  idle: 'idleMs',
  gpuFree: 'othersOnGpu',
  temperature: 'celsius',
  disk: 'dataBytes',
}

/** Sensors that these limits need. */
export const sensorsFor = (settings: LimitSettings): SensorName[] =>
  Object.entries(SENSOR_OF).flatMap(([name, sensor]) => (settings[name as LimitName] ? [sensor] : []))

/** Limits that cannot be kept to here, each with the reason. */
export const notKept = (settings: LimitSettings, told: MachineReport): string[] =>
  Object.entries(SENSOR_OF).flatMap(([name, sensor]) => {
    const answer: SensorReading<unknown> = told[sensor]
    return settings[name as LimitName] && !answer.known ? [`${name} is not kept to: ${answer.why}`] : []
  })

/** All limits that may make the node rest, as one: the first that does is told. */
export function limitsInForce(settings: LimitSettings, { now, sensed, month }: LimitParts): WorkLimit {
  const { hours, mains, idle, gpuFree, temperature, disk, traffic } = settings
  const limits: WorkLimit[] = [
    mains ? mainsLimit(() => sensed.mains) : [],
    idle === undefined ? [] : idleLimit(idle, () => sensed.idleMs),
    gpuFree ? gpuFreeLimit(() => sensed.othersOnGpu) : [],
    temperature === undefined ? [] : temperatureLimit(temperature, () => sensed.celsius),
    hours === undefined ? [] : hoursLimit(hours, now),
    traffic === undefined ? [] : trafficLimit(traffic, month),
    disk === undefined ? [] : diskLimit(disk, () => sensed.dataBytes),
  ].flat()
  return {
    mayWork(): Permit {
      // All of them each time: some remember what they have seen.
      const permits = limits.map((limit) => limit.mayWork())
      return permits.find(({ ok }) => !ok) ?? { ok: true }
    },
  }
}
