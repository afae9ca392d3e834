import { ControlRefusal } from '../../common/control/index.js'
import type { Clock } from '../../swarm/index.js'
import type { Order } from '../ledger/orders.js'
import type { Recorder } from '../ledger/recorder.js'
import { checkConfigurationChanges, configurationChanges, type RunConfiguration } from '../ledger/run-configuration.js'
import { ConfigError, parseConfig, type RunConfig } from '../settings/config.js'
import { liveChanges } from '../settings/live-fields.js'

export interface SettingsServiceParts {
  /** Settings at the start. */
  readonly config: RunConfig
  /** Returns the run configuration that settings ask for. */
  readonly configurationOf: (config: RunConfig) => RunConfiguration
  /** @throws ConfigError when the run's tasks do not fit a configuration */
  readonly checkTasks: (config: RunConfig) => void
  readonly recorder: Pick<Recorder, 'record' | 'state'>
  readonly clock: Pick<Clock, 'now'>
}

/** Records changed settings of a running coordinator. */
export interface SettingsService {
  /**
   * @param text  text of a `run.yaml`
   * @param file  its path
   * @returns  sentences about the effects; null: nothing changes
   * @throws ControlRefusal if the text is invalid, or changes what cannot change now
   */
  take(text: string, file: string, given: Pick<Order, 'by' | 'reason'>): Promise<string[] | null>
}

export function createSettingsService({
  config,
  configurationOf,
  checkTasks,
  recorder,
  clock,
}: SettingsServiceParts): SettingsService {
  let inForce = config
  return {
    async take(text, file, given) {
      try {
        const wanted = parseConfig(text, file)
        liveChanges(inForce, wanted)
        const { configuration: now, current } = recorder.state
        if (current!.version >= now!.versions)
          throw new ConfigError(
            'the run is complete, and its trainer has ended: stop the coordinator, and start it with the changed file',
          )
        checkTasks(wanted)
        const configuration = configurationOf(wanted)
        const recorded = await recorder.record((state) => {
          const changes = configurationChanges(state.configuration!, configuration)
          if (changes.length === 0) return null
          checkConfigurationChanges(changes)
          return { type: 'configured', atMs: clock.now(), configuration, changes, ordered: given }
        })
        inForce = wanted
        return recorded && effectOf(recorded.changes)
      } catch (error) {
        if (error instanceof ConfigError) throw new ControlRefusal('bad_request', error.message)
        throw error
      }
    },
  }
}

const effectOf = (
  changes: readonly { readonly field: string; readonly from: string; readonly to: string }[],
): string[] => [
  ...changes.map(({ field, from, to }) => `${field}: ${from} -> ${to}`),
  'a new round opens under this run configuration; groups of earlier leases are verified under the configuration of their lease',
  ...(changes.some(({ field }) => field.startsWith('training.'))
    ? ['the trainer restarts with these settings before its next step']
    : []),
]
