import { CLOSING } from '../../../rollout/episode/index.js'
import { type SeededRandom, speechOf } from '../../../servers/kernel/index.js'
import { valueAt } from '../item-at.js'
import type { Way } from '../way.js'
import { capitalised } from './english.js'
import { naturalSpeech, type Speech } from './natural-speech.js'
import { sayable } from './request-clause.js'
import type { Ask, Mentioned, Moment, Said } from './speech.js'
import { plainly } from './value-words.js'

/**
 * The few words that the demo's small model is trained on: one of a tool's clauses per call, strung together. Values are
 * said as they are, and only the simplest references are sayable. Requests that cannot be understood that way are not put into words.
 * The demo has no tasks with failures or missing values. All other words are those of natural speech.
 */
export const plainSpeech: Speech = { ...naturalSpeech, request, report: () => CLOSING }

const OPENINGS = ['Please {}', 'Can you {}', 'I need you to {}', 'Could you {}', 'Hi, please {}', '{}'] as const
const CONNECTIVES = [', then {}', ' and then {}', ', after that {}', '. Then {}', '. Next, {}'] as const
const FOLLOW_UPS = ['Thanks. Now {}', 'Great, now {}', 'Next, {}', 'Now please {}', 'And {}'] as const

interface Clause {
  readonly text: string
  readonly phrases: ReadonlyMap<string, string>
  /** Words that refer to earlier results, by field, and where in the clause they begin. */
  readonly mentions: ReadonlyMap<string, Mentioned>
}

function request(asks: readonly Ask[], { turn, random }: Moment): Said | undefined {
  const clauses: Clause[] = []
  for (const ask of asks) {
    const clause = clauseFor(ask, random)
    if (!clause) return undefined
    clauses.push(clause)
  }
  const [first, ...rest] = clauses
  if (!first) return undefined
  const opening = random.pick(turn === 0 ? OPENINGS : FOLLOW_UPS).replace('{}', () => first.text)
  const said = rest.reduce((text, clause) => text + random.pick(CONNECTIVES).replace('{}', () => clause.text), opening)
  const sentence = capitalised(said)
  const text = /^(Can|Could) you/.test(sentence) && !sentence.includes('. ') ? `${sentence}?` : `${sentence}.`
  let from = 0
  const mentions = clauses.map((clause) => {
    // The first letter of the turn may have become a capital.
    const start = text.toLowerCase().indexOf(clause.text.toLowerCase(), from)
    from = start + clause.text.length
    return new Map([...clause.mentions].map(([field, { at, words }]) => [field, { at: start + at, words }]))
  })
  return { text, phrases: clauses.map(({ phrases }) => phrases), mentions }
}

/** One of the tool's clauses that mentions every given argument; `undefined` when there is none or a reference is too hard. */
function clauseFor(ask: Ask, random: SeededRandom): Clause | undefined {
  const { args, references, withheld, silent } = ask
  if (withheld !== undefined || silent) return undefined
  const said = new Map<string, string>()
  const phrases = new Map<string, string>()
  for (const [field, value] of Object.entries(args)) {
    const way = references.get(field)
    const isReference = way && way.how !== 'value'
    const phrase = isReference ? referring(way, random) : plainly(value)
    if (phrase === undefined) return undefined
    said.set(field, phrase)
    if (!isReference) phrases.set(field, phrase)
  }
  const fitting = speechOf(ask).ask.flatMap((clause) => sayable(clause, Object.keys(args)) ?? [])
  if (fitting.length === 0) return undefined
  const mentions = new Map<string, Mentioned>()
  let text = ''
  for (const [i, part] of random
    .pick(fitting)
    .split(/\{([^}]*)\}/)
    .entries()) {
    const words = i % 2 === 0 ? part : valueAt(said, part)
    if (i % 2 === 1 && !phrases.has(part)) mentions.set(part, { at: text.length, words })
    text += words
  }
  return { text, phrases, mentions }
}

function referring(way: Way, random: SeededRandom): string | undefined {
  if (way.how === 'only') return random.pick([`that ${way.noun}`, `the ${way.noun} from the result`])
  if (way.how === 'label') return `the ${way.noun} "${way.label}"`
  return way.how === 'place' && way.place === 1 ? `the first ${way.noun}` : undefined
}
