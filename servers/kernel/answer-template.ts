import { z } from 'zod'

/**
 * A piece of an answer template. In the text,
 *
 * - `{field}` is a value of the result, `{part.field}` one inside a part, `{@field}` an argument of the call;
 * - `{field:noun}` a number with what it counts, `{list#noun}` how many entries a list has: `no cards`, `1 card`, `3 cards`. In a noun `@field`
 *   stands for an argument: `{found:@status order}`;
 * - `{field=is|are}` agrees with a number or the length of a list;
 * - `{field?yes|no}` says a truth value, or whether there is anything;
 * - `{list*entry}` is the entries of a list, each by its own template;
 * - `[...]` is left out where something in it is missing, empty, false or zero.
 */
export type AnswerPart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'value'; readonly path: readonly string[] }
  | { readonly kind: 'argument'; readonly field: string }
  | { readonly kind: 'count'; readonly field: string; readonly noun: string }
  | { readonly kind: 'agreeing'; readonly field: string; readonly one: string; readonly many: string }
  | { readonly kind: 'either'; readonly field: string; readonly yes: string; readonly no: string }
  | { readonly kind: 'list'; readonly field: string; readonly entry: readonly AnswerPart[] }
  | { readonly kind: 'optional'; readonly parts: readonly AnswerPart[] }

/** @throws SyntaxError if brackets or braces do not match, or a field stands for nothing known */
export function parseAnswer(template: string): AnswerPart[] {
  const { parts, end } = partsFrom(template, 0, '')
  if (end < template.length) throw new SyntaxError(`"${template[end]}" closes nothing in "${template}"`)
  return parts
}

function partsFrom(template: string, start: number, close: string): { parts: AnswerPart[]; end: number } {
  const parts: AnswerPart[] = []
  let at = start
  while (at < template.length) {
    const next = template.slice(at).search(/[[\]{}]/)
    const upTo = next < 0 ? template.length : at + next
    if (upTo > at) parts.push({ kind: 'text', text: template.slice(at, upTo) })
    at = upTo
    if (at === template.length) break
    if (template[at] === '[') {
      const inner = partsFrom(template, at + 1, ']')
      parts.push({ kind: 'optional', parts: inner.parts })
      at = inner.end + 1
    } else if (template[at] === '{') {
      const field = fieldFrom(template, at + 1)
      parts.push(field.part)
      at = field.end + 1
    } else break
  }
  if (close !== '' && template[at] !== close) throw new SyntaxError(`"${close}" is missing in "${template}"`)
  return { parts, end: at }
}

function fieldFrom(template: string, start: number): { part: AnswerPart; end: number } {
  const list = /^([a-z_]+)\*/.exec(template.slice(start))
  if (list) {
    const entry = partsFrom(template, start + list[0].length, '}')
    return { part: { kind: 'list', field: list[1]!, entry: entry.parts }, end: entry.end }
  }
  const end = template.indexOf('}', start)
  const text = end < 0 ? '' : template.slice(start, end)
  const part = fieldPart(text)
  if (!part) throw new SyntaxError(`"{${text}" is no field in "${template}"`)
  return { part, end }
}

function fieldPart(text: string): AnswerPart | undefined {
  const [, field, sign, rest] = /^@?([a-z_]+(?:\.[a-z_]+)?)(?:([:#=?])(.+))?$/.exec(text) ?? []
  if (field === undefined) return undefined
  if (text.startsWith('@')) return sign === undefined ? { kind: 'argument', field } : undefined
  if (sign === undefined) return { kind: 'value', path: field.split('.') }
  if (sign === ':' || sign === '#') return { kind: 'count', field, noun: rest! }
  const [one, other, ...more] = rest!.split('|')
  if (other === undefined || more.length > 0) return undefined
  return sign === '='
    ? { kind: 'agreeing', field, one: one!, many: other }
    : { kind: 'either', field, yes: one!, no: other }
}

/** Which fields of a template the result or the call does not have. */
export const unknownFields = (parts: readonly AnswerPart[], output: z.ZodObject, input: z.ZodObject): string[] =>
  parts.flatMap((part) => unknownIn(part, output, input))

function unknownIn(part: AnswerPart, output: z.ZodObject, input: z.ZodObject): string[] {
  switch (part.kind) {
    case 'text':
      return []
    case 'optional':
      return unknownFields(part.parts, output, input)
    case 'argument':
      return input.shape[part.field] ? [] : [`@${part.field}`]
    case 'value': {
      const [field, inner] = part.path as [string, string?]
      const outer = bare(output.shape[field])
      const known = inner === undefined ? outer : outer instanceof z.ZodObject && outer.shape[inner]
      return known ? [] : [part.path.join('.')]
    }
    case 'list': {
      const list = bare(output.shape[part.field])
      const element = list instanceof z.ZodArray ? bare(list.element) : undefined
      return element instanceof z.ZodObject ? unknownFields(part.entry, element, input) : [part.field]
    }
    case 'count': {
      const named = [...part.noun.matchAll(/@([a-z_]+)/g)].map(([, field]) => field!)
      const unknown = named.filter((field) => !input.shape[field]).map((field) => `@${field}`)
      return output.shape[part.field] ? unknown : [part.field, ...unknown]
    }
    case 'agreeing':
    case 'either':
      return output.shape[part.field] ? [] : [part.field]
  }
}

function bare(schema: unknown): unknown {
  return schema instanceof z.ZodOptional || schema instanceof z.ZodNullable ? bare(schema.unwrap()) : schema
}
