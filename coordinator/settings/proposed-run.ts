import { isAbsolute, relative } from 'node:path'
import type { ModelFacts } from '../../rollout/engine/index.js'
import { DEFAULT_LIMITS, type EpisodeLimits } from '../../rollout/episode/index.js'
import { learningRateFor, sizeOf } from './learning-rates.js'
import type { FieldValue } from './run-file.js'

/** An operator's answers for a new run. Paths are absolute. */
export interface RunProposal {
  readonly base: string
  readonly dataset: string
  /** Folders of environments that are not part of this package. */
  readonly environments: readonly string[]
  readonly dataDir: string
  readonly name: string
  readonly operator: string
  readonly purpose: string
  readonly port: number
  /** Public addresses, if they differ from those of `listen`. */
  readonly announce: readonly string[]
  readonly calibrations: readonly string[]
}

/** Parameters below which a model is like the demo model: its turns are a call or a sentence. */
const SMALL_MODEL = 1e8
/** Tokens of a turn of a model that explains itself before it calls. */
const TURN_TOKENS = 512
/** Turns with their results that have to fit after the first prompt. */
const TURNS = 6
const STEP = 1024
/** Tokens of the longest first prompts of the `paper` profile, for a run without a data set. */
const PAPER_PROMPT = 4096

/** Returns limits for a model of this size and prompts of this length. @param prompt  tokens; null: unknown */
export function proposedLimits(parameters: number, prompt: number | null): EpisodeLimits {
  const isSmall = parameters < SMALL_MODEL
  const maxTurnTokens = isSmall ? DEFAULT_LIMITS.maxTurnTokens : TURN_TOKENS
  const longest = prompt ?? (isSmall ? 0 : PAPER_PROMPT)
  const maxRolloutTokens = Math.max(
    DEFAULT_LIMITS.maxRolloutTokens,
    STEP * Math.ceil((longest + TURNS * maxTurnTokens) / STEP),
  )
  return { ...DEFAULT_LIMITS, maxTurnTokens, maxRolloutTokens }
}

/**
 * Returns the fields of a new run.yaml that get a value.
 * @param folder  folder of the file
 * @param prompt  tokens of the longest first prompt; null: no data set yet
 * @param toolCallFormat  format that the base's chat template writes
 */
export function proposedFields(
  proposal: RunProposal,
  {
    facts,
    folder,
    prompt,
    toolCallFormat,
  }: {
    readonly facts: ModelFacts
    readonly folder: string
    readonly prompt: number | null
    readonly toolCallFormat: string
  },
): ReadonlyMap<string, FieldValue> {
  const from = (path: string): string => {
    const inside = relative(folder, path)
    return inside !== '' && !inside.startsWith('..') && !isAbsolute(inside) ? inside : path
  }
  const { parameters, quantisation } = facts
  const { maxTurnTokens, maxRolloutTokens } = proposedLimits(parameters, prompt)
  const { lr, source } = learningRateFor(parameters)
  const length =
    prompt === null
      ? 'No data set was there to measure: compare it with the prompts of your tasks'
      : `The longest first prompt of the data set has ${prompt} tokens`
  const fields: [string, FieldValue | null][] = [
    ['dataDir', { value: from(proposal.dataDir) }],
    ['listen', { value: [`/ip4/0.0.0.0/tcp/${proposal.port}`, `/ip6/::/tcp/${proposal.port}`] }],
    ['announce', proposal.announce.length === 0 ? null : { value: proposal.announce }],
    ['about.operator', proposal.operator === '' ? null : { value: proposal.operator }],
    ['about.purpose', proposal.purpose === '' ? null : { value: proposal.purpose }],
    ['base.path', { value: from(proposal.base) }],
    ['base.name', { value: proposal.name }],
    ['base.quantisation', quantisation === null ? null : { value: quantisation }],
    [
      'base.toolCallFormat',
      { value: toolCallFormat, why: 'The chat template of the base writes calls in this format.' },
    ],
    ['tasks.dataset', { value: from(proposal.dataset) }],
    ['tasks.environments', proposal.environments.length === 0 ? null : { value: proposal.environments.map(from) }],
    ['audit.calibrations', proposal.calibrations.length === 0 ? null : { value: proposal.calibrations.map(from) }],
    ['limits.maxTurnTokens', { value: maxTurnTokens }],
    ['limits.maxRolloutTokens', { value: maxRolloutTokens, why: `${length}.` }],
    [
      'trainer.settings',
      {
        value: { optimizer: { lr } },
        why: `The learning rate is for a model of ${sizeOf(parameters)} parameters: ${source}.`,
      },
    ],
  ]
  return new Map(fields.filter((field): field is [string, FieldValue] => field[1] !== null))
}
