import { z } from 'zod'
import { type Environment, meaningOf, type ToolDefinition } from '../../../servers/kernel/index.js'

/** What a field asks for, in words: fields whose names alone would not tell. */
const NAMED: Readonly<Record<string, string>> = {
  until: 'end date',
  start: 'start time',
  due: 'due date',
  before: 'cut-off date',
  expires: 'expiry date',
  query: 'search term',
  words: 'search phrase',
  text: 'text',
  body: 'text',
  pin: 'PIN',
  percent: 'percentage',
  times: 'number of occurrences',
  stars: 'number of stars',
  minutes: 'number of minutes',
  points: 'number of points',
  packs: 'number of packs',
  bags: 'number of bags',
  kilobytes: 'size in kilobytes',
  lines: 'number of lines',
  nights: 'number of nights',
  degrees: 'temperature',
  counted: 'number counted',
  opening: 'opening in percent',
  position: 'position',
  name: 'name',
  when: 'direction, since or before',
  if_exists: 'way to handle an existing file',
  power: 'state, on or off',
  charging: 'state, on or off',
  child_lock: 'state, on or off',
  part: 'part, first or last',
  limit: 'limit',
  mode: 'mode',
  answer: 'answer',
  duration: 'length in minutes',
  quantity: 'quantity',
  crm_contact: 'contact',
  from_account: 'account to take it from',
  to_account: 'account to move it to',
  from_address: 'starting point',
  to_address: 'destination',
  stop_address: 'stop',
  from_city: 'city of departure',
  to_city: 'city of arrival',
  from_category: 'category to take it from',
  to_category: 'category to give it to',
  from_store: 'store to send it from',
  to_store: 'store to send it to',
  from_contact: 'duplicate contact',
  into_contact: 'contact to keep',
  into_directory: 'target directory',
  other_file: 'second file',
  blocker: 'blocking issue',
  own_listing: 'listing',
  shipping: 'kind of shipping',
  access: 'kind of access',
  fare: 'kind of fare',
  change: 'change, add or remove',
  closed_road: 'road',
}

export function fieldWords(field: string): string {
  return NAMED[field] ?? field.replaceAll('_', ' ')
}

/** The values a field can take, if it is a choice among few. */
export function choicesOf(tool: ToolDefinition, field: string): string[] {
  let schema: unknown = tool.input.shape[field]
  if (schema instanceof z.ZodOptional) schema = schema.unwrap()
  return schema instanceof z.ZodEnum ? schema.options.map((option) => String(option).replaceAll('_', ' ')) : []
}

/** What the assistant asks for: the noun of the entity that a field takes, or the field in words. */
export function askedFor(environment: Environment, tool: ToolDefinition, field: string): string {
  const { entity } = meaningOf(tool.input.shape[field]!)
  const noun = entity === undefined ? undefined : environment.entities[entity]?.noun
  return NAMED[field] ?? noun ?? fieldWords(field)
}

export function plural(noun: string): string {
  if (/person$/.test(noun)) return noun.replace(/person$/, 'people')
  if (/[^aeiou]y$/.test(noun)) return `${noun.slice(0, -1)}ies`
  if (/(s|x|ch|sh)$/.test(noun)) return noun === 'series' ? noun : `${noun}es`
  if (/shelf$/.test(noun)) return noun.replace(/f$/, 'ves')
  return `${noun}s`
}

export const singular = (nouns: string): string =>
  nouns
    .replace(/ies$/, 'y')
    .replace(/(ch|sh|x|ss)es$/, '$1')
    .replace(/s$/, '')

export const withArticle = (noun: string): string => `${/^([aeio]|u(?!se|ni))/.test(noun) ? 'an' : 'a'} ${noun}`

/** `a, b and c`. */
export function listed(items: readonly string[], last = 'and'): string {
  return items.length < 2 ? items.join('') : `${items.slice(0, -1).join(', ')} ${last} ${items.at(-1)}`
}

/** Whether a key is a name with hyphens, such as `maple-room`. */
export const isNameAsKey = (key: string): boolean => /^[a-z]+(-[a-z]+)+$/.test(key)

/** `maple-room` as people write it: Maple Room. */
export const nameOf = (key: string): string =>
  key
    .split('-')
    .map((word) => word[0]!.toUpperCase() + word.slice(1))
    .join(' ')
