import { ControlRefusal } from '../../common/control/index.js'
import type { Clock } from '../../swarm/index.js'
import type { Order } from '../ledger/orders.js'
import type { Recorder } from '../ledger/recorder.js'
import { checkConfigurationChanges, configurationChanges, type RunConfiguration } from '../ledger/run-configuration.js'
import { ConfigError, parseConfig, type RunConfig } from '../settings/config.js'
import { liveChanges } from '../settings/live-fields.js'

export interface SettingsServiceParts {
  /** What the coordinator was started with. */
  readonly config: RunConfig
  /** The terms that a configuration asks for. */
  readonly configurationOf: (config: RunConfig) => RunConfiguration
  /** @throws ConfigError when the run's tasks do not fit a configuration */
  readonly checkTasks: (config: RunConfig) => void
  readonly recorder: Pick<Recorder, 'record' | 'state'>
  readonly clock: Pick<Clock, 'now'>
}

/** Puts changed settings of a running coordinator on record. */
export interface SettingsService {
  /**
   * @param text  of a `run.yaml` that lies at `file`
   * @returns  what changes by it, in words; null: nothing does
   * @throws ControlRefusal when it is none, or changes what cannot change now
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
  'a new round opens under these terms; groups whose leases were given before are judged by the terms of their lease',
  ...(changes.some(({ field }) => field.startsWith('training.'))
    ? ['the trainer starts anew with them before its next step']
    : []),
]
