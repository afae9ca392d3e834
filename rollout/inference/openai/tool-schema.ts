import type { OfferedTool } from '../../../servers/kernel/index.js'

type Schema = Readonly<Record<string, unknown>>

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * The parameters of a client's tool in the words that the worlds' schemas have, which is what chat templates were made for. Agent frameworks
 * write an optional parameter of OpenAI's strict mode as one that may be null: here it has its one other type.
 */
export function plainParameters(parameters: Schema | null | undefined): OfferedTool['inputSchema'] {
  const properties = isSchema(parameters?.properties) ? parameters.properties : {}
  const plain = Object.entries(properties).map(([name, schema]) => [name, isSchema(schema) ? notNull(schema) : schema])
  return { type: 'object', ...parameters, properties: Object.fromEntries(plain) } as OfferedTool['inputSchema']
}

/** The schema without its null, where one other type is left. */
function notNull(schema: Schema): Schema {
  const { type, anyOf, ...rest } = schema
  if (Array.isArray(type)) {
    const [only, ...more] = type.filter((one) => one !== 'null')
    return more.length === 0 && only !== undefined ? { ...schema, type: only } : schema
  }
  if (type !== undefined || !Array.isArray(anyOf)) return schema
  const [only, ...more] = anyOf.filter((one) => isSchema(one) && one.type !== 'null')
  return more.length === 0 && only !== undefined ? { ...rest, ...only } : schema
}
