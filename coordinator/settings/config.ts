import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { parse } from 'yaml'
import { z } from 'zod'
import { UsageError } from '../../common/errors/index.js'
import { isLoopback } from '../../common/http/access.js'
import { isInvitationText, isSource, LIMITS } from '../../proto/index.js'
import { CACHE_TYPES, USUAL_CACHE } from '../../rollout/engine/backend.js'
import { DEFAULT_LIMITS, DEFAULT_RULES, type EpisodeLimits, TOOL_CALL_FORMATS } from '../../rollout/episode/index.js'
import { REWARD_PRESETS } from '../../rollout/reward/index.js'
import { largestBody } from '../../rollout/verification/index.js'
import { trainerLaunch } from './trainer-launch.js'
import { TRAINER_PRESETS } from './trainer-presets.js'
import { trainerSettings } from './trainer-settings.js'

const positive = z.int().min(1)

const ownWords = z
  .string()
  .refine(isInvitationText, `a sentence of at most ${LIMITS.detailBytes.value} bytes, without line breaks`)
const pathPart = z.string().regex(/^[\w.-]+(\/[\w.-]+)*$/, 'letters, digits and . _ - between slashes')
const baseSource = z
  .union([
    z.string().min(1),
    z.strictObject({
      /** Repository, as `owner/name`. */
      hub: pathPart,
      /** A commit, or a tag that does not move. */
      revision: pathPart,
      file: pathPart,
    }),
  ])
  .transform((source) =>
    typeof source === 'string'
      ? source
      : `https://huggingface.co/${source.hub}/resolve/${source.revision}/${source.file}`,
  )
  .refine(isSource, `an https URL of at most ${LIMITS.sourceBytes.value} bytes`)

/** Address of a web server: a name or address of this machine, and a port. IPv6 addresses are in brackets. */
const WEB_ADDRESS = /^(\[[0-9a-fA-F:.]+\]|[\w.-]+):(\d{1,5})$/
const webAddress = z
  .string()
  .refine(
    (text) => Number(WEB_ADDRESS.exec(text)?.[2] ?? 65_536) <= 65_535,
    'an address with a port, such as 127.0.0.1:4080',
  )

/** Splits an address of `dashboard.listen`. `host` is without the brackets of IPv6. */
export function partsOfAddress(address: string): { readonly host: string; readonly port: number } {
  const [, host, port] = WEB_ADDRESS.exec(address)!
  return { host: host!.replace(/^\[|\]$/g, ''), port: Number(port) }
}

/** Schema of `run.yaml`; docs/reference/configuration.md lists every field. */
export const configSchema = z.strictObject({
  /** Folder for all data of the coordinator: key, event log, blobs, jobs. One process per folder. */
  dataDir: z.string().min(1),
  /** libp2p addresses to listen on. Port 0 takes a free one. */
  listen: z.array(z.string().min(1)).min(1).default(['/ip4/0.0.0.0/tcp/4001', '/ip6/::/tcp/4001']),
  announce: z.array(z.string().min(1)).default([]),
  /** KiB/s for uploads of adapters and the base model. */
  uploadKiB: z.number().min(64).optional(),
  /** Operator's own words in invitations. */
  about: z.strictObject({ operator: ownWords.default(''), purpose: ownWords.default('') }).prefault({}),
  base: z.strictObject({
    /** The GGUF that volunteers run. */
    path: z.string().min(1),
    /** Name of the base model: a hub id, or the file's own name. */
    name: z.string().min(1).max(LIMITS.nameBytes.value),
    quantisation: z.string().min(1).max(LIMITS.shortNameBytes.value).default('f16'),
    /** How the model writes tool calls. */
    toolCallFormat: z.enum([...TOOL_CALL_FORMATS.keys()]).default(DEFAULT_RULES.toolCallFormat),
    /** Other sources of the file for volunteers: an https URL, or a file of a repository on the Hugging Face hub. */
    sources: z.array(baseSource).max(LIMITS.baseSources.value).default([]),
  }),
  tasks: z.strictObject({
    /** Folders of data sets of `prove-lab synthesize`: leases use their training splits. */
    dataset: z
      .union([z.string().min(1), z.array(z.string().min(1)).min(1).max(64)], 'must be a folder or a list of folders')
      .transform((folders) => [folders].flat()),
    /** Folders of its environments that are not part of this package. */
    environments: z.array(z.string().min(1)).max(64).default([]),
  }),
  /** Reward preset. */
  reward: z.enum([...REWARD_PRESETS.keys()]).default(DEFAULT_RULES.reward),
  /** Type of the volunteers' KV caches. */
  cacheType: z.enum(CACHE_TYPES).default(USUAL_CACHE),
  /** Rollouts per group, G. */
  groupSize: z.int().min(LIMITS.minGroupSize.value).max(LIMITS.maxGroupSize.value).default(8),
  /** Groups with reward variance per batch. */
  batchGroups: positive.max(4096).default(16),
  /** The run is complete when this version is published. */
  versions: positive.default(350),
  /** S: versions that a group may be behind when it is trained on. */
  maxStaleness: z.int().min(0).max(LIMITS.staleness.value).default(4),
  leases: z
    .strictObject({
      /** Milliseconds until a lease lapses. */
      durationMs: positive.default(180_000),
      perNode: z.int().min(1).max(LIMITS.leasesHeld.value).default(2),
    })
    .prefault({}),
  verification: z
    .strictObject({
      /** Processes that replay groups; 0: the coordinator's own thread. */
      workers: z.int().min(0).max(64).default(0),
    })
    .prefault({}),
  audit: z
    .strictObject({
      /** Files of `prove-lab calibrate`, one per backend. Without any, verification checks 5 to 7 do not run. */
      calibrations: z.array(z.string().min(1)).max(64).default([]),
      /** Groups of a key that are all audited, counted from its first or from its last doubtful one. */
      probation: positive.default(20),
      /** Smallest share of a key's groups that is audited. */
      leastShare: z.number().gt(0).max(1).default(0.1),
      /** torchrun ranks of the audit process. */
      processes: positive.max(1024).default(1),
    })
    .prefault({}),
  influence: z
    .strictObject({
      /** Largest share of a batch from one key, and from one block of network addresses. */
      perKey: z.number().gt(0).max(1).default(0.5),
      perAddressBlock: z.number().gt(0).max(1).default(0.25),
    })
    .prefault({}),
  rounds: z
    .strictObject({
      /** Age of a round at which the next one opens for keys that registered, unless a version is published before. */
      registrationMs: positive.default(5_000),
    })
    .prefault({}),
  limits: z
    .strictObject({
      maxTurnTokens: positive.max(LIMITS.turnTokens.value).default(DEFAULT_LIMITS.maxTurnTokens),
      maxRolloutTokens: positive.max(LIMITS.rolloutTokens.value).default(DEFAULT_LIMITS.maxRolloutTokens),
      maxAssistantTurns: positive.max(LIMITS.turns.value).default(DEFAULT_LIMITS.maxAssistantTurns),
    })
    .prefault({}),
  /** Scores of versions by the coordinator, on held-out tasks. */
  heldOut: z
    .strictObject({
      /** 0: no scores. */
      tasks: z
        .int()
        .min(0)
        .max(10_000)
        .refine((tasks) => tasks !== 1, 'one task has no standard error: use 0 for no scores, or at least 2')
        .default(0),
      /** Versions between two scores. */
      every: positive.default(1),
      /** CPU threads, in addition to training. */
      threads: positive.max(256).default(1),
      gpu: z.boolean().default(false),
    })
    .prefault({}),
  trainer: z
    .strictObject({
      /** Python with the packages of coordinator/trainer/requirements.txt; default: the checkout's own. */
      python: z.string().min(1).optional(),
      /** torchrun ranks. */
      processes: positive.max(1024).default(1),
      /** Launch of ranks on other machines. */
      launch: trainerLaunch.optional(),
      /** Named settings. */
      preset: z.enum(Object.keys(TRAINER_PRESETS) as [keyof typeof TRAINER_PRESETS]).optional(),
      /** Further settings of `trainer.json`, see docs/reference/trainer.md. */
      settings: trainerSettings.default({}),
    })
    .prefault({}),
  /** Evidence with which anybody can make the steps of the run again, see docs/use-a-model/verify-a-run.md. */
  rederivation: z
    .strictObject({
      /** Newest versions whose evidence is kept; absent: all. */
      versions: z.int().min(0).max(1_000_000).optional(),
      /** Credit of a reported result. */
      credit: z.int().min(0).max(10_000).default(0),
    })
    .prefault({}),
  /** Dashboard for browsers, see docs/operate/observe.md. */
  dashboard: z
    .strictObject({
      enabled: z.boolean().default(true),
      /** Port 0 takes a free one. */
      listen: webAddress.default('127.0.0.1:4080'),
      /** File with the token of the run. */
      tokenFile: z.string().min(1).optional(),
      /** Shows everything but secrets to visitors without a token. */
      public: z.boolean().default(false),
      /** Host names that browsers may use, in addition to addresses and localhost. */
      hosts: z.array(z.hostname()).max(16).default([]),
    })
    .refine(
      ({ enabled, listen, tokenFile, public: isPublic }) =>
        !enabled || tokenFile !== undefined || isPublic || isLoopback(partsOfAddress(listen).host),
      'other machines can reach this address: give tokenFile, a file with a token of your own (openssl rand -hex 24), or set public: true',
    )
    .prefault({}),
  /** Backups that a running coordinator makes of itself. */
  backups: z
    .strictObject({
      /** Milliseconds between two backups. */
      everyMs: positive.min(60_000).default(6 * 3_600_000),
      /** Number of backups that are kept; 0: none are made. */
      keep: z.int().min(0).max(100).default(2),
      /** Folder; default: `backups` in the data folder. */
      folder: z.string().min(1).optional(),
    })
    .prefault({}),
  /** Lifetime of a manifest. */
  manifestLifetimeMs: positive.default(30 * 24 * 3_600_000),
})

export type RunConfig = z.output<typeof configSchema>

/** Returns the limits of a run's rollouts. Limits that `run.yaml` does not set are the same in every run. */
export const episodeLimits = ({ limits }: Pick<RunConfig, 'limits'>): EpisodeLimits => ({
  ...DEFAULT_LIMITS,
  ...limits,
})

/** `run.yaml`, or an option, is invalid. The message names the file and the field, and needs no code in front. */
export class ConfigError extends UsageError<'bad_config'> {
  constructor(detail: string, options?: ErrorOptions) {
    super('bad_config', detail, options)
    this.message = detail
  }
}

/**
 * Reads `run.yaml`.
 * @throws ConfigError that names the file and the field
 */
export function readConfig(file: string): RunConfig {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (cause) {
    const isMissing = (cause as NodeJS.ErrnoException).code === 'ENOENT'
    const why = isMissing
      ? 'there is no such file: run the command in the folder of run.yaml, or name the file with --config'
      : (cause as Error).message
    throw new ConfigError(`${file}: ${why}`, { cause })
  }
  return parseConfig(text, file)
}

/**
 * Parses a `run.yaml`.
 * @param text  its text
 * @param file  its path: relative paths in it are relative to its folder
 * @throws ConfigError that names the file and the field
 */
export function parseConfig(text: string, file: string): RunConfig {
  let content: unknown
  try {
    content = parse(text, { logLevel: 'error' })
  } catch (cause) {
    // The message of a syntax error ends with an excerpt of the file.
    throw new ConfigError(`${file}: ${(cause as Error).message.split('\n')[0]}`, { cause })
  }
  const parsed = configSchema.safeParse(content)
  if (!parsed.success) {
    const issues = parsed.error.issues.map(({ path, message }) => `${path.join('.') || 'the file'}: ${message}`)
    throw new ConfigError(`${file}: ${issues.join('; ')}`)
  }
  const { dataDir, base, tasks, trainer, audit, dashboard, backups, groupSize, limits } = parsed.data
  const bodyBytes = largestBody(groupSize, episodeLimits(parsed.data))
  if (bodyBytes > LIMITS.groupBodyBytes.value) {
    const group = `${groupSize} rollouts of ${limits.maxRolloutTokens} tokens may take ${bodyBytes} B`
    throw new ConfigError(
      `${file}: limits.maxRolloutTokens: ${group}, but a group can have at most ${LIMITS.groupBodyBytes.value} B. Lower it, or groupSize.`,
    )
  }
  const from = (path: string): string => resolve(dirname(file), path)
  /** A bare name is looked up in PATH. */
  const program = (name: string): string => (name.includes('/') ? from(name) : name)
  return {
    ...parsed.data,
    dataDir: from(dataDir),
    base: { ...base, path: from(base.path) },
    tasks: { dataset: tasks.dataset.map(from), environments: tasks.environments.map(from) },
    audit: { ...audit, calibrations: audit.calibrations.map(from) },
    dashboard: { ...dashboard, ...(dashboard.tokenFile === undefined ? {} : { tokenFile: from(dashboard.tokenFile) }) },
    backups: { ...backups, ...(backups.folder === undefined ? {} : { folder: from(backups.folder) }) },
    trainer: { ...trainer, ...(trainer.python === undefined ? {} : { python: program(trainer.python) }) },
  }
}
