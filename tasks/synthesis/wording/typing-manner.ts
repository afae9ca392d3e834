import { deriveSeed, seededRandom } from '../../../servers/kernel/index.js'
import type { Persona } from './speech.js'
import type { TextSpan } from './text-span.js'

/** How one person types: the same in every turn of a conversation. */
export interface Manner {
  readonly register: Persona['register']
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
