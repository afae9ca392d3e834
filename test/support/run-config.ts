import { configSchema, type RunConfig } from '../../coordinator/settings/config.js'
import { AMPLE } from './scripted.js'

/** Configuration of a small run over library tasks, without limits for a key's share of a batch. */
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
