import type { ListedServer } from '../../kernel/mcp/list-tools.js'
import { oneLine } from './names.js'
import { createSchemaReader } from './read-schema.js'
import type { ForeignService, Note } from './shape.js'

/** Converts the tool list of an MCP server to a service. */
export function readMcpTools({ title, instructions, tools }: ListedServer): ForeignService {
  const notes: Note[] = []
  return {
    title: oneLine(title),
    description: oneLine(instructions),
    notes,
    tools: tools.map(({ name, description, inputSchema, outputSchema, annotations = {} }) => {
      const origin = `tool ${oneLine(name, 60)}`
      // References of a schema lead into the schema itself.
      const read = (schema: unknown, what: string) =>
        createSchemaReader(schema, (where, what) => notes.push({ where, what })).shapeOf(schema, `${origin}, ${what}`)
      const input = read(inputSchema, 'arguments')
      return {
        name,
        origin,
        description: oneLine(description),
        readOnly: annotations.readOnlyHint,
        destructive: annotations.readOnlyHint !== true && annotations.destructiveHint === true,
        idempotent: annotations.idempotentHint === true,
        input: input.kind === 'record' ? input.fields : new Map(),
        output: outputSchema === undefined ? undefined : read(outputSchema, 'answer'),
        keysOf: new Map(),
        failures: [],
      }
    }),
  }
}
