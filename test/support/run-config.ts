import { configSchema, type RunConfig } from '../../coordinator/settings/config.js'
import { AMPLE } from './scripted.js'

/** A small run over library tasks, in which shares of a batch are not bounded. */
export function smallRun(change: Partial<RunConfig>): RunConfig {
  const { maxTurnTokens, maxRolloutTokens, maxAssistantTurns } = AMPLE
  return configSchema.parse({
    dataDir: 'data',
    base: { path: '/base.gguf', name: 'village-model' },
    tasks: { dataset: '/library tasks' },
    batchGroups: 2,
    maxStaleness: 1,
    leases: { durationMs: 60_000, perNode: 2 },
    influence: { perKey: 1, perAddressBlock: 1 },
    limits: { maxTurnTokens, maxRolloutTokens, maxAssistantTurns },
    ...change,
  })
}
