import { z } from 'zod'
import { type Environment, meaningOf, type ToolDefinition } from '../../../servers/kernel/index.js'
import { itemAt } from '../item-at.js'
import { phraseLists } from './phrase-lists.js'

const named = phraseLists('field-words', z.record(z.string(), z.string()))

function choiceIn(schema: unknown): z.ZodEnum | undefined {
  if (schema instanceof z.ZodOptional) return choiceIn(schema.unwrap())
  return schema instanceof z.ZodEnum ? schema : undefined
}

/** Returns whether a field takes one of several words. */
export const isChoice = (schema: unknown): boolean => choiceIn(schema) !== undefined

/** Returns the values that a field can take if it is a choice among few, in words. */
export const choicesOf = (tool: ToolDefinition, field: string): string[] =>
  (choiceIn(tool.input.shape[field])?.options ?? []).map((option) => String(option).replaceAll('_', ' '))

/** Returns words for what the assistant asks for: those of the list, the noun of the entity, or the name of the field. */
export function askedFor(environment: Environment, tool: ToolDefinition, field: string): string {
  const { entity } = meaningOf(itemAt(tool.input.shape, field))
  const noun = entity === undefined ? undefined : environment.entities[entity]?.noun
  const words = named()
  return (Object.hasOwn(words, field) ? words[field] : undefined) ?? noun ?? field.replaceAll('_', ' ')
}
