import { changedFields, type FieldChange } from './changed-fields.js'
import { ConfigError, type RunConfig } from './config.js'

/**
 * Fields of `run.yaml` that may change while the coordinator runs, or beginnings of their paths. All of them are part of the run
 * configuration, so the log records when each value is in force.
 */
export const LIVE_FIELDS = [
  'reward',
  'cacheType',
  'groupSize',
  'batchGroups',
  'versions',
  'maxStaleness',
  'leases',
  'audit.probation',
  'audit.leastShare',
  'influence',
  'limits',
  'trainer.preset',
  'trainer.settings.optimizer',
  'trainer.settings.loss',
] as const

/** Fields that cannot change within a run. */
const KEPT_FIELDS = [
  'dataDir',
  'base.path',
  'base.name',
  'base.quantisation',
  'base.toolCallFormat',
  'tasks',
  'trainer.settings.lora',
  'trainer.settings.baseModel',
] as const

const isOf = (fields: readonly string[], field: string): boolean =>
  fields.some((one) => field === one || field.startsWith(`${one}.`))

/**
 * Returns the changes from the current `run.yaml` to another one.
 * @throws ConfigError with advice when a running coordinator cannot change a field
 */
export function liveChanges(before: RunConfig, after: RunConfig): readonly FieldChange[] {
  const changes = changedFields(before, after)
  const shown = (some: readonly FieldChange[]): string =>
    some.map(({ field, from, to }) => `${field} is ${from} and would be ${to}`).join('; ')
  const kept = changes.filter(({ field }) => isOf(KEPT_FIELDS, field))
  if (kept.length > 0)
    throw new ConfigError(
      `${shown(kept)}: this cannot change within a run. Restore the old value, or start a new run in another dataDir.`,
    )
  const later = changes.filter(({ field }) => !isOf(LIVE_FIELDS, field))
  if (later.length > 0)
    throw new ConfigError(
      `${shown(later)}: this needs a restart. Stop the coordinator and start it with this file, or restore the old value for now.`,
    )
  return changes
}
