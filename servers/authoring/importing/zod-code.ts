import { namedEntity, ownKey, recordName } from './entities.js'
import { fieldNames, singularOf } from './names.js'
import type { Field, Shape } from './shape.js'

/** A text as JavaScript has it. JSON's form is that, for the text holds no line separators: `oneLine` took them out. */
export function literal(text: string): string {
  const json = JSON.stringify(text)
  if (text.includes("'") || json.includes('\\')) return json
  return `'${json.slice(1, -1)}'`
}

const WORD = /^[A-Za-z_$][\w$]*$/
/** Quoted where it must be. */
export const property = (name: string): string => (WORD.test(name) ? name : literal(name))

export interface CodeOptions {
  /** Entities by name: fields that carry the key of one are marked so. */
  readonly entities: ReadonlySet<string>
  /** `key`: marked by `ref`. `text`: as rows have it. */
  readonly keys: 'key' | 'text'
  readonly indent: string
}

/**
 * A schema of zod, as code.
 * @param called  what the field that holds it is called
 */
export function shapeCode(shape: Shape, options: CodeOptions, called?: string): string {
  switch (shape.kind) {
    case 'text':
      return textCode(shape)
    case 'choice':
      return choiceCode(shape.values)
    case 'number':
      return `${shape.isInteger ? 'z.int()' : 'z.number()'}${limits('min', shape.least)}${limits('max', shape.most)}`
    case 'flag':
      return 'z.boolean()'
    case 'list':
      return `z.array(${shapeCode(shape.element, options, called === undefined ? undefined : singularOf(called))})`
    case 'open':
      return 'z.record(z.string(), z.unknown())'
    case 'record':
      return `z.object(${fieldsCode(shape.fields, { ...options, owner: recordName(shape, called) })})`
  }
}

/**
 * The fields of an object, as code between braces.
 * @param owner  the entity that the object is, so that its `id` is known as its key
 */
export function fieldsCode(
  fields: ReadonlyMap<string, Field>,
  options: CodeOptions & { readonly owner: string | undefined; readonly keysOf?: ReadonlyMap<string, string> },
): string {
  if (fields.size === 0) return '{}'
  const names = fieldNames(fields.keys())
  const own = options.owner === undefined ? undefined : ownKey(fields, options.owner)
  const isOwn = own !== undefined && options.entities.has(options.owner!)
  const inner = { ...options, indent: `${options.indent}  ` }
  const lines = [...fields].map(([name, field]) => {
    const entity = isOwn && name === own ? options.owner : (options.keysOf?.get(name) ?? namedEntity(name, field.shape))
    return `${inner.indent}${property(names.get(name)!)}: ${fieldCode(name, field, entity, inner)},`
  })
  return `{\n${lines.join('\n')}\n${options.indent}}`
}

function fieldCode(name: string, field: Field, entity: string | undefined, options: CodeOptions): string {
  const { shape, description } = field
  const optional = `${field.isNullable ? '.nullable()' : ''}${field.isRequired ? '' : '.optional()'}`
  const said = description === '' ? '' : literal(description)
  if (entity !== undefined && options.entities.has(entity)) {
    const key = options.keys === 'text' ? 'z.string()' : `ref(${literal(entity)}`
    const closed = options.keys === 'text' ? key : `${key}${said === '' || shape.kind === 'list' ? '' : `, ${said}`})`
    if (shape.kind !== 'list') return `${closed}${optional}`
    return `z.array(${closed})${optional}${said === '' || options.keys === 'text' ? '' : `.describe(${said})`}`
  }
  return `${shapeCode(shape, options, name)}${optional}${said === '' || options.keys === 'text' ? '' : `.describe(${said})`}`
}

type TextShape = Extract<Shape, { readonly kind: 'text' }>

function textCode({ format, least, most }: TextShape): string {
  const made = {
    date: 'z.iso.date()',
    datetime: 'z.iso.datetime()',
    email: 'z.email()',
    url: 'z.url()',
    plain: `z.string()`,
  }[format ?? 'plain']
  // A date is as long as dates are.
  return format === 'date' || format === 'datetime' ? made : `${made}${limits('min', least)}${limits('max', most)}`
}

const limits = (method: 'min' | 'max', value: number | undefined): string =>
  value === undefined ? '' : `.${method}(${value})`

const choiceCode = (values: readonly (string | number)[]): string =>
  values.every((value) => typeof value === 'string')
    ? `z.enum([${values.map(literal).join(', ')}])`
    : `z.literal([${values.map((value) => (typeof value === 'string' ? literal(value) : value)).join(', ')}])`
