import type { z } from 'zod'
import type { Json, JsonObject } from '../../../rollout/reward/index.js'
import { type AnswerPart, meaningOf, PAGE, parseAnswer, speechOf } from '../../../servers/kernel/index.js'
import { elementOf } from '../../../servers/kernel/tool-graph.js'
import { isNameAsKey, listed, nameOf, plural } from './english.js'
import type { Ask } from './speech.js'
import { isDate, isMonth, MONTHS } from './value-words.js'

/** Longest text of a result that is repeated, in characters. */
const MAX_QUOTE = 400

/** What a template is filled with. */
interface Filling {
  readonly ask: Ask
  readonly today: string
  readonly schema: z.ZodObject
  readonly values: JsonObject
  /** Whether there are entries that the result does not show. */
  readonly hasMore: boolean
  /** Within brackets nothing is said of what there is none of. */
  readonly optional: boolean
}

const parsed = new Map<string, readonly AnswerPart[]>()

/**
 * The answer to a call by the template of its environment.
 * @returns `undefined` where the environment has none, or the result lacks something that it cannot do without
 */
export function answerFromTemplate(ask: Ask, output: JsonObject, today: string): string | undefined {
  const { tool } = ask
  const template = speechOf(ask).answer
  if (template === undefined) return undefined
  const parts = parsed.get(template) ?? parseAnswer(template)
  parsed.set(template, parts)
  const hasMore = output.next_page !== undefined
  const text = filled(parts, { ask, today, schema: tool.output, values: output, hasMore, optional: false })
  const begun = text?.replaceAll(/(^|[.!?] )at least /g, '$1At least ').replaceAll(/(^|[.!?] )no (?=[a-z])/g, '$1No ')
  const whole = begun?.replaceAll(/([.!?])"\.(?= |$)/g, '$1"')
  // What ends in a quotation still ends.
  return whole?.replaceAll(/([^.!?])"(?=$| [A-Z])/g, '$1."')
}

function filled(parts: readonly AnswerPart[], filling: Filling): string | undefined {
  let text = ''
  for (const part of parts) {
    const words = said(part, filling)
    if (words === undefined) return undefined
    text += words
  }
  return text
}

function said(part: AnswerPart, filling: Filling): string | undefined {
  const { ask, values, optional } = filling
  switch (part.kind) {
    case 'text':
      return part.text
    case 'optional':
      return filled(part.parts, { ...filling, optional: true }) ?? ''
    case 'argument': {
      const value = ask.args[part.field]
      return value === undefined ? undefined : valueInWords(value, filling.today)
    }
    case 'value':
      return valueAt(part.path, filling)
    case 'list':
      return entries(part.field, part.entry, filling)
    case 'count': {
      const count = countOf(values[part.field])
      if (count === undefined || (optional && count === 0)) return undefined
      const noun = part.noun.replaceAll(/@([a-z_]+) ?/g, (named, field: string) => {
        const value = ask.args[field]
        return value === undefined ? '' : valueInWords(value, filling.today) + (named.endsWith(' ') ? ' ' : '')
      })
      // Of a list that goes on only its page is counted.
      const least = goesOn(part.field, filling) ? 'at least ' : ''
      return `${least}${count === 0 ? 'no' : count} ${count === 1 ? noun : plural(noun)}`
    }
    case 'agreeing': {
      const count = countOf(values[part.field])
      return count === undefined ? undefined : count === 1 ? part.one : part.many
    }
    case 'either': {
      const value = values[part.field]
      const isThere = Array.isArray(value) ? value.length > 0 : value !== undefined && value !== null && value !== ''
      return (typeof value === 'boolean' ? value : isThere) ? part.yes : part.no
    }
  }
}

const countOf = (value: Json | undefined): number | undefined =>
  typeof value === 'number' ? value : Array.isArray(value) ? value.length : undefined

function valueAt(path: readonly string[], filling: Filling): string | undefined {
  const { ask, schema, values, today } = filling
  const [field, inner] = path as [string, string?]
  const outer = values[field]
  const value = inner === undefined ? outer : isObject(outer) ? outer[inner] : undefined
  if (value === undefined || value === null || value === '') return undefined
  if (typeof value === 'boolean') return value ? field.replaceAll('_', ' ') : undefined
  const meant =
    inner === undefined && schema.shape[field] ? meaningOf(schema.shape[field] as z.ZodType).entity : undefined
  const entity = meant ?? field
  // The key of a person or a room is the name with hyphens.
  const isNamed = ask.environment.entities[entity]?.label === 'name'
  if (typeof value === 'string' && isNamed && isNameAsKey(value)) return nameOf(value)
  if (Array.isArray(value) && inner === undefined && goesOn(field, filling))
    return valueInWords([...value, 'others'], today)
  return valueInWords(value, today)
}

/** A value as it is told: dates by their month, codes of a choice as words. */
export function valueInWords(value: Json, today: string): string | undefined {
  if (typeof value === 'number') return String(value)
  if (Array.isArray(value)) {
    const items = value.map((item) => (isObject(item) ? undefined : valueInWords(item, today)))
    return items.length === 0 || items.includes(undefined) ? undefined : listed(items as string[])
  }
  if (typeof value !== 'string' || value.length > MAX_QUOTE) return undefined
  if (/[ \t]{2}|\s$/.test(value)) return valueInWords(value.trimEnd().replaceAll(/[ \t]{2,}/g, ' '), today)
  const [, date, time] = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2})[\d:.]*Z?)?$/.exec(value) ?? []
  if (date !== undefined && isDate(date)) return dateInWords(date, today) + (time === undefined ? '' : ` at ${time}`)
  if (/^[a-z]+(_[a-z]+)+$/.test(value)) return value.replaceAll('_', ' ')
  return isMonth(value) ? `${MONTHS[Number(value.slice(5)) - 1]} ${value.slice(0, 4)}` : value
}

/** The year is said only where it is another than that of today. */
function dateInWords(date: string, today: string): string {
  const [year, month, day] = date.split('-') as [string, string, string]
  const words = `${Number(day)} ${MONTHS[Number(month) - 1]}`
  return year === today.slice(0, 4) ? words : `${words} ${year}`
}

function entries(field: string, entry: readonly AnswerPart[], filling: Filling): string | undefined {
  const list = filling.values[field]
  if (!Array.isArray(list) || list.length === 0) return undefined
  const schema = elementOf(filling.schema.shape[field])
  if (!schema) return undefined
  const shown = list.map((values) =>
    filled(entry, { ...filling, schema, values: values as JsonObject, optional: false }),
  )
  if (shown.includes(undefined)) return undefined
  const items = shown as string[]
  const all = goesOn(field, filling) ? [...items, isOneLeft(field, filling) ? 'one more' : 'others'] : items
  return items.some((item) => item.includes(', ')) && all.length > 1
    ? `${all.slice(0, -1).join('; ')}; and ${all.at(-1)}`
    : listed(all)
}

function goesOn(field: string, filling: Filling): boolean {
  const list = filling.values[field]
  const size = filling.ask.tool.pages?.[field]
  // The lists of one answer turn their pages together, though only one of them goes on.
  if (!filling.hasMore || size === undefined || !Array.isArray(list) || list.length < PAGE[size]) return false
  // Where one of two lists goes on, the count that is named after a list tells whether it is that one.
  return !isCounted(list.length, field, filling)
}

/** Whether the result counts a single entry more than it shows. What was found in all is counted over every list. */
function isOneLeft(field: string, filling: Filling): boolean {
  const { [field]: list, found, ...others } = filling.values
  if (!Array.isArray(list)) return false
  const isOnly = !Object.values(others).some((value) => Array.isArray(value))
  return isCounted(list.length + 1, field, filling) || (isOnly && found === list.length + 1)
}

/** Whether a number that is named after a list, as `devices_found`, is this one. */
const isCounted = (length: number, field: string, { values }: Filling): boolean =>
  Object.entries(values).some(([name, count]) => name.split('_').includes(field) && count === length)

export const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
