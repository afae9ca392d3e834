import { z } from 'zod'
import { QUESTION_LIMITS } from '../../../rollout/episode/index.js'
import {
  descriptionOf,
  type Environment,
  isOptional,
  meaningOf,
  type ToolDefinition,
} from '../../../servers/kernel/index.js'
import { itemAt } from '../item-at.js'
import { askedFor, choicesOf } from './field-words.js'
import { phraseLists, texts } from './phrase-lists.js'

const lists = phraseLists(
  'question-words',
  z.strictObject({
    empty: z.string().transform((words) => new Set(words.split(' '))),
    also: z.array(
      z.strictObject({ of: texts.transform((names) => new RegExp(`\\b(${names.join('|')})\\b`)), words: texts }),
    ),
    open: texts,
    confirming: texts,
  }),
)

/** Returns the words in which an assistant can ask whether to go on. */
export const confirmingWords = (): string[] => [...lists().confirming]

/** Returns the words in which an assistant can ask for a field, the plainest first. */
export function wordsFor(environment: Environment, tool: ToolDefinition, field: string): string[] {
  const { empty, also } = lists()
  const schema = itemAt(tool.input.shape, field)
  const asked = itemAt(askedFor(environment, tool, field).split(','), 0)
  const { entity } = meaningOf(schema)
  const noun = entity === undefined ? undefined : environment.entities[entity]?.noun
  const names = [asked, noun ?? '', field.replaceAll('_', ' ')].map(plain).filter((text) => text !== '')
  // What a description gives as an example names nothing.
  const described = itemAt((descriptionOf(schema) ?? '').split(/[;:("`]|such as|for example|e\.g\./), 0)
  const about = plain(`${names.join(' ')} ${described}`)
  // What names another field asks for that one.
  const others = Object.keys(tool.input.shape).flatMap((other) =>
    other === field ? [] : plain(`${other.replaceAll('_', ' ')} ${askedFor(environment, tool, other)}`).split(' '),
  )
  const own = names.flatMap((name) => name.split(' '))
  const isTelling = (word: string): boolean => word.length > 2 && !empty.has(word)
  const telling = about.split(' ').filter((word) => isTelling(word) && (own.includes(word) || !others.includes(word)))
  // Its values name a choice only where they are few; a yes or no among them would be in every answer.
  const choices = choicesOf(tool, field).map(plain).filter(isTelling)
  const synonyms = also.flatMap(({ of, words }) => (of.test(names.join(' ')) ? words : []))
  return bounded([...names, ...synonyms, ...telling, ...choices])
}

/** Returns the words in which an assistant can ask what a request is about that names no detail. */
export function wordsForAll(environment: Environment, tool: ToolDefinition): string[] {
  const required = Object.entries(tool.input.shape).flatMap(([field, schema]) => (isOptional(schema) ? [] : [field]))
  return bounded([...lists().open, ...required.flatMap((field) => wordsFor(environment, tool, field).slice(0, 8))])
}

const plain = (text: string): string => (text.toLowerCase().match(/[a-z0-9]+/g) ?? []).join(' ')

const bounded = (words: readonly string[]): string[] =>
  [...new Set(words)]
    .filter(({ length }) => length > 0 && length <= QUESTION_LIMITS.wordChars)
    .slice(0, QUESTION_LIMITS.words)
