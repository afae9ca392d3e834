import type { RunEvent } from '../../../coordinator/ledger/events.js'
import type { SeededRandom } from '../../../servers/kernel/index.js'
import type { ChaosRun, ChaosSettings } from '../chaos-run.js'

/** One kind of misfortune. */
export interface Scenario {
  readonly name: string
  readonly about: string
  readonly settings?: Partial<ChaosSettings>
  /** Brings it about while time passes; afterwards the run goes on until it is complete. */
  befall(run: ChaosRun, random: SeededRandom): Promise<void>
  /** What must be so at the end beside what must always be so. @returns  violations */
  readonly check?: (events: readonly RunEvent[], peerIds: readonly string[]) => string[]
  /** What programs may report, or end by, in this scenario; anything else is a violation. */
  readonly expects?: (error: unknown) => boolean
}

/** Lets time pass until it is so, or the run is over before. @returns  whether it is so */
export async function meanwhile(run: ChaosRun, what: string, ready: () => boolean): Promise<boolean> {
  await run.until(what, () => run.finished || ready())
  return !run.finished
}
