import { z } from 'zod'
import type { SeededRandom } from '../../../servers/kernel/index.js'
import { drawWeighted } from './draw-weighted.js'
import type { Persona } from './speech.js'
import { byRegister, texts, weighted, wordList } from './word-list.js'

type Register = Persona['register']

const words = wordList(
  'connectives',
  z.strictObject({
    later: weighted,
    later_after: z.strictObject({ found: weighted, changed: weighted }),
    last: weighted,
    now: weighted,
    greetings: byRegister(texts),
    taken_up: byRegister(z.strictObject({ both: texts, found: texts, changed: texts })),
    details: byRegister(texts),
    after_failure: byRegister(texts),
    refused: byRegister(texts),
    // None gives a reason: whether a value has to be looked up, asked about or decided is not known of every value.
    unanswered: byRegister(texts),
    after_obstacle: byRegister(texts),
    sign_offs: byRegister(texts),
  }),
)

/** Between two clauses of one sentence. */
export function joiner(isLast: boolean, random: SeededRandom): string {
  return drawWeighted(
    [
      [', then ', 5],
      [' and then ', 6],
      [isLast ? ' and ' : ', ', 5],
      [', and then ', 3],
      [', and after that ', 2],
      [', and ', isLast ? 3 : 0],
      [' and also ', 1],
    ].filter((entry): entry is [string, number] => (entry[1] as number) > 0),
    random,
  )
}

/** What was asked for in the sentence before: something to be found, or to be done. */
type Before = 'found' | 'changed'

/** Before a further sentence of the same turn. */
export function sentenceOpener(
  place: { readonly isLast: boolean; readonly nth: number; readonly before: Before },
  register: Register,
  random: SeededRandom,
): string {
  if (register === 'terse') return random.pick(['then ', 'then ', '', 'after that ', 'and ', 'also '])
  const { later: always, later_after: after, last } = words()
  const later = [...always, ...after[place.before]]
  return drawWeighted(place.isLast && place.nth >= 2 ? [...later, ...last] : later, random)
}

const GREETING_CHANCE = { terse: 0.04, plain: 0.15, polite: 0.35, chatty: 0.4 } as const

export function greeting(register: Register, random: SeededRandom): string {
  return random.chance(GREETING_CHANCE[register]) ? random.pick(words().greetings[register]) : ''
}

const TAKES_UP = { terse: 0.6, plain: 0.7, polite: 0.8, chatty: 0.85 } as const

/** Begins a turn that follows a report of the assistant. */
export function followUp(
  register: Register,
  before: Before,
  random: SeededRandom,
): { readonly thanks: string; readonly now: string } {
  const now = drawWeighted(words().now, random)
  if (!random.chance(TAKES_UP[register])) return { thanks: '', now }
  const ways = words().taken_up[register]
  const said = random.pick(random.chance(0.55) ? ways[before] : ways.both)
  // "Got it, now find" runs on; "That is good to know" is a sentence of its own.
  const runsOn = said.split(' ').length < 3 && !said.includes(',') && !now.endsWith(', ') && random.chance(0.25)
  const stop = register === 'chatty' && random.chance(0.4) ? '! ' : runsOn ? ', ' : '. '
  return { thanks: said + stop, now }
}

/** Begins a turn that asks for more of what was just done. */
export const reconsidering = (register: Register, random: SeededRandom): string =>
  random.pick(
    register === 'terse'
      ? ['hm, actually ', 'or better: ', 'wait, ']
      : register === 'polite'
        ? ['On second thoughts, ', 'I have thought about it again: ', 'I am sorry, I have changed my mind: ']
        : ['On second thoughts, ', 'Hm, actually, ', 'Wait, ', 'I changed my mind: ', 'Actually, '],
  )

/** Begins a turn that answers a question of the assistant, which mostly is which one: a yes is no answer to that. */
export const detailing = (register: Register, random: SeededRandom): string => random.pick(words().details[register])

/** Begins a turn that goes on to the next thing of the same kind after a refusal. */
export const goingOn = (register: Register, random: SeededRandom): string => random.pick(words().refused[register])

/** Begins a turn of a user who does not say yet what was asked, and turns to something else. */
export const puttingOff = (register: Register, random: SeededRandom): string =>
  random.pick(words().unanswered[register])

/** Begins a turn that follows a failure. */
export const movingOn = (register: Register, random: SeededRandom): string =>
  random.pick(words().after_failure[register])

/** Begins a turn that has done first what stood in the way. */
export const givingWay = (register: Register, random: SeededRandom): string =>
  random.pick(words().after_obstacle[register])

const SIGN_OFF_CHANCE = { terse: 0.06, plain: 0.12, polite: 0.3, chatty: 0.25 } as const

/** Returns thanks for the end of a turn, or no words. A user who has thanked already in a turn does not thank again. */
export function signOff(register: Register, opened: string, random: SeededRandom): string {
  const signs = random.chance(SIGN_OFF_CHANCE[register])
  return signs && !/thank|thx/i.test(opened) ? random.pick(words().sign_offs[register]) : ''
}
