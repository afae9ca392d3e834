import type { z } from 'zod'
import { entityKinds, meaningOf } from './fields.js'

/** Tools that a description names: a reader needs one way to a key, not all of them. */
const NAMED = 2

/** Of a tool, what its keys concern. */
interface KeyedTool {
  readonly name: string
  readonly input: z.ZodObject
  readonly output: z.ZodObject
  readonly annotations: { readonly readOnly: boolean }
}

interface Declared<T extends KeyedTool> {
  readonly tools: readonly T[]
  readonly entities: Readonly<Record<string, { readonly noun: string }>>
}

/**
 * Returns the tools with descriptions for arguments that are keys and have none. Such a description names the entity of the key, and the
 * tools that show such a key.
 */
export function withSources<T extends KeyedTool>({ tools, entities }: Declared<T>): T[] {
  return tools.map((tool) => {
    const described: Record<string, z.ZodType> = {}
    for (const [name, field] of Object.entries(tool.input.shape) as [string, z.ZodType][]) {
      const { entity } = meaningOf(field)
      if (entity === undefined || descriptionOf(field) !== undefined) continue
      described[name] = field.describe(sentence(entities[entity]?.noun ?? entity, sourcesOf(entity, tool, tools)))
    }
    return Object.keys(described).length === 0 ? tool : { ...tool, input: tool.input.extend(described) }
  })
}

/** A field's own description, also of the field within `optional`. */
export function descriptionOf(field: z.ZodType): string | undefined {
  return (
    field.description ?? (field.isOptional() ? (field as z.ZodOptional<z.ZodType>).unwrap?.().description : undefined)
  )
}

/** First the tools that only read. */
function sourcesOf(entity: string, consumer: KeyedTool, tools: readonly KeyedTool[]): string[] {
  const sources = tools.filter((tool) => tool !== consumer && entityKinds(tool.output).has(entity))
  const [reading, writing] = [true, false].map((readOnly) =>
    sources.filter(({ annotations }) => annotations.readOnly === readOnly),
  ) as [KeyedTool[], KeyedTool[]]
  return [...reading, ...writing].slice(0, NAMED).map(({ name }) => name)
}

const sentence = (noun: string, sources: readonly string[]): string =>
  `Key of the ${noun}${sources.length > 0 ? `, from ${sources.join(' or ')}` : ''}.`
