import type { z } from 'zod'
import type { Json } from '../../../rollout/reward/index.js'
import { itemAt } from '../item-at.js'
import { isDate, isTime } from './dates.js'
import type { Ask, Moment, Persona, Said } from './speech.js'
import { joined, type TextSpan, textOf, word } from './text-span.js'
import { mannerOf, typed } from './typing-manner.js'
import { isChoice, sayValue } from './values.js'

type Forms = Readonly<Record<Persona['register'], readonly string[]>>

/** `#` stands for the value. Free text comes in quotes. What fits whatever is asked for: a name, a choice, a text. */
const SUPPLY: Forms = {
  terse: ['#', '#', '# pls', '# please', '#', '#, thx'],
  plain: ['#.', '#, please.', '#, thanks.', 'Ah, right: #.', 'Right, #.', 'It should be #.', 'Oh, #.'],
  polite: [
    '#, please.',
    'That would be #, thank you.',
    'Sorry, I should have said so: #.',
    'It should be #, please.',
    'I forgot to say: #.',
    'Of course: #.',
    '#, thank you.',
  ],
  chatty: [
    'Oh right, #!',
    'Oops, forgot that. #, please.',
    'Ah yes, #.',
    '#, thanks!',
    'Ah, of course. #.',
    'That would be #.',
    'Right, that would help: #.',
  ],
}
/** What somebody decides on when asked: a number, a day or one of several. */
const DECIDE: Forms = {
  terse: ['make it #', '# then', 'lets say #'],
  plain: ['Make it #.', "Let's say #.", "I'd say #.", '# will do.', '# is fine.', 'Please make it #.'],
  polite: ['Let us say #.', 'I was thinking of #.', '#, if that is possible.', '# would be good.'],
  chatty: [
    "Let's go with #.",
    "I'd go for #.",
    'Make it #, thanks!',
    '# should do it.',
    'Hm, let us say #.',
    '# sounds good.',
  ],
}
const CORRECT: Forms = {
  terse: ['sorry, #', '# then', 'make it # then', 'i meant #', 'try #', 'ok, # instead'],
  plain: [
    'Sorry, I meant #.',
    'Then make it #.',
    'OK, use # instead.',
    'Try # instead.',
    'Then let us try #.',
    'My mistake, it should be #.',
    'In that case, #.',
    'Make it # then, please.',
    'I mixed that up: #.',
    'All right, take # then.',
    'Then change it to #.',
  ],
  polite: [
    'I am sorry, I meant #.',
    'In that case, please use #.',
    'Could you try it with #, please?',
    'My apologies, it should have been #.',
    'Then please take # instead.',
    'I see. Would # work?',
    'Please make it #, then.',
    'Then # will do, please.',
    'Perhaps with # instead?',
  ],
  chatty: [
    'Oops, I meant #!',
    'Ah, sorry, #.',
    "Hm, okay, let's try # then.",
    'Ah, my bad: #.',
    'Okay then # it is.',
    'Whoops. Make that #.',
    'What about #?',
    'Fine, # then, please.',
    'All right, then #.',
    'Okay, go with # instead.',
  ],
}

export function supply(ask: Ask, field: string, moment: Moment): Said {
  const isDecided =
    isOpenToChoice(itemAt(ask.args, field), itemAt(ask.tool.input.shape, field)) && moment.random.chance(0.5)
  return answer(isDecided ? DECIDE : SUPPLY, ask, field, moment)
}
/**
 * Puts a user's new value into words. Only a day or an hour is worded as a slip of the tongue. A user who is refused too much asks for
 * less, and does not "use 1" of it.
 */
export function correct(ask: Ask, field: string, moment: Moment): Said {
  const isSlip = isDate(ask.args[field]) || isTime(ask.args[field])
  return answer(isSlip ? CORRECT : INSTEAD, ask, field, moment)
}

const NO_LESS = /meant|mistake|mixed|oops|argh|silly|my bad|whoops|sorry|apolog|should have|of course|\b(?:use|take)\b/i
const INSTEAD: Forms = {
  terse: CORRECT.terse.filter((form) => !NO_LESS.test(form)),
  plain: CORRECT.plain.filter((form) => !NO_LESS.test(form)),
  polite: CORRECT.polite.filter((form) => !NO_LESS.test(form)),
  chatty: CORRECT.chatty.filter((form) => !NO_LESS.test(form)),
}

function answer(forms: Forms, { tool, args }: Ask, field: string, moment: Moment): Said {
  const manner = mannerOf(moment.persona)
  const value = itemAt(args, field)
  const form = moment.random.pick(forms[manner.register])
  const [before, after] = form.split('#') as [string, string]
  const quote = isFreeText(value, field) ? '"' : ''
  const said = sayValue(value, tool.input.shape[field] as z.ZodType, { before: quote, after: quote }, manner, moment)
  const spans: TextSpan[] = [
    word(before + quote),
    { text: said.phrase, fixed: true, gives: { ask: 0, field } },
    word(quote + (/[.!?]$/.test(said.phrase) ? after.replace(/^[.!]/, '') : after)),
  ]
  const text = textOf(typed(joined(spans), manner))
  return { text, phrases: [new Map([[field, said.phrase]])], mentions: [new Map()] }
}

/** Whether several values would have done: whoever is asked for a name or a text has known it all along. */
function isOpenToChoice(value: Json, schema: z.ZodType): boolean {
  return typeof value === 'number' || isDate(value) || isTime(value) || isChoice(schema)
}

/** Sentences and other longer words that would run into the rest without quotes, and what is to be written, however short. */
const isFreeText = (value: Json, field: string): boolean =>
  typeof value === 'string' && (value.split(' ').length > 3 || /[.!?]$/.test(value) || WRITTEN.test(field))
const WRITTEN = /^(text|note|comment)$/
