import { z } from 'zod'
import type { SeededRandom } from '../../../servers/kernel/index.js'
import { byRegister, drawWeighted, phraseLists, texts } from './phrase-lists.js'
import type { Register } from './speech.js'
import { type TextSpan, textOf, word } from './text-span.js'

/** A way to begin a sentence that asks for something. */
export interface Frame {
  readonly before: string
  readonly after?: string
  /** The sentence is a question. */
  readonly asks?: true
  /** Speaks of what "I" do, which does not fit a clause such as "show me". */
  readonly self?: true
  /** The verb follows as `-ing`. */
  readonly ing?: true
  /** Takes so long a run that people say it once, in the first sentence of what they ask for. */
  readonly once?: true
}

const BARE: Frame = { before: '' }

const flag = z.literal(true).optional()
const frame = z
  .strictObject({ before: z.string(), after: z.string().optional(), asks: flag, self: flag, ing: flag, once: flag })
  .extend({ weight: z.int().min(1) })
  .transform(({ weight, ...frame }) => [frame as Frame, weight] as const)
const turning = z.strictObject({
  /** Matches the words that a form replaces. */
  verb: z.string().transform((verb) => new RegExp(verb)),
  /** `I want to see #`, `can I see #?`. */
  forms: texts.transform((forms) => forms.map((form) => form.split('#') as [before: string, stop: string])),
})
const lists = phraseLists(
  'sentence-frames',
  z.strictObject({ frames: byRegister(z.array(frame)), doubled: texts, turnings: z.array(turning) }),
)

export function drawFrame(register: Register, fits: (frame: Frame) => boolean, random: SeededRandom): Frame {
  const fitting = lists().frames[register].filter(([frame]) => fits(frame))
  return fitting.length === 0 ? BARE : drawWeighted(fitting, random)
}

/**
 * The clause turned from an order into a wish or question; `undefined` when it does not begin with such a verb.
 * @param alone  no further clause follows in the sentence
 */
export function turned(
  clause: readonly TextSpan[],
  alone: boolean,
  random: SeededRandom,
): { readonly spans: TextSpan[]; readonly asks: boolean } | undefined {
  const head = clause[0]
  if (!head || head.fixed) return undefined
  const text = textOf(clause)
  const fitting = lists().turnings.flatMap(({ verb, forms }) => {
    const length = verb.exec(text)?.[0].length
    return length === undefined || length > head.text.length ? [] : [{ length, forms }]
  })
  if (fitting.length === 0) return undefined
  const { length, forms } = random.pick(fitting)
  // What follows is an order, which goes on from an order only.
  const ways = alone ? forms : forms.filter(([before, stop]) => stop === '' && !before.startsWith('I'))
  if (ways.length === 0) return undefined
  const [before, stop] = random.pick(ways)
  return { spans: [word(before + head.text.slice(length)), ...clause.slice(1)], asks: stop === '?' }
}

const NO_GERUND = ['see', 'cd', 'chmod', 'go', 'have', 'do', 'show', 'tell']

/** The clause with its verb as `-ing`; `undefined` for two verbs in one clause, of which only the first would change. */
export function asGerund(clause: readonly TextSpan[]): TextSpan[] | undefined {
  const head = clause[0]
  if (!head || head.fixed || clause.some((span) => !span.fixed && / and |,|:/.test(span.text))) return undefined
  const [, verb, rest = ''] = /^([a-z]+)(.*)$/s.exec(head.text) ?? []
  if (verb === undefined || NO_GERUND.includes(verb) || (verb.endsWith('ly') && verb !== 'apply')) return undefined
  const stem = lists().doubled.includes(verb) ? verb + verb.slice(-1) : verb.replace(/([^eoy])e$/, '$1')
  return [word(`${stem}ing${rest}`), ...clause.slice(1)]
}
