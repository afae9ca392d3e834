import { z } from 'zod'
import { itemAt } from '../item-at.js'
import { byRegister, drawWeighted, phraseLists, texts, weighted } from './phrase-lists.js'
import type { Moment, Register } from './speech.js'

const PHRASES = [
  ...['greetings', 'reasons', 'after_question', 'after_unanswered', 'after_failure', 'after_obstacle'],
  ...['after_refusal', 'reconsidering', 'sign_offs', 'trails', 'insist', 'insist_on_rule', 'bring', 'agree'],
  ...['withdraw', 'supply', 'decide', 'correct', 'wish'],
] as const
type Phrase = (typeof PHRASES)[number]

const OPTIONAL = ['greetings', 'taken_up', 'sign_offs', 'reasons', 'trails'] as const

const lists = phraseLists(
  'user-phrases',
  z.strictObject({
    chances: z.record(z.enum(OPTIONAL), byRegister(z.number())),
    phrases: z.record(z.enum(PHRASES), byRegister(texts)),
    taken_up: byRegister(z.strictObject({ both: texts, found: texts, changed: texts })),
    now: weighted,
    later: weighted,
    later_after: z.strictObject({ found: weighted, changed: weighted }),
    last: weighted,
    later_terse: texts,
    joiners: weighted,
    last_joiners: weighted,
  }),
)
const environmentReasons = phraseLists(
  'reasons',
  z.strictObject({
    times: texts,
    reasons: z.record(z.string(), z.strictObject({ any: texts, looks: texts.optional(), changes: texts.optional() })),
  }),
)

type Speaker = Pick<Moment, 'persona' | 'random'>

/** Returns the phrases of one kind in a register. */
export const phrasesOf = (kind: Phrase, register: Register): readonly string[] => lists().phrases[kind][register]

/** Draws a phrase of one kind in the register of the user. */
export const phrase = (kind: Phrase, { persona, random }: Speaker): string =>
  random.pick(phrasesOf(kind, persona.register))

const happens = (kind: (typeof OPTIONAL)[number], { persona, random }: Speaker): boolean =>
  random.chance(lists().chances[kind][persona.register])

/** Draws a greeting, or no words. */
export const greeting = (speaker: Speaker): string =>
  happens('greetings', speaker) ? phrase('greetings', speaker) : ''

/** Draws a sentence that ends a turn which changes something: mostly none. */
export const trail = (speaker: Speaker): string => (happens('trails', speaker) ? phrase('trails', speaker) : '')

/** Returns thanks for the end of a turn, or no words. A user who has thanked already in a turn does not thank again. */
export const signOff = (opened: string, speaker: Speaker): string =>
  happens('sign_offs', speaker) && !/thank|thx/i.test(opened) ? phrase('sign_offs', speaker) : ''

/** Whether all calls of a turn look something up, all change something, or some do each. */
export type Doing = 'looks' | 'changes' | 'both'

/** Draws a reason for a turn in this environment: mostly none. */
export function reasonFor(environment: string, doing: Doing, speaker: Speaker): string {
  if (!happens('reasons', speaker)) return ''
  const { random, persona } = speaker
  const { reasons, times } = environmentReasons()
  const own = Object.hasOwn(reasons, environment) ? itemAt(reasons, environment) : { any: [] }
  const fitting = [...own.any, ...(doing === 'both' ? [] : (own[doing] ?? []))]
  const drawn = fitting.length === 0 || random.chance(0.2) ? phrasesOf('reasons', persona.register) : fitting
  return drawn.length === 0 ? '' : random.pick(drawn).replace('~', () => random.pick(times))
}

/** What was asked for in the sentence before: something to be found, or to be done. */
type Before = 'found' | 'changed'

/** Begins a turn that follows a report of the assistant. */
export function followUp(before: Before, speaker: Speaker): { readonly thanks: string; readonly now: string } {
  const { random, persona } = speaker
  const now = drawWeighted(lists().now, random)
  if (!happens('taken_up', speaker)) return { thanks: '', now }
  const ways = lists().taken_up[persona.register]
  const said = random.pick(random.chance(0.55) ? ways[before] : ways.both)
  // "Got it, now find" runs on; "That is good to know" is a sentence of its own.
  const runsOn = said.split(' ').length < 3 && !said.includes(',') && !now.endsWith(', ') && random.chance(0.25)
  const stop = persona.register === 'chatty' && random.chance(0.4) ? '! ' : runsOn ? ', ' : '. '
  return { thanks: said + stop, now }
}

/** Begins a further sentence of the same turn. */
export function sentenceOpener(
  place: { readonly isLast: boolean; readonly nth: number; readonly before: Before },
  { persona, random }: Speaker,
): string {
  const { later, later_after: after, last, later_terse: terse } = lists()
  if (persona.register === 'terse') return random.pick(terse)
  return drawWeighted([...later, ...after[place.before], ...(place.isLast && place.nth >= 2 ? last : [])], random)
}

/** Stands between two clauses of one sentence. */
export const joiner = (isLast: boolean, { random }: Speaker): string =>
  drawWeighted(isLast ? lists().last_joiners : lists().joiners, random)
