import { z } from 'zod'
import type { ToolDefinition } from './define-server.js'

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

/** JSON Schema of a zod object, without `$ref`, the `$schema` tag and the bounds zod adds to every integer. */
export function jsonSchemaOf(schema: z.ZodObject, io: 'input' | 'output'): JsonSchema {
  const known = described[io].get(schema)
  if (known) return known
  const json = z.toJSONSchema(schema, {
    io,
    reused: 'inline',
    override: ({ jsonSchema }) => {
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
    },
  }) as Record<string, unknown>
  delete json.$schema
  described[io].set(schema, json)
  return json
}

export function offeredTool(tool: ToolDefinition): OfferedTool {
  return {
    name: tool.name,
    description: tool.description,
    inputSchema: jsonSchemaOf(tool.input, 'input'),
    readOnly: tool.annotations.readOnly,
  }
}
