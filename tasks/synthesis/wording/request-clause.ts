import type { z } from 'zod'
import { type EntitySpec, entityKinds, meaningOf, speechOf, withChoices } from '../../../servers/kernel/index.js'
import type { Node } from '../graph.js'
import { itemAt } from '../item-at.js'
import { clauseWithout } from './clause-without-value.js'
import { singular } from './english.js'
import { contextOf } from './reference-context.js'
import { refer } from './reference-words.js'
import type { Ask, Moment } from './speech.js'
import { type TextSpan, word } from './text-span.js'
import { clausesFor, speaksOfSeveral } from './tool-phrases.js'
import { type SaidValue, type Slot, sayValue } from './value-words.js'

/**
 * One ask of a turn as an imperative clause, in spans: every value said or referred to, except one that is withheld.
 * @returns `undefined` when none of the tool's clauses can carry it
 */
export function clauseOf(asks: readonly Ask[], index: number, moment: Moment): TextSpan[] | undefined {
  const ask = itemAt(asks, index)
  const earlier = asks.slice(0, index)
  const { args, withheld } = ask
  // Which values a clause can leave out is known of the tool's own clauses only.
  const clauses = withheld === undefined ? clausesFor(ask, moment) : moment.random.shuffle(speechOf(ask).ask)
  const taken = kindsTakenOf(ask, asks.slice(index + 1))
  const fitting = clauses.filter((clause) =>
    taken.every(({ kind, ofMany }) => speaksOfSeveral(clause, kind) === ofMany),
  )
  for (const clause of fitting.length > 0 ? fitting : clauses) {
    const template = withChoices(clause, (words) => moment.random.pick(words))
    if (isAsItWas(template, ask, earlier, moment)) continue
    const resolved = sayable(template, Object.keys(args), withheld)
    const spans = resolved === undefined ? undefined : filled(resolved, ask, earlier, moment)
    if (spans) return spans
  }
  return undefined
}

/** Whether a clause asks for something to be left as it is, of what was just changed. */
const isAsItWas = (template: string, { environment }: Ask, earlier: readonly Ask[], { after }: Moment): boolean =>
  / as (?:it is|they are)\b/.test(template) &&
  (after === 'changed' ||
    earlier.some((other) => other.environment === environment && !other.tool.annotations.readOnly))

interface Taken {
  readonly kind: EntitySpec
  /** One out of many, "the cheapest" of which it is. */
  readonly ofMany: boolean
}

/** The kinds of things that later asks of the turn take, one each, out of what a look-up finds. */
function kindsTakenOf({ environment, tool }: Ask, later: readonly Ask[]): Taken[] {
  if (!tool.annotations.readOnly) return []
  const found = entityKinds(tool.output)
  return later.flatMap((other) =>
    [...other.references].flatMap(([field, way]) => {
      const { entity } = meaningOf(itemAt(other.tool.input.shape, field))
      if (way.how === 'value' || other.environment !== environment || entity === undefined || !found.has(entity))
        return []
      const kind = environment.entities[entity]
      return kind === undefined ? [] : [{ kind, ofMany: way.how === 'place' || way.how === 'extreme' }]
    }),
  )
}

/** Whether a tool has a clause that gives these arguments and leaves one of them out. */
export function canLeaveOut(node: Node, fields: readonly string[], withheld: string): boolean {
  const { said, ask } = speechOf(node)
  return !said?.includes(withheld) && ask.some((template) => sayable(template, fields, withheld) !== undefined)
}

/** The clause with these arguments, except the withheld one, and no others; `undefined` when it does not give them all. */
export function sayable(template: string, fields: readonly string[], withheld?: string): string | undefined {
  const given = fields.filter((field) => field !== withheld)
  // Only bracketed parts whose fields are all given stay.
  const whole = template.replaceAll(/\[([^\]]*)\]/g, (_, part: string) =>
    [...part.matchAll(/\{([^}]*)\}/g)].every(([, field = '']) => given.includes(field)) ? part : '',
  )
  const resolved = withheld === undefined ? whole : clauseWithout(whole, withheld)
  return resolved !== undefined && given.every((field) => resolved.includes(`{${field}}`)) ? resolved : undefined
}

/** What a number counts. */
const COUNTED =
  /^ (shares|pieces|packs|bags|nights|points|stars|minutes|times|occurrences|portions|dates|days|lines|bytes|copies)\b/

/** Fills a clause from left to right. */
function filled(template: string, ask: Ask, earlier: readonly Ask[], moment: Moment): TextSpan[] | undefined {
  const meantAlike = [...ask.references.values()].filter(({ how }) => how === 'only').map(({ noun }) => noun)
  // "Move 40 from that account to that account" would mean nothing.
  if (new Set(meantAlike).size < meantAlike.length) return undefined
  const parts = template.split(/\{([^}]*)\}/)
  const spans: TextSpan[] = []
  for (let i = 0; i < parts.length; i += 2) {
    const before = itemAt(parts, i)
    const field = parts[i + 1]
    if (field === undefined) {
      spans.push(word(before))
      break
    }
    const place = { ask: earlier.length, field }
    if (ask.args[field] === 1) parts[i + 2] = itemAt(parts, i + 2).replace(COUNTED, (nouns) => singular(nouns))
    const slot = { before, after: parts[i + 2] ?? '' }
    const way = ask.references.get(field)
    if (way && way.how !== 'value') {
      const bare = withoutApposition(before)
      if (/["(]$/.test(before) || /(?:^| )(the|a|an|my|our|each|all) $/.test(bare)) return undefined
      const context = contextOf(ask, field, way, earlier, moment)
      // "Add it to it" would mean nothing either.
      const isFree = !BESIDE_ANOTHER.test(bare) && ![...spans, word(bare)].some(({ text }) => HOLDS_PRONOUN.test(text))
      const named = context.named && isFree
      const words = refer(way, { ...context, named }, { ...slot, before: bare }, moment)
      const refers = words.map((span) => ({ ...span, refers: place }))
      spans.push(...owning(bare, refers))
      continue
    }
    const said = sayArgument(ask, field, slot, moment)
    spans.push(word(withArticleFor(said.phrase, said.before)), { text: said.phrase, fixed: true, gives: place })
  }
  return spans
}

function sayArgument({ environment, tool, args }: Ask, field: string, slot: Slot, moment: Moment): SaidValue {
  const schema = tool.input.shape[field] as z.ZodType
  const { entity } = meaningOf(schema)
  const kind = entity === undefined ? undefined : environment.entities[entity]
  if (kind?.sayable && kind.article)
    return { phrase: String(args[field]).replaceAll('-', ' '), before: `${slot.before}the ` }
  return sayValue(itemAt(args, field), schema, slot, moment)
}

/** Nobody says "between that file and it". */
const BESIDE_ANOTHER = / and $/
const HOLDS_PRONOUN = /\b(it|its|them)\b/
/** A property of one thing. Of parts "of it" is what people say: "the first lines of it". */
const OWNED = /(?<=^|[ ])the ((?!first|last|rest|whole|beginning|end|part)(?:[a-z]+ )?[a-z]+) of $/

/** "Its discount" for "the discount of it". */
function owning(before: string, refers: readonly TextSpan[]): TextSpan[] {
  const [only, ...others] = refers
  const owned = others.length === 0 && only?.text === 'it' ? OWNED.exec(before)?.[1] : undefined
  if (!only || owned === undefined) return [word(before), ...refers]
  return [word(before.slice(0, -`the ${owned} of `.length)), { ...only, text: 'its' }, word(` ${owned}`)]
}

/** Clauses say `a {kind} ...` for any value: `an` before a vowel. */
const withArticleFor = (phrase: string, before: string): string =>
  /^([aeio]|u(?!ni|se)|8|11\b|18\b)/i.test(phrase) ? before.replace(/(^|[ (])a $/, '$1an ') : before

const APPOSITION = /(?<=^|[ ])the ((?:[a-z]+ ){1,3})$/
const FUNCTION_WORD =
  /\b(of|for|to|in|from|on|by|with|at|under|as|about|into|than|and|or|that|which|is|are|was|were|be|has|have|before|after|among|per|via|until|without|between|below|beneath|inside|within|around|near|over|through|behind|onto|off|against|towards|past|along|beside|above|across|upon|till|what|how|where|when|who)$/

/** Drops the noun before a reference that has one of its own: not "the payment that payment". */
function withoutApposition(before: string): string {
  const noun = APPOSITION.exec(before)?.[1]?.trimEnd()
  if (noun === undefined || noun.split(' ').some((part) => FUNCTION_WORD.test(part))) return before
  return before.slice(0, before.length - noun.length - 'the  '.length)
}
