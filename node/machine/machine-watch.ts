import type { Clock } from '../../swarm/index.js'
import { type SensorReading, unknown } from './sensor-reading.js'

/** What can be asked of a machine. */
export interface Sensors {
  /** Whether it is on mains power. */
  mains(): Promise<SensorReading<boolean>>
  /** Of the hottest part that tells one, °C. */
  celsius(): Promise<SensorReading<number>>
  /** Since somebody last used it, ms. */
  idleMs(): Promise<SensorReading<number>>
  /** Names of other programs that compute on a GPU. */
  othersOnGpu(): Promise<SensorReading<readonly string[]>>
  /** Bytes in the data folder. */
  dataBytes(): Promise<SensorReading<number>>
}

export type SensorName = keyof Sensors
/** What the machine told last. */
export type MachineReport = { readonly [N in SensorName]: Awaited<ReturnType<Sensors[N]>> }

export interface MachineWatch {
  readonly report: MachineReport
  /** Asks at once, as after a change of what is wanted. */
  ask(): Promise<void>
  close(): Promise<void>
}

/** Some answers cost a process each. */
const BETWEEN_MS = 20_000
const NOT_ASKED = unknown('it was not asked yet')

/** Asks the machine from time to time. @param wants  what to ask, each time */
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
