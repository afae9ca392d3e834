import { CLOSING } from '../../../rollout/episode/index.js'
import type { Json } from '../../../rollout/reward/index.js'
import { type SeededRandom, speechOf } from '../../../servers/kernel/index.js'
import { itemAt, valueAt } from '../item-at.js'
import type { Way } from '../way.js'
import type { Ask, Mentioned, Moment, Said, Speech } from './speech.js'

const OPENINGS = ['Please {}', 'Can you {}', 'I need you to {}', 'Could you {}', 'Hi, please {}', '{}'] as const
const CONNECTIVES = [', then {}', ' and then {}', ', after that {}', '. Then {}', '. Next, {}'] as const
const FOLLOW_UPS = ['Thanks. Now {}', 'Great, now {}', 'Next, {}', 'Now please {}', 'And {}'] as const

interface Clause {
  readonly text: string
  readonly phrases: ReadonlyMap<string, string>
  /** Words that refer to earlier results, by field, and where in the clause they begin. */
  readonly mentions: ReadonlyMap<string, Mentioned>
}

/**
 * The few words that the demo's small model is trained on: one of a tool's clauses per call, strung together. Values are
 * said as they are, and only the simplest references are sayable. Requests that cannot be understood that way are not put into words.
 */
export const plainSpeech: Speech = {
  request(asks, { turn, random }) {
    const clauses: Clause[] = []
    for (const ask of asks) {
      const clause = clauseFor(ask, random)
      if (!clause) return undefined
      clauses.push(clause)
    }
    const text = userTurn(
      clauses.map((clause) => clause.text),
      turn === 0,
      random,
    )
    let from = 0
    const mentions = clauses.map((clause) => {
      // The first letter of the turn may have become a capital.
      const start = text.toLowerCase().indexOf(clause.text.toLowerCase(), from)
      from = start + clause.text.length
      return new Map([...clause.mentions].map(([field, { at, words }]) => [field, { at: start + at, words }]))
    })
    return { text, phrases: clauses.map(({ phrases }) => phrases), mentions } satisfies Said
  },
  vague: () => undefined,
  supply: () => undefined,
  correct: () => undefined,
  question: (_ask, field) => (field === undefined ? 'Which one do you mean?' : `What is the ${words(field)}?`),
  report: () => CLOSING,
  failure: (_ask, message) => `That did not work: ${message}`,
  decline: (_moment: Moment) => 'I cannot do that.',
  declineOnceMore: () => 'I cannot do that.',
  declineRest: () => 'I cannot do the rest.',
  insist: () => 'Are you sure?',
  bring: () => 'You have another tool now. Please try again.',
}

const words = (field: string): string => field.replaceAll('_', ' ')

/** One of the tool's clauses that mentions every given argument; `undefined` when there is none or a reference is too hard. */
function clauseFor(
  { environment, tool, args, references, withheld, silent }: Ask,
  random: SeededRandom,
): Clause | undefined {
  if (withheld !== undefined || silent) return undefined
  const said = new Map<string, string>()
  const phrases = new Map<string, string>()
  for (const [field, value] of Object.entries(args)) {
    const way = references.get(field)
    const phrase = way && way.how !== 'value' ? referring(way, random) : spoken(value)
    if (phrase === undefined) return undefined
    said.set(field, phrase)
    if (!way || way.how === 'value') phrases.set(field, phrase)
  }
  const fitting = speechOf({ environment, tool })
    .ask.map((clause) =>
      clause.replaceAll(/\[([^\]]*)\]/g, (_, part: string) =>
        fieldsOf(part).every((field) => said.has(field)) ? part : '',
      ),
    )
    .filter((clause) => Object.keys(args).every((field) => clause.includes(`{${field}}`)))
  if (fitting.length === 0) return undefined
  const mentions = new Map<string, Mentioned>()
  let text = ''
  for (const [i, part] of random.pick(fitting).split(FIELD).entries()) {
    const words = i % 2 === 0 ? part : valueAt(said, part)
    if (i % 2 === 1 && !phrases.has(part)) mentions.set(part, { at: text.length, words })
    text += words
  }
  return { text, phrases, mentions }
}

const FIELD = /\{([^}]*)\}/

const fieldsOf = (part: string): string[] => [...part.matchAll(/\{([^}]*)\}/g)].map(([, field = '']) => field)

function spoken(value: Json | undefined): string {
  if (!Array.isArray(value)) return String(value)
  return value.length < 2 ? value.join('') : `${value.slice(0, -1).join(', ')} and ${value.at(-1)}`
}

function referring(way: Exclude<Way, { how: 'value' }>, random: SeededRandom): string | undefined {
  switch (way.how) {
    case 'only':
      return random.pick([`that ${way.noun}`, `the ${way.noun} from the result`])
    case 'label':
      return `the ${way.noun} "${way.label}"`
    case 'place':
      return way.place === 1 ? `the first ${way.noun}` : undefined
    case 'extreme':
      return undefined
  }
}

/** One user turn that asks for everything in `clauses`, in order. */
function userTurn(clauses: readonly string[], isFirst: boolean, random: SeededRandom): string {
  const [first = '', ...rest] = clauses
  const opening = random.pick(isFirst ? OPENINGS : FOLLOW_UPS).replace('{}', () => first)
  const text = rest.reduce((said, clause) => said + random.pick(CONNECTIVES).replace('{}', () => clause), opening)
  const sentence = itemAt(text, 0).toUpperCase() + text.slice(1)
  return /^(Can|Could) you/.test(sentence) && !sentence.includes('. ') ? `${sentence}?` : `${sentence}.`
}
