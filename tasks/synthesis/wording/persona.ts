import { z } from 'zod'
import { deriveSeed, type SeededRandom, seededRandom } from '../../../servers/kernel/index.js'
import { itemAt } from '../item-at.js'
import { phraseLists, texts } from './phrase-lists.js'
import { type Persona, REGISTERS, type Register } from './speech.js'
import type { TextSpan } from './text-span.js'

const lists = phraseLists(
  'personas',
  z.strictObject({
    given_names: texts,
    family_names: texts,
    trades: z.record(z.string(), z.enum(REGISTERS)).transform((trades) => Object.entries(trades)),
    towns: texts,
    circles: z.record(z.string(), texts),
    work: z.record(z.string(), texts),
  }),
)

/** Draws a user: a name, a trade and a town, and a register that often goes with the trade, but not always. */
export function drawPersona(random: SeededRandom): Persona {
  const { given_names: givenNames, family_names: familyNames, trades, towns } = lists()
  const [trade, usual] = random.pick(trades)
  return {
    name: `${random.pick(givenNames)} ${random.pick(familyNames)}`,
    role: `${trade} from ${random.pick(towns)}`,
    register: random.chance(0.55) ? usual : random.pick(REGISTERS),
  }
}

/** Splits the role of a user into trade and town: `a nurse` and `Porto`. */
export function tradeAndTown({ role }: Persona): { readonly trade: string; readonly town: string } {
  const [, trade = role, town = ''] = /^(.*) from (.*)$/.exec(role) ?? []
  return { trade, town }
}

/**
 * Gives a user an occupation that fits these environments. Where people use none of the environments at work, the occupation stays, so that it
 * does not reveal what the user will ask for.
 */
export function inEnvironments(persona: Persona, environments: readonly string[]): Persona {
  const { circles: members, work } = lists()
  const circles = environments.flatMap((name) => (Object.hasOwn(work, name) ? [itemAt(work, name)] : []))
  if (circles.length === 0) return persona
  const [first = [], ...others] = circles.map((names) => [...new Set(names.flatMap((name) => itemAt(members, name)))])
  const common = first.filter((trade) => others.every((trades) => trades.includes(trade)))
  // If no occupation fits all environments, one that fits the first is drawn.
  const fitting = common.length > 0 ? common : first
  const { trade, town } = tradeAndTown(persona)
  if (fitting.includes(trade)) return persona
  const random = seededRandom(deriveSeed('occupation', persona.name, persona.role, ...environments))
  return { ...persona, role: `${random.pick(fitting)} from ${town}` }
}

/** How one person types: the same in every turn of a conversation. */
export interface Manner {
  readonly register: Register
  /** Types without capitals. */
  readonly lower: boolean
  /** Ends the last sentence without a full stop. */
  readonly unstopped: boolean
  readonly dates: 'iso' | 'day-first' | 'month-first'
  readonly clock: '24' | '12'
}

const LOWER = { terse: 0.5, plain: 0.1, polite: 0, chatty: 0.2 } as const
const UNSTOPPED = { terse: 0.7, plain: 0.1, polite: 0, chatty: 0.1 } as const

export function mannerOf({ name, role, register }: Persona): Manner {
  const random = seededRandom(deriveSeed('manner', name, role, register))
  return {
    register,
    lower: random.chance(LOWER[register]),
    unstopped: random.chance(UNSTOPPED[register]),
    dates: random.pick(['iso', 'day-first', 'day-first', 'month-first', 'month-first']),
    clock: random.pick(['24', '24', '12']),
  }
}

const CONTRACTIONS: readonly [RegExp, string][] = [
  [/\bI am(?= (?!(?:here|and|or)\b)[a-z])/g, "I'm"],
  [/\bI would(?= [a-z])/g, "I'd"],
  [/\bdo not\b/g, "don't"],
  [/\bwill not\b/g, "won't"],
  [/\bis not\b/g, "isn't"],
  [/\bwhat is\b/g, "what's"],
  [/\bwho is\b/g, "who's"],
  [/\bwhere is\b/g, "where's"],
  // "See what there is in town" is not shortened, nor "what cash there is for it".
  [/(?<!\b(?:what|which|all|whatever|where|as|than|how) (?:[a-z]+ ){0,2})\bthere is\b/g, "there's"],
  // What ends its clause is not shortened: "where it is and".
  [/(?<!\b(?:where|whom|what|how|than|metres) )\bit is(?= (?!and\b|or\b|from\b|now\b)[a-z])/g, "it's"],
]

/** The words as this person types them; values and names stay as they are. */
export function typed(spans: readonly TextSpan[], manner: Manner): TextSpan[] {
  return spans.map((span) => (span.fixed ? span : { ...span, text: retyped(span.text, manner) }))
}

function retyped(text: string, { register, lower }: Manner): string {
  let out = text
  if (register !== 'polite') for (const [long, short] of CONTRACTIONS) out = out.replaceAll(long, short)
  return lower ? out.toLowerCase() : out
}
