import type { z } from 'zod'
import type { Json } from '../../../rollout/reward/index.js'
import { type EntitySpec, entityKinds, meaningOf, speechOf, withChoices } from '../../../servers/kernel/index.js'
import type { Node } from '../graph.js'
import { itemAt } from '../item-at.js'
import type { Way } from '../way.js'
import { singular } from './field-words.js'
import { type Context, PEOPLE, refer } from './referring.js'
import { speaksOfSeveral } from './several.js'
import type { Ask, Moment } from './speech.js'
import { type TextSpan, word } from './text-span.js'
import type { Manner } from './typing-manner.js'
import { sayValue } from './values.js'
import { clausesFor } from './ways.js'
import { clauseWithout } from './withheld.js'

/**
 * One ask of a turn as an imperative clause, in spans: every value said or referred to, except one that is withheld.
 * @returns `undefined` when none of the tool's clauses can carry it
 */
export function clauseOf(asks: readonly Ask[], index: number, manner: Manner, moment: Moment): TextSpan[] | undefined {
  const ask = itemAt(asks, index)
  const earlier = asks.slice(0, index)
  const { args, withheld } = ask
  const given = new Set(Object.keys(args).filter((field) => field !== withheld))
  // What can be dropped from a clause is known of the tool's own alone.
  const ways = withheld === undefined ? clausesFor(ask, moment) : moment.random.shuffle(speechOf(ask).ask)
  const taken = kindsTakenOf(ask, asks.slice(index + 1))
  const fits = (way: string): boolean => taken.every(({ kind, ofMany }) => speaksOfSeveral(way, kind) === ofMany)
  const fitting = ways.filter(fits)
  for (const way of fitting.length > 0 ? fitting : ways) {
    const template = withChoices(way, (words) => moment.random.pick(words))
    const resolved = isAsItWas(template, ask, earlier, moment) ? undefined : sayable(template, given, withheld)
    if (resolved === undefined) continue
    const spans = filled(resolved, ask, index, earlier, manner, moment)
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
export function canLeaveOut({ environment, tool }: Node, fields: readonly string[], withheld: string): boolean {
  if (speechOf({ environment, tool }).said?.includes(withheld)) return false
  const given = new Set(fields.filter((field) => field !== withheld))
  return speechOf({ environment, tool }).ask.some((template) => sayable(template, given, withheld) !== undefined)
}

/** The clause with these arguments and no others; `undefined` when it does not give them all. */
function sayable(template: string, given: ReadonlySet<string>, withheld: string | undefined): string | undefined {
  const resolved = withheld === undefined ? resolve(template, given) : reworded(template, given, withheld)
  return resolved !== undefined && [...given].every((field) => resolved.includes(`{${field}}`)) ? resolved : undefined
}

/** Keeps the bracketed parts whose fields are all given. */
function resolve(template: string, given: ReadonlySet<string>): string {
  return template.replaceAll(/\[([^\]]*)\]/g, (_, part: string) =>
    [...part.matchAll(/\{([^}]*)\}/g)].every(([, field]) => given.has(field ?? '')) ? part : '',
  )
}

function reworded(template: string, given: ReadonlySet<string>, withheld: string): string | undefined {
  const resolved = resolve(template, given)
  if (!resolved.includes(`{${withheld}}`)) return undefined
  return clauseWithout(resolved, withheld)
}

const FUNCTION_WORD =
  /\b(of|for|to|in|from|on|by|with|at|under|as|about|into|than|and|or|that|which|is|are|was|were|be|has|have|before|after|among|per|via|until|without|between|below|beneath|inside|within|around|near|over|through|behind|onto|off|against|towards|past|along|beside|above|across|upon|till|what|how|where|when|who)$/

/** What a number counts. */
const COUNTED =
  /^ (shares|pieces|packs|bags|nights|points|stars|minutes|times|occurrences|portions|dates|days|lines|bytes|copies)\b/

/** Fills a clause from left to right. */
function filled(
  template: string,
  ask: Ask,
  index: number,
  earlier: readonly Ask[],
  manner: Manner,
  moment: Moment,
): TextSpan[] | undefined {
  const meantAlike = [...ask.references.values()].filter(({ how }) => how === 'only').map(({ noun }) => noun)
  // "Move 40 from that account to that account" would mean nothing.
  if (new Set(meantAlike).size < meantAlike.length) return undefined
  const parts = template.split(/\{([^}]*)\}/)
  const spans: TextSpan[] = []
  for (let i = 0; i < parts.length; i += 2) {
    let before = itemAt(parts, i)
    const field = parts[i + 1]
    if (field === undefined) {
      spans.push(word(before))
      break
    }
    if (ask.args[field] === 1) parts[i + 2] = itemAt(parts, i + 2).replace(COUNTED, (nouns) => singular(nouns))
    const slot = { before, after: parts[i + 2] ?? '' }
    const way = ask.references.get(field)
    if (way && way.how !== 'value') {
      if (/["(]$/.test(before)) return undefined
      before = withoutApposition(before)
      if (/(?:^| )(the|a|an|my|our|each|all) $/.test(before)) return undefined
      const context = contextOf(ask, field, earlier, moment, way)
      // "Add it to it" would mean nothing either.
      const named =
        context.named &&
        !BESIDE_ANOTHER.test(before) &&
        !spans.concat(word(before)).some(({ text }) => HOLDS_PRONOUN.test(text))
      const words = refer(way, { ...context, named }, { ...slot, before }, manner, moment.random)
      if (!words) return undefined
      spans.push(
        ...owning(
          before,
          words.map((span) => ({ ...span, refers: { ask: index, field } })),
        ),
      )
      continue
    }
    const schema = ask.tool.input.shape[field] as z.ZodType
    const { entity } = meaningOf(schema)
    const kind = entity === undefined ? undefined : ask.environment.entities[entity]
    const said =
      kind?.sayable && kind.article
        ? { phrase: String(ask.args[field]).replaceAll('-', ' '), before: `${before}the ` }
        : sayValue(itemAt(ask.args, field), schema, slot, manner, moment)
    spans.push(word(withArticleFor(said.phrase, said.before)), {
      text: said.phrase,
      fixed: true,
      gives: { ask: index, field },
    })
  }
  return spans
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

/** Drops the noun before a reference that has one of its own: not "the payment that payment". */
function withoutApposition(before: string): string {
  const noun = APPOSITION.exec(before)?.[1]?.trimEnd()
  if (noun === undefined || noun.split(' ').some((part) => FUNCTION_WORD.test(part))) return before
  return before.slice(0, before.length - noun.length - 'the  '.length)
}

/** Looks for the result that a reference points into among the calls asked for in the same turn. */
function contextOf(
  { environment, tool, args, references }: Ask,
  field: string,
  earlier: readonly Ask[],
  { turn }: Moment,
  way: Way,
): Context {
  const { entity } = meaningOf(itemAt(tool.input.shape, field))
  const gives = (ask: Ask): boolean =>
    ask.environment === environment && entity !== undefined && entityKinds(ask.tool.output).has(entity)
  const last = earlier.findLast(({ silent }) => !silent)
  const sources = earlier.filter(gives)
  const adjacent = last !== undefined && gives(last) && entityKinds(last.tool.output).size === 1 && sources.length === 1
  return {
    adjacent,
    named: last !== undefined && !isList(last) && speaksOnlyOf(last, entity, itemAt(args, field)),
    ahead: sources.length > 0 && sources.every((ask) => ask.tool.annotations.readOnly) && turn === 0,
    made: last !== undefined && entity !== undefined && sources.length === 1 && gives(last) && makes(last, entity),
    repeated:
      repeatedFrom(earlier, environment, way, entity, itemAt(args, field)) ??
      ([...references.values()].some((other) => other !== way && other.noun === way.noun) ? 'beside' : undefined),
    labelField: entity === undefined ? undefined : environment.entities[entity]?.label,
    article: entity !== undefined && environment.entities[entity]?.article === true,
  }
}

/** Whether the clause lists things of which nobody knows yet how many there are. */
const isList = ({ tool }: Ask): boolean => tool.annotations.readOnly && /^(list|show|view|browse)_/.test(tool.name)

/** Whether nothing else was named in the clause just before, which "it" or "them" would mean instead: of a person nobody says "it", nor "them" of a thing. */
function speaksOnlyOf({ environment, tool, args }: Ask, entity: string | undefined, key: Json): boolean {
  const isSomebody = (kind: string): boolean => PEOPLE.has(environment.entities[kind]?.noun ?? kind)
  return Object.entries(args).every(([field, value]) => {
    const kind = meaningOf(itemAt(tool.input.shape, field)).entity
    if (kind === undefined || kind === entity || value === key) return true
    return entity !== undefined && isSomebody(kind) !== isSomebody(entity)
  })
}

/** Whether the call is what brings things of this kind into being. */
const makes = ({ tool }: Ask, entity: string): boolean =>
  /^(create|add|write|schedule|save|plan|book)_(?!to_)/.test(tool.name) && tool.name.includes(entity)

/** How a thing was meant before in the turn, if it was and no other of its kind since. */
function repeatedFrom(
  earlier: readonly Ask[],
  environment: Ask['environment'],
  way: Way,
  entity: string | undefined,
  key: Json,
): Context['repeated'] {
  if (entity === undefined) return undefined
  const spoken = earlier.filter(({ silent }) => !silent)
  for (const [i, ask] of spoken.toReversed().entries()) {
    if (ask.environment !== environment) continue
    const kinds = Object.keys(ask.args).map(
      (field) => [field, meaningOf(itemAt(ask.tool.input.shape, field)).entity] as const,
    )
    if (kinds.some(([field, kind]) => kind === entity && ask.args[field] !== key))
      return kinds.some(([field, kind]) => kind === entity && ask.args[field] === key) ? 'beside' : undefined
    // A light is a device, out of the same table.
    const isOfKind = (kind: string | undefined): boolean =>
      kind !== undefined && environment.entities[kind]?.table === environment.entities[entity]?.table
    const isMeant = kinds.some(([field, kind]) => isOfKind(kind) && ask.args[field] === key)
    const isNamed = way.how === 'label' && Object.values(ask.args).includes(way.label)
    if (isMeant || (isNamed && entityKinds(ask.tool.output).has(entity))) return i === 0 ? 'before' : 'earlier'
  }
  return undefined
}
