import type { SeededRandom } from '../../servers/kernel/index.js'
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

const LATER: readonly (readonly [string, number])[] = [
  ['then ', 7],
  ['after that, ', 5],
  ['next, ', 3],
  ['also, ', 3],
  ['and then ', 2],
  ['once you have that, ', 2],
  ["once that's done, ", 3],
  ["when that's done, ", 2],
  ['with that done, ', 1],
  ['afterwards, ', 1],
  ['and ', 2],
  ['', 3],
]
const LAST: readonly (readonly [string, number])[] = [
  ['finally, ', 4],
  ['and finally, ', 2],
  ['lastly, ', 2],
  ['last thing: ', 1],
  ['and to finish, ', 1],
]

/** Before a further sentence of the same turn. */
export function sentenceOpener(
  place: { isLast: boolean; nth: number },
  register: Register,
  random: SeededRandom,
): string {
  if (register === 'terse') return random.pick(['then ', 'then ', '', 'after that ', 'and ', 'also '])
  return drawWeighted(place.isLast && place.nth >= 2 ? [...LATER, ...LAST] : LATER, random)
}

const GREETINGS: Readonly<Record<Register, readonly string[]>> = {
  terse: ['hi, ', 'hey '],
  plain: ['Hi, ', 'Hello, ', 'Hi! ', 'Hey, '],
  polite: ['Hello, ', 'Good morning. ', 'Hi there, ', 'Good day. ', 'Hello! ', 'Good morning, '],
  chatty: ['Hey! ', 'Hi there! ', 'Hey there, ', 'Hiya, ', 'Hello again! ', 'Morning! ', 'Hey, ', 'Ok so, ', 'Right, '],
}
const GREETING_CHANCE = { terse: 0.04, plain: 0.15, polite: 0.35, chatty: 0.4 } as const

export function greeting(register: Register, random: SeededRandom): string {
  return random.chance(GREETING_CHANCE[register]) ? random.pick(GREETINGS[register]) : ''
}

const THANKS: Readonly<Record<Register, readonly string[]>> = {
  terse: ['ok ', 'thx. ', 'ok, ', 'good. ', 'thanks, ', 'k. ', ''],
  plain: ['Thanks. ', 'Great. ', 'OK. ', 'Good. ', 'Thanks! ', 'Perfect. ', 'Okay, ', 'Alright. ', ''],
  polite: [
    'Thank you. ',
    'Thank you very much. ',
    'Many thanks. ',
    'Perfect, thank you. ',
    'Thanks a lot. ',
    'Very good. ',
    'That is very helpful. ',
    'Wonderful. ',
  ],
  chatty: [
    'Awesome, thanks! ',
    'Perfect! ',
    'Great, ',
    'Lovely. ',
    'Nice one. ',
    'Oh good. ',
    'Cool, ',
    'Brilliant, thanks. ',
    'Super. ',
    'Alright, ',
    'You are quick! ',
    'Ha, great. ',
    'Okay, ',
  ],
}
const NOW: readonly (readonly [string, number])[] = [
  ['now ', 5],
  ['next, ', 2],
  ['and now ', 2],
  ['then ', 2],
  ['also, ', 2],
  ['one more thing: ', 2],
  ["while you're at it, ", 1],
  ['another thing: ', 1],
  ['', 6],
]

/** Begins a turn that follows a report of the assistant. */
export function followUp(register: Register, random: SeededRandom): { readonly thanks: string; readonly now: string } {
  return { thanks: random.chance(0.75) ? random.pick(THANKS[register]) : '', now: drawWeighted(NOW, random) }
}

const DETAILS: Readonly<Record<Register, readonly string[]>> = {
  terse: ['', 'ok ', 'sure, '],
  plain: ['Sure. ', 'Yes. ', 'OK, ', '', 'Right. '],
  polite: ['Of course. ', 'Certainly. ', 'Sorry, of course. ', 'Gladly. '],
  chatty: ['Oh right, sorry! ', 'Yeah sure. ', 'Sure thing. ', 'Ah yes, ', 'Right, my bad. ', 'Okay so, '],
}

/** Begins a turn that answers a question of the assistant. */
export const detailing = (register: Register, random: SeededRandom): string => random.pick(DETAILS[register])

const AFTER_FAILURE: Readonly<Record<Register, readonly string[]>> = {
  terse: ['ok leave it. ', 'nvm. ', 'ok. ', ''],
  plain: ['OK, leave that. ', 'Never mind. ', 'Too bad. ', 'All right. '],
  polite: ['I see, thank you. ', 'Never mind, thank you. ', 'That is a pity. ', 'I understand. '],
  chatty: ['Oh well. ', 'Ah, shame. ', 'Hm, okay, forget it. ', 'Argh, fine. ', 'No worries. '],
}

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
  terse: ['thx', 'thanks', 'asap'],
  plain: ['Thanks.', 'Thanks!', 'Thank you.', 'That would be all for now.'],
  polite: [
    'Thank you.',
    'Thank you very much.',
    'Many thanks.',
    'Thank you in advance.',
    'I appreciate your help.',
    'Much obliged.',
    'Take your time.',
    'Kind regards.',
  ],
  chatty: [
    'Thanks!',
    'Thanks so much!',
    'Cheers!',
    "You're the best.",
    'No rush though.',
    'Thanks a million.',
    'Would be a huge help!',
    'Ta!',
    'I owe you one.',
    'Hope that makes sense.',
    'Thanks a bunch!',
  ],
}
const SIGN_OFF_CHANCE = { terse: 0.06, plain: 0.12, polite: 0.35, chatty: 0.3 } as const

export function signOff(register: Register, random: SeededRandom): string {
  return random.chance(SIGN_OFF_CHANCE[register]) ? random.pick(SIGN_OFFS[register]) : ''
}
