import type { RunConfig } from '../../coordinator/config.js'
import { AMPLE } from '../unit/scripted.js'

export type ConfigChange = Partial<Pick<RunConfig, 'batchGroups' | 'versions' | 'maxStaleness' | 'leases'>>

/** A small run's configuration. */
export const configOf = (change: ConfigChange): RunConfig => ({
  dataDir: '',
  listen: [],
  announce: [],
  base: { path: '', name: 'village-model', quantisation: 'f16' },
  tasks: { dataset: 'library tasks' },
  groupSize: 3,
  batchGroups: 2,
  versions: 3,
  maxStaleness: 1,
  leases: { durationMs: 60_000, perNode: 2 },
  audit: { calibrations: [], acceptOtherDraws: false },
  influence: { perKey: 1, perAddressBlock: 1 },
  rounds: { registrationMs: 2000 },
  limits: {
    maxTurnTokens: AMPLE.maxTurnTokens,
    maxRolloutTokens: AMPLE.maxRolloutTokens,
    maxAssistantTurns: AMPLE.maxAssistantTurns,
  },
  trainer: { processes: 1, settings: {} },
  manifestLifetimeMs: 30 * 24 * 3_600_000,
  ...change,
})
