import type { SeededRandom } from '../../../servers/kernel/index.js'
import { drawWeighted } from './draw-weighted.js'
import type { Persona } from './speech.js'

type Register = Persona['register']

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

const LATER: readonly (readonly [string, number])[] = [
  ['then ', 7],
  ['after that, ', 4],
  ['also, ', 3],
  ['and then ', 3],
  ['and ', 2],
  ['', 4],
]
const LATER_BY: Readonly<Record<Before, readonly (readonly [string, number])[]>> = {
  found: [['once you have that, ', 2]],
  changed: [
    ["once that's done, ", 2],
    ["when that's done, ", 2],
    ['with that done, ', 1],
    ['afterwards, ', 1],
  ],
}
const LAST: readonly (readonly [string, number])[] = [
  ['finally, ', 4],
  ['and finally, ', 2],
  ['lastly, ', 2],
  ['and to finish, ', 1],
]

/** Before a further sentence of the same turn. */
export function sentenceOpener(
  place: { readonly isLast: boolean; readonly nth: number; readonly before: Before },
  register: Register,
  random: SeededRandom,
): string {
  if (register === 'terse') return random.pick(['then ', 'then ', '', 'after that ', 'and ', 'also '])
  const later = [...LATER, ...LATER_BY[place.before]]
  return drawWeighted(place.isLast && place.nth >= 2 ? [...later, ...LAST] : later, random)
}

const GREETINGS: Readonly<Record<Register, readonly string[]>> = {
  terse: ['hi, ', 'hey '],
  plain: ['Hi, ', 'Hello, ', 'Hi! ', 'Hey, '],
  polite: ['Hello, ', 'Good morning. ', 'Hi there, ', 'Good day. ', 'Hello! ', 'Good morning, '],
  chatty: ['Hey! ', 'Hi there! ', 'Hey there, ', 'Hiya, ', 'Morning! ', 'Hey, ', 'Ok so, ', 'Right, '],
}
const GREETING_CHANCE = { terse: 0.04, plain: 0.15, polite: 0.35, chatty: 0.4 } as const

export function greeting(register: Register, random: SeededRandom): string {
  return random.chance(GREETING_CHANCE[register]) ? random.pick(GREETINGS[register]) : ''
}

/** How people take up what the assistant said; whether it thanks is told by the word. */
const TAKEN_UP: Readonly<Record<Register, Readonly<Record<Before | 'both', readonly string[]>>>> = {
  terse: {
    both: ['ok', 'thx', 'ok', 'thanks', 'k', 'ok thx'],
    found: ['got it', 'ok i see', 'right'],
    changed: ['great', 'nice', 'perfect', 'good', 'cool'],
  },
  plain: {
    both: ['Thanks', 'OK', 'Right then', 'Thanks for that', 'Alright', 'Okay, thanks', 'All right', 'Okay'],
    found: [
      ...['Good to know', 'I see', 'Right', 'Got it', 'Okay, I see', 'That helps', 'Thanks, got it'],
      ...['Just what I was after', 'Noted', 'Interesting'],
    ],
    changed: [
      'Great',
      'Great, thanks',
      'Good',
      'Perfect',
      'Very good',
      'Good, that is done',
      'That was quick',
      'Fine',
      'Perfect, thanks',
      'Well done',
      'Nicely done',
    ],
  },
  polite: {
    both: [
      'Thank you',
      'Many thanks',
      'Thanks a lot',
      'Thank you kindly',
      'Thank you for that',
      'Thank you very much',
      'All right, thank you',
    ],
    found: [
      'That is helpful',
      'I see, thank you',
      'That is good to know',
      'Thank you, that helps',
      'Thank you for looking it up',
      'That is what I needed',
      'Understood',
      'That is useful, thank you',
      'Thank you for the details',
    ],
    changed: [
      'Perfect, thank you',
      'Wonderful',
      'Very good, thank you',
      'Thank you, that was quick',
      'Excellent',
      'I am glad that is done',
      'Thank you for doing that',
      'I appreciate it',
      'Splendid',
    ],
  },
  chatty: {
    both: ['Alright', 'Okay', 'Right', 'Alrighty', 'Thanks a bunch', 'Thanks for that', 'Okay, cheers'],
    found: [
      'Oh good',
      'Ah, there we go',
      'Ah, okay',
      'Good to know',
      'Right, that makes sense',
      'Oh nice, thanks',
      'Okay, got it',
      'Ooh, interesting',
      'Cheers, that clears it up',
    ],
    changed: [
      'Perfect',
      'Awesome, thanks',
      'Lovely',
      'Super',
      'Brilliant, thanks',
      'You are quick',
      'Nice one',
      'Ha, great',
      'Yay, thanks',
      'One less to worry about',
      'Sweet, cheers',
      'What would I do without you',
    ],
  },
}
const TAKES_UP = { terse: 0.6, plain: 0.7, polite: 0.8, chatty: 0.85 } as const
const NOW: readonly (readonly [string, number])[] = [
  ['now ', 6],
  ['next, ', 2],
  ['and now ', 2],
  ['then ', 6],
  ['also, ', 4],
  ['one more thing: ', 2],
  ['another thing: ', 2],
  ['while I have you, ', 1],
  ["while you're at it, ", 1],
  ['oh and ', 2],
  ['besides that, ', 1],
  ['on top of that, ', 1],
  ['', 16],
]

/** Begins a turn that follows a report of the assistant. */
export function followUp(
  register: Register,
  before: Before,
  random: SeededRandom,
): { readonly thanks: string; readonly now: string } {
  const now = drawWeighted(NOW, random)
  if (!random.chance(TAKES_UP[register])) return { thanks: '', now }
  const ways = TAKEN_UP[register]
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

const DETAILS: Readonly<Record<Register, readonly string[]>> = {
  terse: ['', '', 'ok, ', 'right, '],
  plain: ['Right. ', 'OK, ', '', '', 'Okay. '],
  polite: ['I should have said so. ', 'Sorry, that was too little. ', '', '', ''],
  chatty: ['Oh right! ', 'Ah yes, ', 'Okay so, ', 'Oh, I forgot to say. ', ''],
}

/** Begins a turn that answers a question of the assistant, which mostly is which one: a yes is no answer to that. */
export const detailing = (register: Register, random: SeededRandom): string => random.pick(DETAILS[register])

const AFTER_FAILURE: Readonly<Record<Register, readonly string[]>> = {
  terse: ['ok leave it. ', 'nvm. ', 'ok. ', ''],
  plain: ['OK, leave that. ', 'Never mind. ', 'Too bad. ', 'All right. '],
  polite: ['I see, thank you. ', 'Never mind, thank you. ', 'That is a pity. ', 'I understand. '],
  chatty: ['Oh well. ', 'Ah, shame. ', 'Hm, okay, forget it. ', 'Argh, fine. ', 'No worries. '],
}

const REFUSED: Readonly<Record<Register, readonly string[]>> = {
  terse: ['ok. ', 'hm. ', 'too bad. '],
  plain: ['Too bad. ', 'All right. ', 'OK. ', 'I see. '],
  polite: ['I see, thank you. ', 'That is a pity. ', 'I understand. ', 'Thank you all the same. '],
  chatty: ['Oh well. ', 'Ah, shame. ', 'Hm, okay. ', 'No worries. '],
}

/** Begins a turn that goes on to the next thing of the same kind after a refusal. */
export const goingOn = (register: Register, random: SeededRandom): string => random.pick(REFUSED[register])

/** None gives a reason: whether something has to be looked up, asked about or decided is not known of every value. */
const UNANSWERED: Readonly<Record<Register, readonly string[]>> = {
  terse: ['will tell you later. for now ', 'leave that for now. first ', 'later. meanwhile ', 'that can wait. first '],
  plain: [
    "Let's leave that for now. First, ",
    'That can wait. In the meantime, ',
    'I will come back to that. For now, ',
    'Leave that for later. Meanwhile, ',
  ],
  polite: [
    'Let me come back to that later. For now, ',
    'We can leave that for the moment. In the meantime, ',
    'That can wait a little. First, ',
    'Let us leave that aside for now. Meanwhile, ',
  ],
  chatty: [
    'Let me get back to you on that. For now, ',
    "Hm, let's leave that for a moment. Meanwhile, ",
    'Oh, that can wait! First, ',
    "I'll come back to that one. In the meantime, ",
  ],
}

/** Begins a turn of somebody who does not say yet what was asked, and goes on to something else. */
export const puttingOff = (register: Register, random: SeededRandom): string => random.pick(UNANSWERED[register])

/** Begins a turn that follows a failure. */
export const movingOn = (register: Register, random: SeededRandom): string => random.pick(AFTER_FAILURE[register])

const AFTER_OBSTACLE: Readonly<Record<Register, readonly string[]>> = {
  terse: ['ok then ', 'then ', 'ah ok, ', 'right, '],
  plain: ['OK, then ', 'Then ', 'In that case, ', 'Right, then '],
  polite: ['I see. In that case, ', 'Oh, I see. Then ', 'Of course. Then ', 'Ah, thank you. In that case, '],
  chatty: ['Oh, of course! Then ', 'Ah, right. In that case, ', 'Oops, ok, then ', 'Ha, makes sense. Then '],
}

/** Begins a turn that has done first what stood in the way. */
export const givingWay = (register: Register, random: SeededRandom): string => random.pick(AFTER_OBSTACLE[register])

const SIGN_OFFS: Readonly<Record<Register, readonly string[]>> = {
  terse: ['thx', 'thanks', 'ty'],
  plain: ['Thanks.', 'Thanks!', 'Thank you.'],
  polite: [
    'Thank you.',
    'Many thanks.',
    'Thank you in advance.',
    'I appreciate your help.',
    'Thank you for your help.',
  ],
  chatty: ['Thanks!', 'Thanks so much!', 'Cheers!', "You're the best.", 'Thanks a million.', 'Thanks a bunch!'],
}
const SIGN_OFF_CHANCE = { terse: 0.06, plain: 0.12, polite: 0.3, chatty: 0.25 } as const

/** Whoever has thanked already in a turn does not do it again. */
export function signOff(register: Register, opened: string, random: SeededRandom): string {
  const signs = random.chance(SIGN_OFF_CHANCE[register])
  return signs && !/thank|thx/i.test(opened) ? random.pick(SIGN_OFFS[register]) : ''
}
