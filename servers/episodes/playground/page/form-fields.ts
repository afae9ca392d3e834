import type { JsonSchema } from '../../../kernel/index.js'

/** One argument of a tool, as a form asks for it. */
export interface FormField {
  readonly name: string
  readonly kind: 'text' | 'number' | 'choice' | 'switch' | 'json'
  readonly required: boolean
  readonly description: string
  /** Of a choice. */
  readonly values: readonly string[]
  /** What it takes, in few words; empty: any text. */
  readonly form: string
}

type Property = {
  readonly type?: unknown
  readonly enum?: unknown
  readonly description?: unknown
  readonly [keyword: string]: unknown
}

/** The fields of a form for a tool's arguments, in the order of its schema. */
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

/** What a form comes to: the arguments of a call, or the field that cannot be read, with the reason. */
export type Filled =
  | { readonly arguments: Readonly<Record<string, unknown>> }
  | { readonly field: string; readonly problem: string }

/**
 * Empty fields are left out, so that whoever plays can find out what a world says to that.
 * @param typed  what stands in the field of that name
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
