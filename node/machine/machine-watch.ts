import type { Clock } from '../../swarm/index.js'
import { type SensorReading, unknown } from './sensor-reading.js'

/** The sensors of a machine. */
export interface Sensors {
  /** Whether the machine is on mains power. */
  mains(): Promise<SensorReading<boolean>>
  /** Temperature of the hottest sensor (°C). */
  celsius(): Promise<SensorReading<number>>
  /** Time since the last use by a person (ms). */
  idleMs(): Promise<SensorReading<number>>
  /** Names of other programs on the GPU. */
  othersOnGpu(): Promise<SensorReading<readonly string[]>>
  /** Bytes in the data folder. */
  dataBytes(): Promise<SensorReading<number>>
}

export type SensorName = keyof Sensors
/** The newest readings. */
export type MachineReport = { readonly [N in SensorName]: Awaited<ReturnType<Sensors[N]>> }

/** Reads sensors at intervals. */
export interface MachineWatch {
  readonly report: MachineReport
  /** Reads the sensors now, for example after a change of `wants`. */
  ask(): Promise<void>
  close(): Promise<void>
}

/** Interval between readings: some need a process each. */
const BETWEEN_MS = 20_000
const NOT_ASKED = unknown('it was not read yet')

/** Starts to read sensors at intervals. @param wants  the sensors to read, asked each time */
export function watchMachine(
  sensors: Sensors,
  { clock, wants }: { readonly clock: Pick<Clock, 'sleep'>; wants(): Iterable<SensorName> },
): MachineWatch {
  const report: { -readonly [N in SensorName]: MachineReport[N] } = {
    mains: NOT_ASKED,
    celsius: NOT_ASKED,
    idleMs: NOT_ASKED,
    othersOnGpu: NOT_ASKED,
    dataBytes: NOT_ASKED,
  }
  const askFor = async <N extends SensorName>(name: N): Promise<void> => {
    report[name] = (await sensors[name]().catch((error: Error) => unknown(error.message))) as MachineReport[N]
  }
  const ask = async (): Promise<void> => {
    await Promise.all([...new Set(wants())].map(askFor))
  }
  const closing = new AbortController()
  const running = (async () => {
    while (!closing.signal.aborted) {
      await clock.sleep(BETWEEN_MS, closing.signal).catch(() => undefined)
      if (!closing.signal.aborted) await ask()
    }
  })()
  return {
    report,
    ask,
    async close() {
      closing.abort(new Error('closed'))
      await running
    },
  }
}
