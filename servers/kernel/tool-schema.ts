import { z } from 'zod'
import type { ToolDefinition } from './define-environment.js'

/** A JSON Schema as clients and the policy see it. */
export type JsonSchema = { readonly [keyword: string]: unknown }

/** A tool as it is offered to a policy: exactly what MCP's `tools/list` shows of it. */
export interface OfferedTool {
  readonly name: string
  readonly description: string
  readonly inputSchema: JsonSchema
  readonly readOnly: boolean
}

const described = { input: new WeakMap<z.ZodObject, JsonSchema>(), output: new WeakMap<z.ZodObject, JsonSchema>() }

/**
 * Returns the JSON Schema of a zod object. It omits `$ref`, the `$schema` tag and the bounds that zod adds to every integer. It also omits
 * the pattern of dates, which says in 200 characters what `format` says in one word.
 */
export function jsonSchemaOf(schema: z.ZodObject, io: 'input' | 'output'): JsonSchema {
  const known = described[io].get(schema)
  if (known) return known
  const json = z.toJSONSchema(schema, {
    io,
    reused: 'inline',
    override: ({ jsonSchema }) => {
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
      if (jsonSchema.format === 'date') delete jsonSchema.pattern
    },
  }) as Record<string, unknown>
  delete json.$schema
  described[io].set(schema, json)
  return json
}

/**
 * Returns a tool as it is offered to a policy.
 * @param stripEnums  leaves the values of enums out of the schema, as the paper does for a share of the tasks. The
 *   policy then has to take them from the conversation. The tool accepts the same values either way
 */
export function offeredTool(tool: ToolDefinition, stripEnums = false): OfferedTool {
  const inputSchema = jsonSchemaOf(tool.input, 'input')
  return {
    name: tool.name,
    description: tool.description,
    inputSchema: stripEnums ? (withoutEnums(inputSchema) as JsonSchema) : inputSchema,
    readOnly: tool.annotations.readOnly,
  }
}

/** Fields may be called `enum`: only lists of values are taken out. */
function withoutEnums(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutEnums)
  if (typeof schema !== 'object' || schema === null) return schema
  const kept = Object.entries(schema).filter(([keyword, value]) => keyword !== 'enum' || !Array.isArray(value))
  return Object.fromEntries(kept.map(([keyword, value]) => [keyword, withoutEnums(value)]))
}
