import { isAbsolute, relative } from 'node:path'
import type { ModelFacts } from '../../rollout/engine/index.js'
import { DEFAULT_LIMITS, type EpisodeLimits } from '../../rollout/episode/index.js'
import { learningRateFor, sizeOf } from './learning-rates.js'
import type { FieldValue } from './run-file.js'

/** What an operator says of a new run. Paths are absolute. */
export interface RunWishes {
  readonly base: string
  readonly dataset: string
  /** Folders of worlds that are not of this package. */
  readonly environments: readonly string[]
  readonly dataDir: string
  readonly name: string
  readonly operator: string
  readonly purpose: string
  readonly port: number
  /** Where volunteers reach it, if not where it listens. */
  readonly announce: readonly string[]
  readonly calibrations: readonly string[]
}

/** Models below this are the demo's kind: their turns are a call or a sentence. */
const SMALL_MODEL = 1e8
/** An answer of a model that explains itself before it calls. */
const TURN_TOKENS = 512
/** Turns with their results that a conversation is given room for after its first prompt. */
const TURNS = 6
const STEP = 1024
/** Tokens of the longest first prompts of the `paper` profile, for whoever has no data set yet. */
const PAPER_PROMPT = 4096

/** Limits that let a model of this size answer prompts of this length. @param prompt  tokens; null: not known yet */
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
 * The fields of a new run.yaml that are worth a line of their own.
 * @param folder  where it will lie
 * @param prompt  tokens of the longest first prompt; null: there is no data set yet
 */
export function proposedFields(
  wishes: RunWishes,
  { facts, folder, prompt }: { readonly facts: ModelFacts; readonly folder: string; readonly prompt: number | null },
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
      ? 'There was no data set to measure yet: compare it with the prompts that a start finds'
      : `The longest first prompt of the data set has ${prompt} tokens`
  const fields: [string, FieldValue | null][] = [
    ['dataDir', { value: from(wishes.dataDir) }],
    ['listen', { value: [`/ip4/0.0.0.0/tcp/${wishes.port}`, `/ip6/::/tcp/${wishes.port}`] }],
    ['announce', wishes.announce.length === 0 ? null : { value: wishes.announce }],
    ['about.operator', wishes.operator === '' ? null : { value: wishes.operator }],
    ['about.purpose', wishes.purpose === '' ? null : { value: wishes.purpose }],
    ['base.path', { value: from(wishes.base) }],
    ['base.name', { value: wishes.name }],
    ['base.quantisation', quantisation === null ? null : { value: quantisation }],
    ['tasks.dataset', { value: from(wishes.dataset) }],
    ['tasks.environments', wishes.environments.length === 0 ? null : { value: wishes.environments.map(from) }],
    ['audit.calibrations', wishes.calibrations.length === 0 ? null : { value: wishes.calibrations.map(from) }],
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
