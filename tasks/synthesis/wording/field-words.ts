import { z } from 'zod'
import { type Environment, meaningOf, type ToolDefinition } from '../../../servers/kernel/index.js'
import { itemAt } from '../item-at.js'
import { wordList } from './word-list.js'

const named = wordList('field-words', z.record(z.string(), z.string()))

/** Returns what a field asks for, in words. */
export function fieldWords(field: string): string {
  return ownWords(field) ?? field.replaceAll('_', ' ')
}

/** Returns the words of the list, or `undefined` where the name of the field says what it asks for. */
function ownWords(field: string): string | undefined {
  const words = named()
  return Object.hasOwn(words, field) ? words[field] : undefined
}

/** The values a field can take, if it is a choice among few. */
export function choicesOf(tool: ToolDefinition, field: string): string[] {
  let schema: unknown = tool.input.shape[field]
  if (schema instanceof z.ZodOptional) schema = schema.unwrap()
  return schema instanceof z.ZodEnum ? schema.options.map((option) => String(option).replaceAll('_', ' ')) : []
}

/** Returns words for what the assistant asks for: the noun of the entity that a field takes, or the field in words. */
export function askedFor(environment: Environment, tool: ToolDefinition, field: string): string {
  const { entity } = meaningOf(itemAt(tool.input.shape, field))
  const noun = entity === undefined ? undefined : environment.entities[entity]?.noun
  return ownWords(field) ?? noun ?? fieldWords(field)
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

/** Returns a key as people write it: `Maple Room` for `maple-room`. */
export const nameOf = (key: string): string =>
  key
    .split('-')
    .map((word) => itemAt(word, 0).toUpperCase() + word.slice(1))
    .join(' ')
