import { changedFields, type FieldChange } from './changed-fields.js'
import { ConfigError, type RunConfig } from './config.js'

/**
 * Fields of `run.yaml` that may change while the coordinator runs, or what their paths begin with: all of them are terms, so the log says
 * what holds for whom, and every part of the coordinator looks there.
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

/** What a run keeps from its first event on. */
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
 * What another `run.yaml` changes of the one that a coordinator runs by.
 * @throws ConfigError when it changes what a running coordinator cannot change, with what to do
 */
export function liveChanges(before: RunConfig, after: RunConfig): readonly FieldChange[] {
  const changes = changedFields(before, after)
  const shown = (some: readonly FieldChange[]): string =>
    some.map(({ field, from, to }) => `${field} is ${from} and would be ${to}`).join('; ')
  const kept = changes.filter(({ field }) => isOf(KEPT_FIELDS, field))
  if (kept.length > 0)
    throw new ConfigError(
      `${shown(kept)}: a run keeps that from its beginning to its end. Put it back, or begin a new run in another dataDir.`,
    )
  const later = changes.filter(({ field }) => !isOf(LIVE_FIELDS, field))
  if (later.length > 0)
    throw new ConfigError(
      `${shown(later)}: that holds from a start on. Stop the coordinator and start it with this file, or put it back for now.`,
    )
  return changes
}
