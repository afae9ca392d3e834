import type { MachineReport, SensorName } from '../machine/machine-watch.js'
import type { SensorReading } from '../machine/sensor-reading.js'
import { hoursLimit } from './hours.js'
import { diskLimit, gpuFreeLimit, idleLimit, mainsLimit, temperatureLimit, trafficLimit } from './limits-of-machine.js'
import type { LimitName, LimitSettings } from './settings.js'
import type { Permit, WorkLimit } from './work-limit.js'

export interface LimitParts {
  readonly now: () => number
  readonly sensed: MachineReport
  /** Traffic of this month, and the start of the next one. */
  readonly month: () => { readonly bytes: number; readonly nextMs: number }
}

/** The sensor that a limit needs. */
const SENSOR_OF: Partial<Record<LimitName, SensorName>> = {
  mains: 'mains',
  idle: 'idleMs',
  gpuFree: 'othersOnGpu',
  maxTemperature: 'celsius',
  disk: 'dataBytes',
}

/** Returns the sensors that these limits need. */
export const sensorsFor = (settings: LimitSettings): SensorName[] =>
  Object.entries(SENSOR_OF).flatMap(([name, sensor]) => (settings[name as LimitName] ? [sensor] : []))

/** Lists the limits that this machine cannot keep, each with the reason. */
export const notKept = (settings: LimitSettings, report: MachineReport): string[] =>
  Object.entries(SENSOR_OF).flatMap(([name, sensor]) => {
    const answer: SensorReading<unknown> = report[sensor]
    return settings[name as LimitName] && !answer.known ? [`${name} has no effect here: ${answer.why}`] : []
  })

/** Combines all limits that may pause the node. The first one that does gives the reason. */
export function limitsInForce(settings: LimitSettings, { now, sensed, month }: LimitParts): WorkLimit {
  const { hours, mains, idle, gpuFree, maxTemperature, disk, traffic } = settings
  const limits: WorkLimit[] = [
    mains ? mainsLimit(() => sensed.mains) : [],
    idle === undefined ? [] : idleLimit(idle, () => sensed.idleMs),
    gpuFree ? gpuFreeLimit(() => sensed.othersOnGpu) : [],
    maxTemperature === undefined ? [] : temperatureLimit(maxTemperature, () => sensed.celsius),
    hours === undefined ? [] : hoursLimit(hours, now),
    traffic === undefined ? [] : trafficLimit(traffic, month),
    disk === undefined ? [] : diskLimit(disk, () => sensed.dataBytes),
  ].flat()
  return {
    mayWork(): Permit {
      // Every limit is asked each time, because some remember earlier values.
      const permits = limits.map((limit) => limit.mayWork())
      return permits.find(({ ok }) => !ok) ?? { ok: true }
    },
  }
}
