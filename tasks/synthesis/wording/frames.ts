import { z } from 'zod'
import type { SeededRandom } from '../../../servers/kernel/index.js'
import { drawWeighted } from './draw-weighted.js'
import type { Persona } from './speech.js'
import { type TextSpan, textOf, word } from './text-span.js'
import { byRegister, texts, wordList } from './word-list.js'

type Register = Persona['register']

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
const frames = z.array(
  z
    .strictObject({
      before: z.string(),
      after: z.string().optional(),
      asks: flag,
      self: flag,
      ing: flag,
      once: flag,
      weight: z.int().min(1),
    })
    .transform(({ weight, ...frame }) => [frame as Frame, weight] as const),
)
const words = wordList('frames', z.strictObject({ frames: byRegister(frames), doubled: texts }))

export function drawFrame(register: Register, fits: (frame: Frame) => boolean, random: SeededRandom): Frame {
  const fitting = words().frames[register].filter(([frame]) => fits(frame))
  return fitting.length === 0 ? BARE : drawWeighted(fitting, random)
}

/** A clause's first words, said as a wish or a question of one's own. The rest of the clause follows `$rest`. */
interface Turning {
  readonly head: RegExp
  readonly as: readonly (readonly [words: string, asks: boolean])[]
  /** What those words then stand for: nothing may follow that takes up the imperative. */
}

const QUESTION_WORD = '(what|which|who|how|where|when|whether)\\b'
const TURNINGS: readonly Turning[] = [
  {
    head: new RegExp(`^(?:show me|show|tell me|see|check) (?=${QUESTION_WORD})`),
    as: [
      ["I'd like to know ", false],
      ['I want to know ', false],
      ['I need to know ', false],
      ['let me know ', false],
      ['tell me ', false],
      ['find out ', false],
      ['can you tell me ', true],
      ['could you find out ', true],
      ['do you know ', true],
    ],
  },
  {
    head: /^(?:show(?: me)?|see|look at|look into) (?!me\b|to\b|that\b|it\b|them\b|how|if\b|what|which|who|where|when|whether|why)/,
    as: [
      ["I'd like to see ", false],
      ['let me see ', false],
      ['I want to see ', false],
      ['I need to see ', false],
      ['pull up ', false],
      ['can I see ', true],
      ['could I see ', true],
      ['bring up ', false],
      ['can I have a look at ', true],
    ],
  },
  {
    head: /^(?:list) (?=the |my |our |all )/,
    as: [
      ['give me a list of ', false],
      ['I need a list of ', false],
      ['can I get a list of ', true],
      ["I'd like a list of ", false],
      ['show me ', false],
      ['can you show me ', true],
    ],
  },
  {
    head: /^(?:find|look for|search for|locate) (?=the |a |my |an |files |directories )/,
    as: [
      ["I'm looking for ", false],
      ['I need to find ', false],
      ['help me find ', false],
      ['can you help me find ', true],
    ],
  },
  {
    head: /^(?:check|get|show|get me|show me|tell me) (?=the (?:(?:current|present) )?(?:status|balance|state|price|quote|rating) )/,
    as: [
      ["what's ", true],
      ['what is ', true],
    ],
  },
]

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
  const fitting = TURNINGS.filter((turning) => (turning.head.exec(text)?.[0].length ?? Infinity) <= head.text.length)
  if (fitting.length === 0) return undefined
  const turning = random.pick(fitting)
  // What follows is an order, which goes on from an order only.
  const ways = alone ? turning.as : turning.as.filter(([words, asks]) => !asks && !words.startsWith('I'))
  if (ways.length === 0) return undefined
  const [words, asks] = random.pick(ways)
  const matched = turning.head.exec(text)![0].length
  return { spans: [word(words + head.text.slice(matched)), ...clause.slice(1)], asks }
}

/** The clause with its verb as `-ing`; `undefined` for two verbs in one clause, of which only the first would change. */
export function asGerund(clause: readonly TextSpan[]): TextSpan[] | undefined {
  const head = clause[0]
  if (!head || head.fixed || clause.some((span) => !span.fixed && / and |,|:/.test(span.text))) return undefined
  const [, verb, rest] = /^([a-z]+)(.*)$/s.exec(head.text) ?? []
  if (
    verb === undefined ||
    (verb.endsWith('ly') && verb !== 'apply') ||
    ['see', 'cd', 'chmod', 'go', 'have', 'do', 'show', 'tell'].includes(verb)
  )
    return undefined
  const stem = words().doubled.includes(verb) ? verb + verb.slice(-1) : /[^eoy]e$/.test(verb) ? verb.slice(0, -1) : verb
  return [word(`${stem}ing${rest!}`), ...clause.slice(1)]
}
