import type { OfferedTool } from '../../../servers/kernel/index.js'

type Schema = Readonly<Record<string, unknown>>

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * Converts the parameters of a client's tool to the form of the environments' schemas, which chat templates expect. Agent frameworks write
 * an optional parameter of OpenAI's strict mode as nullable: the result has only the other type.
 */
export function plainParameters(parameters: Schema | null | undefined): OfferedTool['inputSchema'] {
  const properties = isSchema(parameters?.properties) ? parameters.properties : {}
  const plain = Object.entries(properties).map(([name, schema]) => [name, isSchema(schema) ? notNull(schema) : schema])
  return { type: 'object', ...parameters, properties: Object.fromEntries(plain) } as OfferedTool['inputSchema']
}

/** Removes null from a schema with one other type. */
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
