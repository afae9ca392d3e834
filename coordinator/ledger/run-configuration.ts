import { z } from 'zod'
import { runConfigurationId } from '../../proto/index.js'
import { CACHE_TYPES } from '../../rollout/engine/backend.js'
import { changedFields, type FieldChange, NOTHING } from '../settings/changed-fields.js'
import { ConfigError } from '../settings/config.js'
import type { TrainerSettings } from '../settings/trainer-settings.js'

const count = z.int().min(0)
const share = z.number().min(0).max(1)
const hash = z.string().regex(/^[0-9a-f]{64}$/)
const name = z.string().min(1).max(256)

/**
 * Schema of a run configuration: the promises of a run to volunteers, and the conditions under which their groups are verified. Events
 * record it. A round opens under the newest configuration. The groups of its leases are verified under that configuration, even if
 * a later one replaces it.
 */
export const runConfigurationSchema = z.object({
  base: z.object({
    name,
    ggufSha256: hash,
    quantisation: name,
    chatTemplateSha256: hash,
    /** Number of parameters; absent in logs of earlier versions. */
    parameters: count.optional(),
  }),
  dataset: z.object({ sha256: hash, tasks: count }),
  /** Hash of each environment of the data set, see `environmentSha256`. */
  environments: z.record(z.string(), hash),
  toolCallFormat: name,
  /** Name of the rule by which a seed determines the sampled tokens. */
  draw: name,
  /** Name of the reward preset. */
  reward: name,
  /** Type of the volunteers' KV caches; absent in logs of earlier versions, whose caches were of f16. */
  cacheType: z.enum(CACHE_TYPES).optional(),
  /** Rollouts per group, G. */
  groupSize: count,
  limits: z.object({ maxTurnTokens: count, maxRolloutTokens: count, maxAssistantTurns: count, maxCalls: count }),
  /** S: number of versions that a group may be behind. */
  maxStaleness: count,
  batchGroups: count,
  versions: count,
  leases: z.object({ durationMs: count, perNode: count }),
  audit: z.object({
    /** SHA-256 of the calibration file of each inference backend with its build. */
    calibrations: z.record(z.string(), hash),
    probation: count,
    leastShare: share,
  }),
  /** Largest differences (nats) of a node's engine from the canaries' log-probabilities, see `canaryTolerance`. */
  canaryTolerance: z.object({ mean: z.number().positive(), max: z.number().positive() }),
  influence: z.object({ perKey: share, perAddressBlock: share }),
  /** Settings of the loss, the optimizer and the adapter, as in `trainer.json`. Not parsed, because an older log may contain removed settings. */
  training: z.record(z.string(), z.unknown()),
})

type Fixed<T> = T extends object ? { readonly [K in keyof T]: Fixed<T[K]> } : T
export type RunConfiguration = Fixed<Omit<z.output<typeof runConfigurationSchema>, 'training'>> & {
  readonly training: TrainerSettings
}

/** The part of a run configuration that applies to the verification of one group. */
export type LeaseConfiguration = Pick<RunConfiguration, 'groupSize' | 'limits' | 'maxStaleness' | 'reward' | 'audit'>

/** Returns the id of a run configuration, which leases and manifests contain. */
export const configurationIdOf = (configuration: RunConfiguration): string => runConfigurationId(configuration)

/** Returns the differences of two run configurations, in the order of their fields. */
export const configurationChanges = (before: RunConfiguration, after: RunConfiguration): FieldChange[] =>
  changedFields(before, after)

/**
 * Fields that cannot change within a run, with advice. The log refers to tasks by their index in the data set, adapters fit one
 * base model, and rollouts are not comparable between tool-call formats, environments or sampling rules.
 */
const FIXED: Readonly<Record<string, string>> = {
  base: 'Name the base model that the run started with',
  dataset: 'Name the data set that the run started with',
  toolCallFormat: 'Keep the tool-call format that the run started with',
  draw: 'Continue with the program version that the run started with',
  environments: 'Continue with the program version that the run started with',
}

/** Fixed fields that earlier versions did not record. */
const ADDED_LATER: ReadonlySet<string> = new Set(['base.parameters'])

/** Checks that only changeable fields have changed. @throws ConfigError with advice */
export function checkConfigurationChanges(changes: readonly FieldChange[]): void {
  const fixed = changes.filter(
    ({ field, from }) => Object.hasOwn(FIXED, rootOf(field)) && !(from === NOTHING && ADDED_LATER.has(field)),
  )
  if (fixed.length === 0) return
  const lines = fixed.map(({ field, from, to }) => `${field} was ${from} when the run started and is now ${to}`)
  const advice = new Set(fixed.map(({ field }) => FIXED[rootOf(field)]!))
  throw new ConfigError(`${lines.join('; ')}. ${[...advice].join('. ')}, or start a new run in another dataDir.`)
}

const rootOf = (field: string): string => field.split('.')[0]!
