import type { z } from 'zod'
import type { Json } from '../../reward/index.js'
import { entityKinds, meaningOf } from '../../servers/kernel/index.js'
import type { Node } from '../../servers/kernel/tool-graph.js'
import type { Way } from '../making/references.js'
import { singular } from './field-words.js'
import { type Context, refer } from './referring.js'
import type { Ask, Moment } from './speech.js'
import { type TextSpan, word } from './text-span.js'
import type { Manner } from './typing-manner.js'
import { sayValue } from './values.js'
import { clauseWithout } from './withheld.js'

/**
 * One ask as an imperative clause, in spans: every value said or referred to, except one that is withheld.
 * @param earlier  the asks before it in the same turn
 * @returns `undefined` when none of the tool's clauses can carry it
 */
export function clauseOf(
  ask: Ask,
  index: number,
  earlier: readonly Ask[],
  manner: Manner,
  moment: Moment,
): TextSpan[] | undefined {
  const { tool, args, withheld } = ask
  const given = new Set(Object.keys(args).filter((field) => field !== withheld))
  for (const template of moment.random.shuffle(tool.ask)) {
    const resolved = sayable(template, given, withheld)
    if (resolved === undefined) continue
    const spans = filled(resolved, ask, index, earlier, manner, moment)
    if (spans) return spans
  }
  return undefined
}

/** Whether a tool has a clause that gives these arguments and leaves one of them out. */
export function canLeaveOut({ server, tool }: Node, fields: readonly string[], withheld: string): boolean {
  if (server.callWords?.[tool.name]?.said?.includes(withheld)) return false
  const given = new Set(fields.filter((field) => field !== withheld))
  return tool.ask.some((template) => sayable(template, given, withheld) !== undefined)
}

/** The clause with these arguments and no others; `undefined` when it does not give them all. */
function sayable(template: string, given: ReadonlySet<string>, withheld: string | undefined): string | undefined {
  const resolved = withheld === undefined ? resolve(template, given) : reworded(template, given, withheld)
  return resolved !== undefined && [...given].every((field) => resolved.includes(`{${field}}`)) ? resolved : undefined
}

/** Keeps the bracketed parts whose fields are all given. */
function resolve(template: string, given: ReadonlySet<string>): string {
  return template.replaceAll(/\[([^\]]*)\]/g, (_, part: string) =>
    [...part.matchAll(/\{([^}]*)\}/g)].every(([, field]) => given.has(field!)) ? part : '',
  )
}

function reworded(template: string, given: ReadonlySet<string>, withheld: string): string | undefined {
  const resolved = resolve(template, given)
  if (!resolved.includes(`{${withheld}}`)) return undefined
  return clauseWithout(resolved, withheld)
}

const FUNCTION_WORD =
  /\b(of|for|to|in|from|on|by|with|at|under|as|about|into|than|and|or|that|which|is|are|was|were|be|has|have|before|after|among|per|via|until|without|between|what|how|where|when|who)$/

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
    let before = parts[i]!
    const field = parts[i + 1]
    if (field === undefined) {
      spans.push(word(before))
      break
    }
    if (ask.args[field] === 1) parts[i + 2] = parts[i + 2]!.replace(COUNTED, (nouns) => singular(nouns))
    const slot = { before, after: parts[i + 2] ?? '' }
    const way = ask.references.get(field)
    if (way && way.how !== 'value') {
      if (/["(]$/.test(before)) return undefined
      before = withoutApposition(before)
      if (/(?:^| )(the|a|an|my|our|each|all) $/.test(before)) return undefined
      const words = refer(way, contextOf(ask, field, earlier, moment, way), { ...slot, before }, manner, moment.random)
      if (!words) return undefined
      spans.push(word(before), ...words.map((span) => ({ ...span, refers: { ask: index, field } })))
      continue
    }
    const schema = ask.tool.input.shape[field] as z.ZodType
    const { entity } = meaningOf(schema)
    const kind = entity === undefined ? undefined : ask.server.entities[entity]
    const said =
      kind?.sayable && kind.article
        ? { phrase: String(ask.args[field]).replaceAll('-', ' '), before: `${before}the ` }
        : sayValue(ask.args[field]!, schema, slot, manner, moment)
    spans.push(word(withArticleFor(said.phrase, said.before)), {
      text: said.phrase,
      fixed: true,
      gives: { ask: index, field },
    })
  }
  return spans
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
  { server, tool, args }: Ask,
  field: string,
  earlier: readonly Ask[],
  { turn }: Moment,
  way: Way,
): Context {
  const { entity } = meaningOf(tool.input.shape[field]!)
  const gives = (ask: Ask): boolean =>
    ask.server === server && entity !== undefined && entityKinds(ask.tool.output).has(entity)
  const last = earlier.at(-1)
  const sources = earlier.filter(gives)
  const adjacent =
    last !== undefined &&
    gives(last) &&
    !last.silent &&
    entityKinds(last.tool.output).size === 1 &&
    sources.length === 1
  return {
    adjacent,
    named: last !== undefined && !isList(last) && speaksOnlyOf(last, entity),
    ahead: sources.length > 0 && sources.every((ask) => ask.tool.annotations.readOnly) && turn === 0,
    made: last !== undefined && sources.length === 1 && gives(last) && makes(last, entity!),
    repeated:
      last === undefined || last.silent || last.server !== server
        ? undefined
        : repeatedFrom(last, way, entity, args[field]),
    labelField: entity === undefined ? undefined : server.entities[entity]?.label,
    article: entity !== undefined && server.entities[entity]?.article === true,
  }
}

/** Whether the clause lists things of which nobody knows yet how many there are. */
const isList = ({ tool }: Ask): boolean => tool.annotations.readOnly && /^(list|show|view|browse)_/.test(tool.name)

/** Whether no other kind of thing was named in the clause just before, which "it" would mean instead. */
const speaksOnlyOf = ({ tool, args }: Ask, entity: string | undefined): boolean =>
  Object.keys(args).every((field) => {
    const kind = meaningOf(tool.input.shape[field]!).entity
    return kind === undefined || kind === entity
  })

/** Whether the call is what brings things of this kind into being. */
const makes = ({ tool }: Ask, entity: string): boolean =>
  /^(create|add|write|schedule|save|plan|book)_/.test(tool.name) && tool.name.includes(entity)

/** How the ask means what `way` means, if it does, and nothing else of that kind. */
function repeatedFrom(last: Ask, way: Way, entity: string | undefined, key: Json | undefined): Context['repeated'] {
  if (entity === undefined) return undefined
  const alike = Object.keys(last.args).filter((field) => meaningOf(last.tool.input.shape[field]!).entity === entity)
  const [field, ...others] = alike
  if (field !== undefined) {
    const meant = last.references.get(field)
    if (others.length > 0 || last.args[field] !== key || !meant) return undefined
    return meant.how === 'label' ? 'label' : 'otherwise'
  }
  const looksFor = last.tool.annotations.readOnly && way.how === 'label' && Object.values(last.args).includes(way.label)
  return looksFor && entityKinds(last.tool.output).has(entity) ? 'sought' : undefined
}
