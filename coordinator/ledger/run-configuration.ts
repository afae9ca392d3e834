import { createHash } from 'node:crypto'
import canonicalize from 'canonicalize'
import { z } from 'zod'
import { CACHE_TYPES } from '../../rollout/engine/backend.js'
import { changedFields, type FieldChange, NOTHING } from '../settings/changed-fields.js'
import { ConfigError } from '../settings/config.js'
import type { TrainerSettings } from '../settings/trainer-settings.js'

const count = z.int().min(0)
const share = z.number().min(0).max(1)
const hash = z.string().regex(/^[0-9a-f]{64}$/)
const name = z.string().min(1).max(256)

/**
 * What a run promises to whoever works for it, and what work is judged by. Terms are events: a round is opened under the
 * newest ones, a lease has those of its round, and its group is judged by them, however many terms came after.
 */
export const runConfigurationSchema = z.object({
  base: z.object({
    name,
    ggufSha256: hash,
    quantisation: name,
    chatTemplateSha256: hash,
    /** Numbers in its tensors; left out by earlier versions. */
    parameters: count.optional(),
  }),
  dataset: z.object({ sha256: hash, tasks: count }),
  /** Hash of each world of the data set, see `worldSha256`. */
  environments: z.record(z.string(), hash),
  toolCallFormat: name,
  /** Name of the rule by which a seed draws tokens. */
  draw: name,
  /** Name of the reward preset. */
  reward: name,
  /** Of the volunteers' engines; left out by earlier versions, whose caches were of f16. */
  cacheType: z.enum(CACHE_TYPES).optional(),
  /** Rollouts per group, G. */
  groupSize: count,
  limits: z.object({ maxTurnTokens: count, maxRolloutTokens: count, maxAssistantTurns: count, maxCalls: count }),
  /** S: versions that a group may be behind. */
  maxStaleness: count,
  batchGroups: count,
  versions: count,
  leases: z.object({ durationMs: count, perNode: count }),
  audit: z.object({
    /** What honest work of each inference backend with its build looks like: SHA-256 of the calibration file. */
    calibrations: z.record(z.string(), hash),
    probation: count,
    leastShare: share,
  }),
  influence: z.object({ perKey: share, perAddressBlock: share }),
  /** Settings of the loss, the optimizer and the adapter, as `trainer.json` has them. Not parsed here: an older log may hold some that are gone. */
  training: z.record(z.string(), z.unknown()),
})

type Fixed<T> = T extends object ? { readonly [K in keyof T]: Fixed<T[K]> } : T
export type RunConfiguration = Fixed<Omit<z.output<typeof runConfigurationSchema>, 'training'>> & {
  readonly training: TrainerSettings
}

/** Those by which one group is judged. */
export type LeaseConfiguration = Pick<RunConfiguration, 'groupSize' | 'limits' | 'maxStaleness' | 'reward' | 'audit'>

/** The name of terms: SHA-256 (hex) over their canonical JSON (RFC 8785). Leases and manifests carry it. */
export function configurationIdOf(configuration: RunConfiguration): string {
  return createHash('sha256')
    .update(`prove/terms/1\n${canonicalize(configuration)}`)
    .digest('hex')
}

/** What differs between two terms, in the order of their fields. */
export const configurationChanges = (before: RunConfiguration, after: RunConfiguration): FieldChange[] =>
  changedFields(before, after)

/**
 * What a run keeps from its first event to its last, with what to do when it was changed. The log refers to tasks by their
 * place in the data set, adapters fit one base, and what was sampled in one dialect or world, or by one draw, says nothing in another.
 */
const FIXED: Readonly<Record<string, string>> = {
  base: 'Name the base model that the run began with',
  dataset: 'Name the data set that the run began with',
  toolCallFormat: 'Keep the tool-call format that the run started with',
  draw: 'Go on with the program that the run began with',
  environments: 'Go on with the program that the run began with',
}

/** Fields of these that earlier versions left out of the terms. */
const SAID_LATER: ReadonlySet<string> = new Set(['base.parameters'])

/** @throws ConfigError for what may not change, with what to do instead */
export function checkConfigurationChanges(changes: readonly FieldChange[]): void {
  const fixed = changes.filter(
    ({ field, from }) => Object.hasOwn(FIXED, rootOf(field)) && !(from === NOTHING && SAID_LATER.has(field)),
  )
  if (fixed.length === 0) return
  const lines = fixed.map(({ field, from, to }) => `${field} was ${from} when the run began and is ${to}`)
  const advice = new Set(fixed.map(({ field }) => FIXED[rootOf(field)]!))
  throw new ConfigError(`${lines.join('; ')}. ${[...advice].join('. ')}, or begin a new run in another dataDir.`)
}

const rootOf = (field: string): string => field.split('.')[0]!
