import { z } from 'zod'
import {
  type DeclineRule,
  type DomainRule,
  isOptional,
  meaningOf,
  questionOf,
  type SeededRandom,
} from '../../../servers/kernel/index.js'
import { itemAt } from '../item-at.js'
import { isNameAsKey, listed, nameOf } from './english.js'
import { askedFor, choicesOf } from './field-words.js'
import { phraseLists, texts } from './phrase-lists.js'
import { isPerson } from './reference-words.js'
import type { Ask, Moment } from './speech.js'
import { goalsOf, thingMade } from './tool-phrases.js'

const PHRASES = [
  ...['which', 'choosing', 'sought', 'writing', 'naming', 'named', 'names', 'finding', 'details', 'open_questions'],
  ...['options', 'failures', 'last_failures', 'offers', 'refusals', 'refusals_named', 'rests', 'rests_named'],
  ...['once_more', 'instead', 'declined', 'rest_declined', 'declined_again', 'confirm', 'rest_confirm', 'left'],
  ...['confirmations', 'done'],
] as const
const lists = phraseLists(
  'assistant-phrases',
  z.strictObject({
    questions: z.array(z.strictObject({ about: z.string().transform((about) => new RegExp(about)), ask: texts })),
    phrases: z.record(z.enum(PHRASES), texts),
  }),
)
type Phrase = (typeof PHRASES)[number]

/** Draws a phrase of one kind, with `#` replaced. */
export const assistantPhrase = (kind: Phrase, random: SeededRandom, about = ''): string =>
  random.pick(lists().phrases[kind]).replace('#', () => about)

/** Most values that an assistant asks for at once: more would be read out like a form. */
const MAX_WANTED = 2

/** The assistant asks for a missing value (`field`), or for details in general. */
export function question(ask: Ask, field: string | undefined, moment: Moment): string {
  const { random } = moment
  const { environment, tool } = ask
  const what = (name: string): string => itemAt(askedFor(environment, tool, name).split(','), 0)
  if (field === undefined) {
    const [first, ...others] = Object.keys(tool.input.shape).filter((name) => !isOptional(tool.input.shape[name]))
    if (first === undefined || others.length >= MAX_WANTED) return assistantPhrase('open_questions', random)
    if (others.length === 0) return question(ask, first, moment)
    return assistantPhrase('details', random, listed([first, ...others].map((name) => `the ${what(name)}`)))
  }
  const words = what(field)
  const choices = choicesOf(tool, field)
  const asked = choices.length > 1 ? assistantPhrase('choosing', random, words) : questionFor(words, field, ask, random)
  // What comes after an answer does not begin another one.
  const text = moment.goesOn ? asked.replace(/^(?:Sure|Of course)\. /, '') : asked
  // What was found may leave fewer of them.
  if (choices.length < 2 || choices.length > 6 || moment.goesOn || moment.turn > 0) return text
  return `${text} ${assistantPhrase('options', random, listed(choices, 'or'))}`
}

function questionFor(words: string, field: string, ask: Ask, random: SeededRandom): string {
  const { tool } = ask
  if (meaningOf(itemAt(tool.input.shape, field)).entity !== undefined) return assistantPhrase('which', random, words)
  const looks = tool.annotations.readOnly
  if (words === 'subject' && !looks) return 'What should the subject be?'
  if (/^(name|title|new name|subject)$/.test(words)) {
    const thing = looks ? undefined : thingMade(ask, field)
    if (thing !== undefined) return assistantPhrase(isPerson(thing) ? 'named' : 'naming', random, thing)
    return assistantPhrase(looks ? 'finding' : 'names', random, words)
  }
  if (/^(text|comment|instruction|note|body)$/.test(words) && !looks)
    return assistantPhrase('writing', random, thingMade(ask, field) ?? words)
  if (looks && /^(text|search term|search phrase|pattern|keyword)$/.test(words))
    return assistantPhrase('sought', random)
  const { about, ask: forms } = lists().questions.find((each) => each.about.test(words))!
  const [, counted = ''] = about.exec(words) ?? []
  return random.pick(forms).replace('#', words).replace('$1', counted)
}

/** The assistant says that a call failed, in the environment's own words but for keys that are names, and leaves the decision to the user. */
export function failure({ args }: Ask, message: string, { random, goesOn }: Moment): string {
  const keys = Object.values(args).filter((value): value is string => typeof value === 'string' && isNameAsKey(value))
  const stated = keys.reduce((text, key) => text.replaceAll(key, nameOf(key)), message)
  const stopped = /[.!?]$/.test(stated) ? stated : `${stated}.`
  return `${assistantPhrase(goesOn ? 'last_failures' : 'failures', random, stopped)} ${assistantPhrase('offers', random)}`
}

/** The assistant has no tool for the request, of which `ask` is the last thing. */
export const decline = (moment: Moment, ask?: Ask): string => refusal('refusals', moment, ask)
/** The assistant has no tool for what is left of the request. */
export const declineRest = (moment: Moment, ask?: Ask): string => refusal('rests', moment, ask)
/** The assistant declines again, because the user insists. */
export const declineOnceMore = ({ random }: Moment): string => assistantPhrase('once_more', random)

/** Share of the refusals that say what cannot be done. */
const NAMED = 0.55

function refusal(kind: 'refusals' | 'rests', { random, turn }: Moment, ask?: Ask): string {
  const [goal] = ask === undefined ? [] : goalsOf(ask)
  const isNamed = goal !== undefined && random.chance(NAMED)
  // Nobody says no twice in the same words: the turns of a conversation share the forms out.
  const kindSaid: Phrase = isNamed ? `${kind}_named` : kind
  const forms = lists().phrases[kindSaid].filter((_, i) => i % 3 === turn % 3)
  const refused = random.pick(forms).replace('#', () => ofYours(goal ?? ''))
  return `${refused} ${assistantPhrase('instead', random)}`.trim()
}

/** What the user calls mine is yours to the assistant. */
const ofYours = (goal: string): string =>
  goal
    .replace(/^see /, 'show you ')
    .replaceAll(/\bmine\b/g, 'yours')
    .replaceAll(/\b(?:my|our)\b/g, 'your')
    .replaceAll(/\bme\b/g, 'you')
    .replaceAll(/\bI am\b/g, 'you are')
    .replaceAll(/\b(?:I|we)\b/g, 'you')

/** A call to which a domain rule applies. */
interface Ruled {
  readonly rule: DomainRule
  readonly args: Ask['args']
}

/** The assistant declines what a rule forbids and says why, or asks for what it wants confirmed. */
export function answerToRuled({ rule, args }: Ruled, { random, goesOn = false }: Moment): string {
  if (rule.demand === 'decline') return assistantPhrase(goesOn ? 'rest_declined' : 'declined', random, rule.reason)
  return assistantPhrase(goesOn ? 'rest_confirm' : 'confirm', random, questionOf(rule, args))
}

/** The assistant declines once more what a rule forbids. */
export const declineAgain = ({ reason }: DeclineRule, { random }: Moment): string =>
  assistantPhrase('declined_again', random, reason)

/** The assistant leaves what the user withdrew. */
export const leave = ({ random }: Moment): string => assistantPhrase('left', random)
