import { itemAt, lastOf } from '../item-at.js'
import { type Manner, mannerOf, typed } from './persona.js'
import { clauseOf } from './request-clause.js'
import { asGerund, drawFrame, type Frame, turned } from './sentence-frames.js'
import type { Ask, Mentioned, Moment, Said } from './speech.js'
import { joined, type TextSpan, textOf, word } from './text-span.js'
import {
  type Doing,
  followUp,
  greeting,
  joiner,
  phrase,
  reasonFor,
  sentenceOpener,
  signOff,
  trail,
} from './user-phrases.js'

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
  const first = asks.find(({ silent }) => !silent)
  if (!first) return undefined
  const manner = mannerOf(moment.persona)
  for (let attempt = 0; attempt < TRIES; attempt++) {
    const clauses: Clause[] = []
    for (const [index, ask] of asks.entries()) {
      if (ask.silent) continue
      const clause = clauseOf(asks, index, moment)
      if (!clause) return undefined
      clauses.push({ spans: joined(clause), looks: ask.tool.annotations.readOnly })
    }
    const said = finished(arranged(clauses, first.environment.name, moment), asks, manner)
    if (said) return said
  }
  return undefined
}

/** One sentence: its spans and how it ends. */
interface Sentence {
  readonly spans: readonly TextSpan[]
  readonly stop: string
}

function arranged(clauses: readonly Clause[], environment: string, moment: Moment): Sentence[] {
  const { random, turn } = moment
  const sentences: Sentence[] = []
  const add = (text: string): void => {
    if (text !== '') sentences.push({ spans: [word(text)], stop: '' })
  }
  const { before: opened, now: drawn } = opening(moment, clauses.length)
  const now = /\bnow\b/.test(textOf(itemAt(clauses, 0).spans)) ? drawn.replace(/\bnow /, '') : drawn
  // One opening is enough: whoever gives a reason neither greets nor asks for a favour at length.
  const reason = turn === 0 && opened === '' ? reasonFor(environment, doing(clauses), moment) : ''
  add(reason)
  const groups = grouped(clauses, moment)
  /** Ways to begin a sentence that were used in this turn: people vary theirs. */
  const used = new Set<string>(now === '' ? [] : [now])
  const isCounted = groups.length > 2 && random.chance(0.12)
  for (const [nth, group] of groups.entries()) {
    const isLast = nth === groups.length - 1
    const before = nth > 0 && lastOf(itemAt(groups, nth - 1)).looks ? 'found' : 'changed'
    const freshOpener = (): string => {
      const openers = [0, 1, 2].map(() => sentenceOpener({ isLast, nth, before }, moment))
      return openers.find((candidate) => !used.has(candidate)) ?? ''
    }
    let linking = ''
    if (nth === 0) linking = opened + (isCounted ? 'first, ' : now)
    else if (isCounted) linking = isLast ? random.pick(['finally, ', 'and last, ']) : 'then, '
    else {
      linking = freshOpener()
      used.add(linking)
    }
    const isFirst = nth === 0 && turn === 0 && reason === ''
    sentences.push(sentence(group, { linking, isFirst }, used, moment))
  }
  const changes = clauses.some(({ looks }) => !looks)
  const last = changes && reason === '' ? trail(moment) : ''
  add(last !== '' && turn === 0 ? last : signOff(opened, moment))
  return sentences
}

function doing(clauses: readonly Clause[]): Doing {
  if (clauses.every(({ looks }) => looks)) return 'looks'
  return clauses.some(({ looks }) => looks) ? 'both' : 'changes'
}

const ONE_THING = /^(one more|another) thing/

function opening(moment: Moment, count: number): { readonly before: string; readonly now: string } {
  const { turn, after = 'changed', again } = moment
  if (again) return { before: phrase('reconsidering', moment), now: '' }
  if (turn === 0) return { before: greeting(moment), now: '' }
  if (after !== 'found' && after !== 'changed') return { before: phrase(`after_${after}`, moment), now: '' }
  const { thanks, now } = followUp(after, moment)
  return { before: thanks, now: ONE_THING.test(now) && count > 1 ? 'also, ' : now }
}

/** Cuts the clauses into sentences of one to three. */
function grouped(clauses: readonly Clause[], { persona, random }: Moment): Clause[][] {
  const groups: Clause[][] = []
  for (const clause of clauses) {
    const last = groups.at(-1)
    const fits = last !== undefined && last.length < 3 && textOf(last.flatMap(({ spans }) => spans)).length < 150
    if (fits && random.chance(persona.register === 'terse' ? 0.6 : 0.55)) last.push(clause)
    else groups.push([clause])
  }
  return groups
}

/** No second step of a request: "then do you know". */
const ASKS_ANEW = /^do you know\b/

/** A clause that says for whom it is, or ends with another one, after which "for me" would be of that. */
const FOR_ITSELF = /\b(me|my|I|if|should|once|when|until|that|which|who|so)\b/

/** @param used  ways to begin a sentence that the turn has had */
function sentence(
  group: readonly Clause[],
  { linking, isFirst }: { readonly linking: string; readonly isFirst: boolean },
  used: Set<string>,
  moment: Moment,
): Sentence {
  const { persona, random } = moment
  const [first, ...rest] = group.map(({ spans }) => spans) as [readonly TextSpan[], ...(readonly TextSpan[])[]]
  const alone = rest.length === 0
  const text = textOf(first)
  const others = (): TextSpan[] => rest.flatMap((clause, i) => [word(joiner(i === rest.length - 1, moment)), ...clause])
  // "Show it as open" is no wish to see it.
  const turns = itemAt(group, 0).looks && (persona.register !== 'terse' || random.chance(0.3))
  const wish = turns ? turned(first, alone, random) : undefined
  if (wish && random.chance(0.4) && !(linking !== '' && ASKS_ANEW.test(textOf(wish.spans))))
    return { spans: [word(linking), ...wish.spans, ...others()], stop: wish.asks ? '?' : stopOf(moment) }
  const gerund = alone ? asGerund(first) : undefined
  const own = group.every(({ spans }) => !speaksToAssistant(spans))
  const fits = (frame: Frame): boolean =>
    (!frame.self || own) &&
    (!frame.once || isFirst) &&
    (!frame.ing || gerund !== undefined) &&
    (frame.after !== ' for me' || (alone && !FOR_ITSELF.test(text))) &&
    !(linking !== '' && /^(okay|if|when)/.test(frame.before)) &&
    !(/get you to $/.test(frame.before) && /^get\b/.test(text)) &&
    (startsWithVerb(first) || /^(please )?$/.test(frame.before)) &&
    !used.has(frame.before)
  const frame = drawFrame(persona.register, fits, random)
  if (frame.before.length > 'please '.length) used.add(frame.before)
  const clause = (frame.ing && gerund) || first
  const spans = [word(linking + frame.before), ...clause, ...others(), word(frame.after ?? '')]
  return { spans, stop: frame.asks ? '?' : stopOf(moment) }
}

/** A few clauses put something before their verb: "for that contact, choose ...". */
const startsWithVerb = (clause: readonly TextSpan[]): boolean =>
  !/^(?:(?:for|on|from)\b|[a-z ]+:)/.test(itemAt(clause, 0).text)

/** Clauses in which "me" is the one who asks, so that nobody else can be the subject. */
const speaksToAssistant = (clause: readonly TextSpan[]): boolean =>
  /^(tell|show|give|let|get me|remind|guide|route|catch|bring|make me|add me|have me|answer new|say|see that|complain)\b/.test(
    itemAt(clause, 0).text,
  ) || clause.some((span) => !span.fixed && /\bme\b/.test(span.text))

const stopOf = ({ persona, random }: Moment): string =>
  persona.register === 'chatty' && random.chance(0.06) ? '!' : '.'

/**
 * Puts sentences together and finds in the text what gives each value.
 * @returns `undefined` when a value that must be said is not, or one that must not be said is
 */
function finished(sentences: readonly Sentence[], asks: readonly Ask[], manner: Manner): Said | undefined {
  const spans = sentences.flatMap(({ spans: own, stop }, i) => {
    const isLast = i === sentences.length - 1
    const retyped = withCapitals(typed(joined(own), manner), manner)
    const isUnstopped = isLast && manner.unstopped && stop !== '!' && (stop === '.' || manner.lower)
    // What is quoted may end a sentence by its own stop.
    const isStopped = stop !== '?' && /[.!?]"$/.test(textOf(retyped))
    return [...retyped, word((isUnstopped || isStopped ? '' : stop) + (isLast ? '' : ' '))]
  })
  const text = textOf(spans).trim()
  const indent = textOf(spans).indexOf(text)
  const phrases = asks.flatMap((ask, index) => evidenceOf(ask, index, asks, spans) ?? [])
  if (phrases.length < asks.length) return undefined
  if (asks.some(({ withheld, args }) => withheld !== undefined && leaks(text, itemAt(args, withheld)))) return undefined
  const mentions = asks.map((_, index) => mentionsOf(index, spans, indent))
  return { text, phrases: phrases, mentions }
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

function withCapitals(spans: readonly TextSpan[], { lower }: Manner): TextSpan[] {
  const [first, ...rest] = spans
  if (!first || lower || first.fixed) return [...spans]
  return [{ ...first, text: first.text.replaceAll(/(?:^|[.!?] )[a-z]/g, (start) => start.toUpperCase()) }, ...rest]
}

/** What gives the values of one ask. Those of a silent one are given elsewhere in the turn. */
function evidenceOf(
  { args, references, withheld, silent }: Ask,
  index: number,
  asks: readonly Ask[],
  spans: readonly TextSpan[],
): ReadonlyMap<string, string> | undefined {
  const phrases = new Map<string, string>()
  for (const [field, value] of Object.entries(args)) {
    const way = references.get(field)
    if (field === withheld || (way && way.how !== 'value')) continue
    const span = spans.find(({ gives, label, text }) => {
      if (!silent) return gives?.ask === index && gives.field === field
      return label ? text === value : gives !== undefined && itemAt(asks, gives.ask).args[gives.field] === value
    })
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
