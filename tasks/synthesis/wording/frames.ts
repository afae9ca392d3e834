import type { SeededRandom } from '../../../servers/kernel/index.js'
import { drawWeighted } from './draw-weighted.js'
import type { Persona } from './speech.js'
import { type TextSpan, textOf, word } from './text-span.js'

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

type Weighted = readonly (readonly [Frame, number])[]

const BARE: Frame = { before: '' }

const FRAMES: Readonly<Record<Register, Weighted>> = {
  terse: [
    [BARE, 18],
    [{ before: 'pls ' }, 2],
    [{ before: 'please ' }, 1],
    [{ before: 'can you ', asks: true }, 3],
    [{ before: 'can u ', asks: true }, 1],
    [{ before: 'need to ', self: true, once: true }, 2],
    [{ before: 'i need to ', self: true, once: true }, 2],
    [{ before: 'i want to ', self: true, once: true }, 1],
    [{ before: 'need you to ', once: true }, 1],
    [{ before: 'could you ', asks: true }, 1],
    [{ before: 'quick one: ', once: true }, 1],
    [{ before: 'just ' }, 1],
    [{ before: 'can you just ', asks: true, once: true }, 1],
    [{ before: 'pls can you ', asks: true }, 1],
    [{ before: 'would you ', asks: true }, 1],
    [{ before: 'i want you to ', once: true }, 1],
    [{ before: '', after: ' please' }, 2],
    [{ before: '', after: ' pls' }, 1],
  ],
  plain: [
    [BARE, 18],
    [{ before: 'please ' }, 6],
    [{ before: 'can you ', asks: true }, 6],
    [{ before: 'could you ', asks: true }, 5],
    [{ before: 'can you please ', asks: true }, 2],
    [{ before: 'I need you to ', once: true }, 2],
    [{ before: 'I need to ', self: true, once: true }, 4],
    [{ before: 'I want to ', self: true, once: true }, 3],
    [{ before: "I'd like to ", self: true }, 3],
    [{ before: "I'd like you to " }, 2],
    [{ before: '', after: ', please' }, 3],
    [{ before: 'would you ', asks: true }, 2],
    [{ before: 'I have to ', self: true, once: true }, 1],
    [{ before: 'would you be able to ', asks: true, once: true }, 1],
    [{ before: 'do me a favour and ', once: true }, 1],
    [{ before: 'I was going to ask you to ', once: true }, 1],
    [{ before: 'will you ', asks: true }, 1],
    [{ before: 'can I get you to ', asks: true, once: true }, 1],
    [{ before: "I'd be glad if you could ", once: true }, 1],
    [{ before: "it'd help if you could ", once: true }, 1],
    [{ before: 'what I need is for you to ', once: true }, 1],
    [{ before: 'are you able to ', asks: true, once: true }, 1],
    [{ before: 'can you ', after: ' for me', asks: true }, 2],
    [{ before: 'could you ', after: ' for me', asks: true, once: true }, 1],
  ],
  polite: [
    [{ before: 'could you please ', asks: true }, 7],
    [{ before: 'please ' }, 7],
    [{ before: 'could you ', asks: true }, 4],
    [{ before: 'would you please ', asks: true }, 3],
    [{ before: 'please could you ', asks: true, once: true }, 1],
    [{ before: 'would you mind ', asks: true, ing: true, once: true }, 3],
    [{ before: 'may I ask you to ', asks: true, once: true }, 1],
    [{ before: 'could I ask you to ', asks: true, once: true }, 2],
    [{ before: 'would you be so kind as to ', asks: true, once: true }, 1],
    [{ before: "I'd be grateful if you could ", once: true }, 2],
    [{ before: 'I would appreciate it if you could ', once: true }, 2],
    [{ before: 'I would like to ', self: true }, 2],
    [{ before: 'I would like you to ' }, 1],
    [{ before: 'I was hoping you could ', once: true }, 2],
    [{ before: 'if possible, please ', once: true }, 1],
    [{ before: 'might I ask you to ', asks: true, once: true }, 1],
    [{ before: 'it would help me a lot if you could ', once: true }, 1],
    [{ before: 'would you be able to ', asks: true, once: true }, 1],
    [{ before: 'when you have a moment, please ', once: true }, 1],
    [{ before: 'would it be possible to ', self: true, asks: true, once: true }, 2],
    [{ before: 'I wonder if you could ', once: true }, 1],
    [{ before: 'would you have the time to ', asks: true, once: true }, 1],
    [{ before: 'could you kindly ', asks: true }, 1],
    [{ before: 'it would be kind of you to ', once: true }, 1],
    [{ before: 'if it is not too much trouble, please ', once: true }, 1],
    [{ before: 'I would be glad if you could ', once: true }, 1],
  ],
  chatty: [
    [{ before: 'can you ', asks: true }, 6],
    [{ before: 'could you ', asks: true }, 5],
    [{ before: 'can you please ', asks: true }, 2],
    [{ before: 'I need to ', self: true, once: true }, 3],
    [{ before: 'I want to ', self: true, once: true }, 3],
    [{ before: "I'd love to ", self: true, once: true }, 1],
    [{ before: 'I really need to ', self: true, once: true }, 1],
    [{ before: 'I was wondering if you could ', once: true }, 3],
    [{ before: 'I was hoping you could ', once: true }, 2],
    [{ before: 'any chance you could ', asks: true, once: true }, 3],
    [{ before: 'do you think you could ', asks: true, once: true }, 2],
    [{ before: 'would you be able to ', asks: true, once: true }, 2],
    [{ before: 'could you do me a favour and ', asks: true, once: true }, 1],
    [{ before: 'would you mind ', asks: true, ing: true, once: true }, 2],
    [{ before: "it'd be great if you could ", once: true }, 2],
    [{ before: 'is there any way you could ', asks: true, once: true }, 1],
    [{ before: 'would you be a dear and ', asks: true, once: true }, 1],
    [{ before: 'I could use your help: ', once: true }, 1],
    [{ before: 'think you could ', asks: true, once: true }, 1],
    [{ before: 'mind ', asks: true, ing: true, once: true }, 1],
    [{ before: "I'd love it if you could ", once: true }, 1],
    [{ before: 'could I get you to ', asks: true, once: true }, 1],
    [{ before: 'quick favour: ', once: true }, 1],
    [{ before: 'I figured I could ask you to ', once: true }, 1],
    [{ before: 'please ' }, 3],
    [{ before: "let's ", self: true }, 2],
    [BARE, 10],
  ],
}

export function drawFrame(register: Register, fits: (frame: Frame) => boolean, random: SeededRandom): Frame {
  const fitting = FRAMES[register].filter(([frame]) => fits(frame))
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

const DOUBLED = new Set([
  'put',
  'set',
  'get',
  'let',
  'shut',
  'cut',
  'stop',
  'drop',
  'plan',
  'ship',
  'split',
  'swap',
  'tag',
  'begin',
  'pin',
  'zip',
  'chat',
  'skip',
  'bid',
  'grep',
  'trim',
  'transfer',
  'log',
  'run',
  'wrap',
  'scan',
  'jot',
  'grab',
  'dig',
  'fit',
  'submit',
  'ban',
  'slot',
  'map',
  'plug',
  'spot',
  'strip',
  'pop',
  'top',
  'bin',
  'snap',
  'nip',
  'tap',
  'permit',
  'commit',
  'refer',
  'prefer',
])

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
  const stem = DOUBLED.has(verb) ? verb + verb.at(-1)! : /[^eoy]e$/.test(verb) ? verb.slice(0, -1) : verb
  return [word(`${stem}ing${rest!}`), ...clause.slice(1)]
}
