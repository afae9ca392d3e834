import type { z } from 'zod'
import { itemAt } from '../item-at.js'
import { isChoice } from './field-words.js'
import { mannerOf, typed } from './persona.js'
import type { Ask, Moment, Said } from './speech.js'
import { joined, type TextSpan, textOf, word } from './text-span.js'
import { phrase, phrasesOf } from './user-phrases.js'
import { isDate, isTime, sayValue } from './value-words.js'

/** The user asks again for what was declined, and says nothing new. */
export const insist = (moment: Moment): string => phrase('insist', moment)
/** The user says that what was missing is there now, and nothing new of what is wanted. */
export const bring = (moment: Moment): string => phrase('bring', moment)
/** The user confirms what a domain rule wants confirmed. */
export const agree = (moment: Moment): string => phrase('agree', moment)
/** The user does not confirm it. */
export const withdraw = (moment: Moment): string => phrase('withdraw', moment)
/** The user asks again for what a domain rule forbids. */
export const insistOnRuled = (moment: Moment): string => phrase('insist_on_rule', moment)

/** The user gives the value that the assistant has asked for. */
export function supply(ask: Ask, field: string, moment: Moment): Said {
  const value = itemAt(ask.args, field)
  // Several values would have done: whoever is asked for a name or a text has known it all along.
  const isOpen = typeof value === 'number' || isDate(value) || isTime(value) || isChoice(ask.tool.input.shape[field])
  const kind = isOpen && moment.random.chance(0.5) ? 'decide' : 'supply'
  return answer(phrasesOf(kind, moment.persona.register), ask, field, moment)
}

/** Phrases of a slip of the tongue, and those that would be odd for a smaller number: "use 1". */
const SLIP = /meant|mistake|mixed|oops|argh|silly|my bad|whoops|sorry|apolog|should have|of course|\b(?:use|take)\b/i

/** The user gives another value. Only a day or an hour is worded as a slip of the tongue: a user who is refused too much asks for less. */
export function correct(ask: Ask, field: string, moment: Moment): Said {
  const forms = phrasesOf('correct', moment.persona.register)
  const isSlip = isDate(ask.args[field]) || isTime(ask.args[field])
  return answer(isSlip ? forms : forms.filter((form) => !SLIP.test(form)), ask, field, moment)
}

function answer(forms: readonly string[], { tool, args }: Ask, field: string, moment: Moment): Said {
  const manner = mannerOf(moment.persona)
  const value = itemAt(args, field)
  const [before, after] = moment.random.pick(forms).split('#') as [string, string]
  const quote = isFreeText(value, field) ? '"' : ''
  const said = sayValue(value, tool.input.shape[field] as z.ZodType, { before: quote, after: quote }, moment)
  const spans: TextSpan[] = [
    word(before + quote),
    { text: said.phrase, fixed: true, gives: { ask: 0, field } },
    word(quote + (/[.!?]$/.test(said.phrase) ? after.replace(/^[.!]/, '') : after)),
  ]
  const text = textOf(typed(joined(spans), manner))
  return { text, phrases: [new Map([[field, said.phrase]])], mentions: [new Map()] }
}

/** Sentences and other longer words that would run into the rest without quotes, and what is to be written, however short. */
const isFreeText = (value: unknown, field: string): boolean =>
  typeof value === 'string' &&
  (value.split(' ').length > 3 || /[.!?]$/.test(value) || /^(text|note|comment)$/.test(field))
