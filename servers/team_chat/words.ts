import { wordList } from '../kernel/text.js'
import type { Emoji } from './schema.js'

/** The vocabulary that chats are made of. */

export const FIRST_NAMES = wordList(`
  Agnes Boris Chloe Dmitri Esme Farid Gemma Hiro Imani Joel Katya Levi Marta Nils Olive Pablo Renata Stefan Tessa Umar
  Veda Wanda Yusuf Zora Anouk Basil Corinne Desmond Edith Fergus Amadou Bronwyn Chidi Divya Eun Femi Gulsen Hamza Ioana Jorge`)

export const LAST_NAMES = wordList(`
  Acker Bianchi Cho Drummond Engel Forsyth Gallo Hoffman Ivanova Jarvis Kaplan Leclerc Mercer Nyman Oduya Pratt Quist
  Rhodes Salgado Thorne Ueda Vickers Winslow Yilmaz`)

export const WORKSPACES = wordList('Harbor Summit Atelier Meadow Foundry Beacon Orchard Lantern Compass')

export const CHANNEL_FIRST = wordList(`
  Launch Budget Design Support Hiring Office Data Mobile Sales Travel Security Kitchen Print Research Customer Release`)
export const CHANNEL_SECOND = wordList('Plans Talk Desk Room Lab Notes Crew Help Corner Watch')

export const TOPICS: readonly string[] = [
  'next steps',
  'questions and answers',
  'open blockers',
  'weekly numbers',
  'early ideas',
  'roles and duties',
  'celebrations',
  'useful links',
]

const list = (text: string): readonly string[] => text.trim().split(/\s*,\s*/)

/** What people in a channel talk about, by the first word of its name. */
const SUBJECTS: Readonly<Record<string, readonly string[]>> = {
  Launch: list('the press kit, the demo script, the launch party, the spring brochure'),
  Budget: list('the quarterly numbers, the price list, the invoice template, the travel costs'),
  Design: list('the spring brochure, the window display, the new logo, the blue prototype'),
  Support: list('the online manual, the support inbox, the login page, the refund form'),
  Hiring: list('the job advert, the interview plan, the onboarding guide, the career fair'),
  Office: list('the coffee machine, the new printer, the parking spaces, the team lunch'),
  Data: list('the search index, the quarterly numbers, the sales dashboard, the backup server'),
  Mobile: list('the login page, the beta version, the app icon, the crash report'),
  Sales: list('the price list, the customer survey, the supplier contract, the demo script'),
  Travel: list('the Lisbon trip, the hotel booking, the train tickets, the travel policy'),
  Security: list('the backup server, the warehouse keys, the visitor badges, the password rules'),
  Kitchen: list('the coffee machine, the fridge, the team lunch, the dishwasher'),
  Print: list('the spring brochure, the new printer, the business cards, the fair posters'),
  Research: list('the customer survey, the interview notes, the lab results, the reading list'),
  Customer: list('the newsletter, the customer survey, the welcome letter, the feedback form'),
  Release: list('the release notes, the test results, the beta version, the rollback plan'),
}
const NEWS = list('the office party, the summer schedule, the new canteen, the open day, the parking spaces')

const subjectsOf = (channel: string): readonly string[] => SUBJECTS[channel.split(' ')[0]!] ?? NEWS

/** What a message does, and so how others answer and react. */
interface Tone {
  /** Forms of a message, each with what its author may correct it to, if anything; `{}` is what it is about. */
  readonly forms: readonly (readonly [text: string, corrected?: string])[]
  readonly replies: readonly string[]
  readonly emoji: readonly Emoji[]
  /** Whether it is worth keeping in view. */
  readonly lasting: boolean
  /** Whether somebody would have it posted for them. */
  readonly own: boolean
}

const TONES: readonly Tone[] = [
  {
    forms: [
      ['Who is looking after {} this week', 'Who is looking after {} next week'],
      ['Please have a look at {} before lunch', 'Please have a look at {} before noon'],
      ['I need some help with {} today', 'I need some help with {} tomorrow'],
      ['We need a decision about {} by Friday', 'We need a decision about {} by Thursday'],
    ],
    replies: [
      'I can take that',
      'Give me ten minutes',
      'Let me ask the others',
      'I will do it after lunch',
      'Happy to help',
    ],
    emoji: ['eyes', 'check', 'like'],
    lasting: true,
    own: true,
  },
  {
    forms: [
      ['Good news about {} at last', 'Great news about {} at last'],
      ['Thanks to everyone who helped with {}', 'Thanks to everyone who helped with {} last week'],
    ],
    replies: ['Great to hear', 'Thank you', 'Well done', 'That made my day', 'Thanks for telling us'],
    emoji: ['like', 'heart', 'party'],
    lasting: false,
    own: true,
  },
  {
    forms: [
      ['I will take care of {} this week', 'I will take care of {} next week'],
      ['Please send all questions about {} to me', 'Please send all questions about {} to me by Friday'],
    ],
    replies: ['Thank you', 'Good to know', 'That helps a lot', 'Thanks for telling us'],
    emoji: ['like', 'check'],
    lasting: true,
    own: true,
  },
  {
    forms: [
      ['Let us talk about {} tomorrow', 'Let us talk about {} on Thursday'],
      ['We meet at ten to talk about {}', 'We meet at eleven to talk about {}'],
      ['I have an idea for {}', 'I have two ideas for {}'],
    ],
    replies: ['That works for me', 'Can it wait until Friday', 'Good idea', 'Count me in', 'Agreed'],
    emoji: ['like', 'check'],
    lasting: true,
    own: true,
  },
  {
    forms: [
      ['There is a problem with {} again', 'There is still a problem with {}'],
      ['Somebody asked about {} again', 'Two people asked about {} again'],
    ],
    replies: ['Same over here', 'I am on it', 'Thanks for the warning', 'I will check it right away'],
    emoji: ['eyes', 'check'],
    lasting: false,
    own: false,
  },
  {
    forms: [['I dreamt about {} last night'], ['I would be lost without {}']],
    replies: ['You are not alone', 'Same here', 'Take a day off'],
    emoji: ['laugh', 'heart'],
    lasting: false,
    own: false,
  },
]

/** Returns every text that a user may post in a channel of this name. */
export const textsFor = (channel: string): string[] =>
  TONES.flatMap(({ forms }) => forms.flatMap(([form]) => subjectsOf(channel).map((it) => form.replace('{}', it))))

const ALL_SUBJECTS = [...new Set([...Object.values(SUBJECTS).flat(), ...NEWS])]

/** Returns the subject of a text of this environment, without its article. */
export const subjectIn = (text: string): string | undefined =>
  ALL_SUBJECTS.find((subject) => text.includes(subject))?.slice('the '.length)

/** The tone of a text of this environment; that of the first one for what a user has written. */
export function toneOf(text: string): Tone {
  const subject = subjectIn(text)
  const form = subject === undefined ? '' : text.replace(`the ${subject}`, '{}')
  return TONES.find(({ forms }) => forms.some((pair) => pair.includes(form))) ?? TONES[0]!
}

/** Returns the text that the author may have meant to write instead, if any. */
export function correctionOf(text: string): string | undefined {
  const subject = subjectIn(text)
  if (subject === undefined) return undefined
  const form = text.replace(`the ${subject}`, '{}')
  const pair = TONES.flatMap(({ forms }) => forms).find(([first]) => first === form)
  return pair?.[1]?.replace('{}', `the ${subject}`)
}
