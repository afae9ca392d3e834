import type { Clock } from '../../swarm/index.js'
import { changed, type LimitChanges, readLimits, writeLimits } from '../limits/limits-file.js'
import { limitsInForce, notKept, sensorsFor } from '../limits/limits-in-force.js'
import { DEFAULTS, type LimitName, type LimitSettings } from '../limits/settings.js'
import type { WorkLimit } from '../limits/work-limit.js'
import { type Sensors, watchMachine } from '../machine/machine-watch.js'

export interface LimitKeeperParts {
  readonly dataDir: string
  /** Limits of the command line, which override those of the data folder. */
  readonly given: LimitSettings
  readonly sensors: Sensors
  readonly clock: Clock
  /** Traffic of this month, and the start of the next one. */
  readonly month: () => { readonly bytes: number; readonly nextMs: number }
}

/** The limits of a running node, with the sensors that they need. */
export interface LimitKeeper {
  readonly settings: LimitSettings
  /** All limits that may pause the work, as one. */
  readonly inForce: WorkLimit
  /** Limits that this machine cannot keep, each with the reason. */
  notKept(): string[]
  /**
   * Changes limits here and in the data folder.
   * @param apply  makes the settings take effect; if it rejects, the settings before the change stay in force
   */
  change(changes: LimitChanges, apply: (before: LimitSettings) => Promise<void>): Promise<void>
  close(): Promise<void>
}

/** Reads the limits of the data folder, and asks the sensors once. @throws NodeError `bad_limits` */
export async function openLimitKeeper(parts: LimitKeeperParts): Promise<LimitKeeper> {
  const { dataDir, clock, month } = parts
  let { given } = parts
  let kept = await readLimits(dataDir)
  const settings = (): LimitSettings => changed(changed(DEFAULTS, kept), given)
  const watch = watchMachine(parts.sensors, { clock, wants: () => sensorsFor(settings()) })
  const limitOf = (): WorkLimit => limitsInForce(settings(), { now: clock.now, sensed: watch.report, month })
  let inForce = limitOf()
  await watch.ask()
  return {
    get settings() {
      return settings()
    },
    get inForce() {
      return inForce
    },
    notKept: () => notKept(settings(), watch.report),
    async change(changes, apply) {
      const before = { kept, given, settings: settings() }
      kept = changed(kept, changes)
      // A change overrides the command line too.
      const names = Object.keys(changes) as LimitName[]
      given = changed(given, Object.fromEntries(names.map((name) => [name, null])) as LimitChanges)
      try {
        await apply(before.settings)
        await writeLimits(dataDir, kept)
      } catch (error) {
        ;({ kept, given } = before)
        throw error
      }
      inForce = limitOf()
      await watch.ask()
    },
    close: watch.close,
  }
}
