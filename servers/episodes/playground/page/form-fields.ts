import type { JsonSchema } from '../../../kernel/index.js'

/** Form field for one argument of a tool. */
export interface FormField {
  readonly name: string
  readonly kind: 'text' | 'number' | 'choice' | 'switch' | 'json'
  readonly required: boolean
  readonly description: string
  /** Options of a choice; empty for other kinds. */
  readonly values: readonly string[]
  /** Short description of the accepted values; empty: any text. */
  readonly form: string
}

type Property = {
  readonly type?: unknown
  readonly enum?: unknown
  readonly description?: unknown
  readonly [keyword: string]: unknown
}

/** Returns the form fields for the arguments of a tool, in the order of its schema. */
export function fieldsOf(schema: JsonSchema): FormField[] {
  const properties = (schema.properties ?? {}) as Readonly<Record<string, Property>>
  const required = (schema.required ?? []) as readonly string[]
  return Object.entries(properties).map(([name, property]) => ({
    name,
    kind: kindOf(property),
    required: required.includes(name),
    description: typeof property.description === 'string' ? property.description : '',
    values: Array.isArray(property.enum) ? property.enum.map(String) : [],
    form: formOf(property),
  }))
}

function kindOf({ type, enum: values }: Property): FormField['kind'] {
  if (Array.isArray(values) && values.every((value) => typeof value === 'string')) return 'choice'
  if (type === 'integer' || type === 'number') return 'number'
  if (type === 'boolean') return 'switch'
  return type === 'string' ? 'text' : 'json'
}

const BOUNDS = ['format', 'minimum', 'maximum', 'exclusiveMinimum', 'multipleOf', 'minLength', 'maxLength', 'pattern']

function formOf(property: Property): string {
  if (kindOf(property) === 'json') return `JSON: ${JSON.stringify(property)}`
  const bounds = BOUNDS.flatMap((keyword) =>
    property[keyword] === undefined ? [] : [`${keyword} ${String(property[keyword])}`],
  )
  return [property.type === 'string' ? [] : [String(property.type)], bounds].flat().join(', ')
}

/** Result of a filled form: the arguments of a call, or a field that cannot be parsed with the reason. */
export type Filled =
  | { readonly arguments: Readonly<Record<string, unknown>> }
  | { readonly field: string; readonly problem: string }

/**
 * Returns the arguments of a filled form. Empty fields are omitted, so a player can see how an environment answers a missing argument.
 * @param typed  returns the text of a field by its name
 */
export function argumentsOf(fields: readonly FormField[], typed: (name: string) => string): Filled {
  const args: Record<string, unknown> = {}
  for (const { name, kind } of fields) {
    const text = typed(name)
    if (text === '') continue
    if (kind === 'text' || kind === 'choice') {
      args[name] = text
      continue
    }
    try {
      args[name] = JSON.parse(text)
    } catch {
      return { field: name, problem: kind === 'number' ? 'is not a number' : 'is not JSON' }
    }
  }
  return { arguments: args }
}
