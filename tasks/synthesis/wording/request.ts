import type { SeededRandom } from '../../../servers/kernel/index.js'
import { itemAt, lastOf } from '../item-at.js'
import { clauseOf } from './clause.js'
import {
  detailing,
  followUp,
  givingWay,
  greeting,
  joiner,
  movingOn,
  puttingOff,
  reconsidering,
  sentenceOpener,
  signOff,
} from './connectives.js'
import { type Doing, lead, trail } from './contexts.js'
import { asGerund, drawFrame, type Frame, turned } from './frames.js'
import type { Ask, Mentioned, Moment, Said } from './speech.js'
import { joined, type TextSpan, textOf, word } from './text-span.js'
import { type Manner, mannerOf, typed } from './typing-manner.js'

/** Draws of the words for one turn before it is found unsayable: a value that must not be said may turn up by chance. */
const TRIES = 6

/** What one ask is asked for by. */
interface Clause {
  readonly spans: readonly TextSpan[]
  /** It only looks something up. */
  readonly looks: boolean
}

/** A user turn that asks for everything in `asks`, in order, as a person of this manner would. */
export function request(asks: readonly Ask[], moment: Moment): Said | undefined {
  const manner = mannerOf(moment.persona)
  for (let attempt = 0; attempt < TRIES; attempt++) {
    const clauses: Clause[] = []
    for (const [index, ask] of asks.entries()) {
      if (ask.silent) continue
      const clause = clauseOf(asks, index, manner, moment)
      if (!clause) return undefined
      clauses.push({ spans: joined(clause), looks: ask.tool.annotations.readOnly })
    }
    if (clauses.length === 0) return undefined
    const sentences = arranged(clauses, asks.find(({ silent }) => !silent)!.environment.name, manner, moment)
    const said = finished(sentences, asks, manner)
    if (said) return said
  }
  return undefined
}

/** One sentence: its spans and how it ends. */
interface Sentence {
  readonly spans: readonly TextSpan[]
  readonly stop: string
}

function arranged(clauses: readonly Clause[], environment: string, manner: Manner, moment: Moment): Sentence[] {
  const { random, turn } = moment
  const { register } = manner
  const sentences: Sentence[] = []
  const drawn = opening(moment, register, clauses.length)
  const saysNow = /\bnow\b/.test(textOf(itemAt(clauses, 0).spans))
  const opener = saysNow ? { ...drawn, now: drawn.now.replace(/\bnow /, '') } : drawn
  // One opening is enough: whoever gives a reason neither greets nor asks for a favour at length.
  const reason = turn === 0 && opener.before === '' ? lead(environment, doing(clauses), register, random) : ''
  if (reason !== '') sentences.push({ spans: [word(reason)], stop: '' })
  const groups = grouped(clauses, register, random)
  /** Ways to begin a sentence that were used in this turn: people vary theirs. */
  const used = new Set<string>(opener.now === '' ? [] : [opener.now])
  const listed = groups.length > 2 && random.chance(0.12)
  for (const [nth, group] of groups.entries()) {
    const isLast = nth === groups.length - 1
    const before = nth > 0 && lastOf(itemAt(groups, nth - 1)).looks ? 'found' : 'changed'
    const linking =
      nth === 0
        ? opener.before + (listed ? 'first, ' : opener.now)
        : listed
          ? isLast
            ? random.pick(['finally, ', 'and last, '])
            : 'then, '
          : freshOpener({ isLast, nth, before }, used, register, random)
    const isFirst = nth === 0 && turn === 0 && reason === ''
    sentences.push(sentence(group, { linking, isFirst }, used, manner, random))
  }
  const changes = clauses.some(({ looks }) => !looks)
  const last = changes && reason === '' ? trail(register, random) : ''
  const closing = last !== '' && turn === 0 ? last : signOff(register, opener.before, random)
  if (closing !== '') sentences.push({ spans: [word(closing)], stop: '' })
  return sentences
}

function doing(clauses: readonly Clause[]): Doing {
  if (clauses.every(({ looks }) => looks)) return 'looks'
  return clauses.some(({ looks }) => looks) ? 'both' : 'changes'
}

function opening(
  { turn, random, after, again }: Moment,
  register: Manner['register'],
  count: number,
): { readonly before: string; readonly now: string } {
  if (again) return { before: reconsidering(register, random), now: '' }
  if (turn === 0) return { before: greeting(register, random), now: '' }
  if (after === 'question') return { before: detailing(register, random), now: '' }
  if (after === 'unanswered') return { before: puttingOff(register, random), now: '' }
  if (after === 'failure') return { before: movingOn(register, random), now: '' }
  if (after === 'obstacle') return { before: givingWay(register, random), now: '' }
  const { thanks, now } = followUp(register, after ?? 'changed', random)
  return { before: thanks, now: ONE_THING.test(now) && count > 1 ? 'also, ' : now }
}

const ONE_THING = /^(one more|another) thing/

/** Cuts the clauses into sentences of one to three. */
function grouped(clauses: readonly Clause[], register: Manner['register'], random: SeededRandom): Clause[][] {
  const groups: Clause[][] = []
  for (const clause of clauses) {
    const last = groups.at(-1)
    const room = last !== undefined && last.length < 3 && lengthOf(last.flatMap(({ spans }) => spans)) < 150
    if (room && random.chance(register === 'terse' ? 0.6 : 0.55)) last.push(clause)
    else groups.push([clause])
  }
  return groups
}

const lengthOf = (spans: readonly TextSpan[]): number => textOf(spans).length

/** No second step of a request: "then do you know". */
const ASKS_ANEW = /^do you know\b/

/** A clause that says for whom it is, or ends with another one, after which "for me" would be of that. */
const FOR_ITSELF = /\b(me|my|I|if|should|once|when|until|that|which|who|so)\b/

function sentence(
  group: readonly Clause[],
  { linking, isFirst }: { readonly linking: string; readonly isFirst: boolean },
  used: Set<string>,
  manner: Manner,
  random: SeededRandom,
): Sentence {
  const { register } = manner
  const [first, ...rest] = group.map(({ spans }) => spans) as [readonly TextSpan[], ...(readonly TextSpan[])[]]
  const alone = rest.length === 0
  // "Show it as open" is no wish to see it.
  const turns = itemAt(group, 0).looks && (register !== 'terse' || random.chance(0.3))
  const wish = turns ? turned(first, alone, random) : undefined
  if (wish && random.chance(0.4) && !(linking !== '' && ASKS_ANEW.test(textOf(wish.spans)))) {
    return ended([word(linking), ...wish.spans, ...appended(rest, random)], wish.asks, manner, random)
  }
  const gerund = alone ? asGerund(first) : undefined
  const own = group.every(({ spans }) => !speaksToAssistant(spans))
  const fits = (frame: Frame): boolean =>
    (!frame.self || own) &&
    (!frame.once || isFirst) &&
    (!frame.ing || gerund !== undefined) &&
    (frame.after !== ' for me' || (alone && !FOR_ITSELF.test(textOf(first)))) &&
    !(linking !== '' && /^(okay|if|when)/.test(frame.before)) &&
    !(/get you to $/.test(frame.before) && /^get\b/.test(textOf(first))) &&
    (startsWithVerb(first) || /^(please )?$/.test(frame.before)) &&
    !used.has(frame.before)
  const frame = drawFrame(register, fits, random)
  if (frame.before.length > 'please '.length) used.add(frame.before)
  const clause = frame.ing ? gerund! : first
  const spans = [word(linking + frame.before), ...clause, ...appended(rest, random), word(frame.after ?? '')]
  return ended(spans, frame.asks === true, manner, random)
}

function freshOpener(
  place: Parameters<typeof sentenceOpener>[0],
  used: Set<string>,
  register: Manner['register'],
  random: SeededRandom,
): string {
  const drawn = [0, 1, 2].map(() => sentenceOpener(place, register, random))
  const opener = drawn.find((candidate) => !used.has(candidate)) ?? ''
  used.add(opener)
  return opener
}

/** A few clauses put something before their verb: "for that contact, choose ...". */
const startsWithVerb = (clause: readonly TextSpan[]): boolean =>
  !/^(?:(?:for|on|from)\b|[a-z ]+:)/.test(itemAt(clause, 0).text)

/** Clauses in which "me" is the one who asks, so that nobody else can be the subject. */
const speaksToAssistant = (clause: readonly TextSpan[]): boolean =>
  /^(tell|show|give|let|get me|remind|guide|route|catch|bring|make me|add me|have me|answer new|say|see that|complain)\b/.test(
    itemAt(clause, 0).text,
  ) || clause.some((span) => !span.fixed && /\bme\b/.test(span.text))

const appended = (clauses: readonly (readonly TextSpan[])[], random: SeededRandom): TextSpan[] =>
  clauses.flatMap((clause, i) => [word(joiner(i === clauses.length - 1, random)), ...clause])

function ended(spans: readonly TextSpan[], asks: boolean, { register }: Manner, random: SeededRandom): Sentence {
  if (asks) return { spans, stop: '?' }
  return { spans, stop: register === 'chatty' && random.chance(0.06) ? '!' : '.' }
}

/**
 * Puts sentences together and finds in the text what gives each value.
 * @returns `undefined` when a value that must be said is not, or one that must not be said is
 */
function finished(sentences: readonly Sentence[], asks: readonly Ask[], manner: Manner): Said | undefined {
  const spans = sentences.flatMap(({ spans: own, stop }, i) => {
    const isLast = i === sentences.length - 1
    const retyped = capitalised(typed(joined(own), manner), manner)
    const isUnstopped = isLast && manner.unstopped && stop !== '!' && (stop === '.' || manner.lower)
    // What is quoted may end a sentence by its own stop.
    const isStopped = stop !== '?' && /[.!?]"$/.test(textOf(retyped))
    return [...retyped, word((isUnstopped || isStopped ? '' : stop) + (isLast ? '' : ' '))]
  })
  const text = textOf(spans).trim()
  const indent = textOf(spans).indexOf(text)
  const phrases = asks.map((ask, index) => phrasesOf(ask, index, asks, spans))
  if (phrases.some((found) => found === undefined)) return undefined
  if (asks.some(({ withheld, args }) => withheld !== undefined && leaks(text, itemAt(args, withheld)))) return undefined
  const mentions = asks.map((_, index) => mentionsOf(index, spans, indent))
  return { text, phrases: phrases as ReadonlyMap<string, string>[], mentions }
}

/** The words of one ask that stand for values of earlier results. @param indent  characters before the text proper */
function mentionsOf(index: number, spans: readonly TextSpan[], indent: number): ReadonlyMap<string, Mentioned> {
  const mentions = new Map<string, Mentioned>()
  let at = -indent
  for (const { refers, text } of spans) {
    if (refers?.ask === index) {
      const known = mentions.get(refers.field)
      mentions.set(refers.field, { at: known?.at ?? at, words: (known?.words ?? '') + text })
    }
    at += text.length
  }
  return mentions
}

function capitalised(spans: readonly TextSpan[], { lower }: Manner): TextSpan[] {
  const [first, ...rest] = spans
  if (!first || lower || first.fixed) return [...spans]
  return [{ ...first, text: first.text.replaceAll(/(?:^|[.!?] )[a-z]/g, (start) => start.toUpperCase()) }, ...rest]
}

/** What gives the values of one ask. Those of a silent one are given elsewhere in the turn. */
function phrasesOf(
  { args, references, withheld, silent }: Ask,
  index: number,
  asks: readonly Ask[],
  spans: readonly TextSpan[],
): ReadonlyMap<string, string> | undefined {
  const phrases = new Map<string, string>()
  for (const [field, value] of Object.entries(args)) {
    const way = references.get(field)
    if (field === withheld || (way && way.how !== 'value')) continue
    const span = spans.find(({ gives, label, text }) =>
      silent
        ? label
          ? text === value
          : gives !== undefined && itemAt(asks, gives.ask).args[gives.field] === value
        : gives?.ask === index && gives.field === field,
    )
    if (!span) return undefined
    phrases.set(field, span.text)
  }
  return phrases
}

/** Whether a reader of the text could take the value from it. */
export function leaks(text: string, value: unknown): boolean {
  const plain = String(value).toLowerCase().replaceAll('_', ' ')
  const escaped = plain.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')
  return new RegExp(`(?<![\\w])${escaped}(?![\\w])`).test(text.toLowerCase().replaceAll('_', ' '))
}
