import type { z } from 'zod'
import type { Json } from '../../reward/index.js'
import { fieldWords } from './field-words.js'
import type { Ask, Moment, Persona, Said } from './speech.js'
import { joined, type TextSpan, textOf, word } from './text-span.js'
import { mannerOf, typed } from './typing-manner.js'
import { sayValue } from './values.js'

type Forms = Readonly<Record<Persona['register'], readonly string[]>>

/** `#` stands for the value, `@` for what it is. Free text comes in quotes. */
const SUPPLY: Forms = {
  terse: ['#', '#', '# pls', 'make it #', '@: #', '# then', 'use #'],
  plain: [
    '#.',
    '#, please.',
    'Make it #.',
    'Use #.',
    'The @ is #.',
    "Let's say #.",
    'Take #.',
    "I'd say #.",
    'Please use #.',
    '# will do.',
    'That would be #.',
    'Ah, sorry: #.',
  ],
  polite: [
    '#, please.',
    'That would be #, thank you.',
    'Please use #.',
    'Sorry, I should have said so: #.',
    'The @ should be #, please.',
    '#, if that is possible.',
    'I was thinking of #.',
    'Of course, it is #.',
    'Let us take #, please.',
    'My apologies, I forgot: #.',
  ],
  chatty: [
    'Oh right, #!',
    "Let's go with #.",
    'Oops, forgot that. #, please.',
    'Hm, # I guess.',
    "I'd go for #.",
    'Ah yes, #.',
    'Make it #, thanks!',
    '# should do it.',
    'Good question! Say #.',
    'Sorry, I meant to say: #.',
    'Well, # then.',
    '#, of course, silly me.',
  ],
}
const CORRECT: Forms = {
  terse: ['sorry, #', '# then', 'make it # then', 'i meant #', 'try #', 'ok, # instead', 'no, #'],
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
    'Change the @ to #, then.',
  ],
  polite: [
    'I am sorry, I meant #.',
    'In that case, please use #.',
    'Could you try it with #, please?',
    'My apologies, it should have been #.',
    'Then please take # instead.',
    'I see. Would # work?',
    'Please make the @ #, then.',
    'Sorry about that. #, please.',
    'Perhaps with # instead?',
  ],
  chatty: [
    'Oops, I meant #!',
    'Argh, sorry, #.',
    "Hm, okay, let's try # then.",
    'Ah, my bad: #.',
    'Okay then # it is.',
    'Whoops. Make that #.',
    'What about #?',
    'Silly me, # of course.',
    'Ugh, right. # then, please.',
    'Got it, go with # instead.',
  ],
}

export const supply = (ask: Ask, field: string, moment: Moment): Said => answer(SUPPLY, ask, field, moment)
/** Only a day or an hour is a slip of the tongue; who is refused too much asks for less. */
export function correct(ask: Ask, field: string, moment: Moment): Said {
  const isSlip = /^\d{4}-\d{2}-\d{2}$|^\d{2}:\d{2}$/.test(String(ask.args[field]))
  return answer(isSlip ? CORRECT : INSTEAD, ask, field, moment)
}

const SLIP = /meant|mistake|mixed|oops|argh|silly|my bad|whoops|sorry|apolog|should have|of course/i
const INSTEAD: Forms = {
  terse: CORRECT.terse.filter((form) => !SLIP.test(form)),
  plain: CORRECT.plain.filter((form) => !SLIP.test(form)),
  polite: CORRECT.polite.filter((form) => !SLIP.test(form)),
  chatty: CORRECT.chatty.filter((form) => !SLIP.test(form)),
}

function answer(forms: Forms, { tool, args }: Ask, field: string, moment: Moment): Said {
  const manner = mannerOf(moment.persona)
  const value = args[field]!
  const form = moment.random.pick(forms[manner.register]).replace('@', fieldWords(field).split(',')[0]!)
  const [before, after] = form.split('#') as [string, string]
  const quote = isFreeText(value) ? '"' : ''
  const said = sayValue(value, tool.input.shape[field] as z.ZodType, { before: quote, after: quote }, manner, moment)
  const spans: TextSpan[] = [
    word(before + quote),
    { text: said.phrase, fixed: true, gives: { ask: 0, field } },
    word(quote + (/\?$/.test(said.phrase) ? after.replace(/^\./, '') : after)),
  ]
  const text = textOf(typed(joined(spans), manner))
  return { text, phrases: [new Map([[field, said.phrase]])], mentions: [new Map()] }
}

/** Sentences and other longer words that would run into the rest without quotes. */
const isFreeText = (value: Json): boolean => typeof value === 'string' && value.split(' ').length > 3
