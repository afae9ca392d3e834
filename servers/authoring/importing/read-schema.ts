import { ImportError } from './errors.js'
import { IMPORT_LIMITS } from './limits.js'
import { oneLine } from './names.js'
import type { Field, Shape, TextFormat } from './shape.js'

type Json = Readonly<Record<string, unknown>>

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** @returns the value if it is a text, otherwise '' */
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

/**
 * What a JSON pointer of this document (`#/components/schemas/Pet`) shows.
 * @throws ImportError `bad_reference` for what is not there, or outside the document: nothing is ever fetched
 */
function followPointer(document: unknown, reference: string): unknown {
  if (!reference.startsWith('#/') && reference !== '#')
    throw new ImportError(
      'bad_reference',
      `"${oneLine(reference)}" is outside the document, and nothing is fetched; bundle the document into one file first`,
    )
  let found = document
  for (const part of reference.split('/').slice(1)) {
    const key = decoded(part)
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, key))
      throw new ImportError('bad_reference', `"${oneLine(reference)}" refers to nothing`)
    found = (found as Json)[key]
  }
  return found
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~')
  } catch {
    return part
  }
}

export interface SchemaReader {
  /**
   * @param where  for notes: whose schema it is
   * @throws ImportError
   */
  shapeOf(schema: unknown, where: string): Shape
  /**
   * The value, or what it refers to.
   * @throws ImportError
   */
  resolved(value: unknown): unknown
}

interface Place {
  readonly where: string
  /** Levels of what is written down. */
  readonly depth: number
  /** Levels of the schema, which may say the same thing in a hundred of them. */
  readonly nesting: number
  /** References that are being followed, to detect cycles. */
  readonly within: readonly string[]
}

/**
 * Reads schemas of one document.
 * @param document  what references are looked up in
 * @param note  takes what could not be taken as it is
 */
export function createSchemaReader(document: unknown, note: (text: string) => void): SchemaReader {
  /** Parts that the schema at hand may still have. */
  let left = 0

  function resolved(value: unknown): unknown {
    let found = value
    for (let hops = 0; isObject(found) && typeof found.$ref === 'string'; hops++) {
      if (hops === IMPORT_LIMITS.schemaDepth)
        throw new ImportError('bad_reference', `"${oneLine(found.$ref)}" refers to itself`)
      found = followPointer(document, found.$ref)
    }
    return found
  }

  function read(schema: unknown, place: Place, name?: string): { shape: Shape; isNullable: boolean } {
    left--
    if (left === 0)
      note(`${place.where}: its schema has more than ${IMPORT_LIMITS.schemaParts} parts; the rest is left out`)
    if (left <= 0) return { shape: { kind: 'open' }, isNullable: false }
    if (place.nesting > IMPORT_LIMITS.schemaNesting)
      throw new ImportError('too_large', `${place.where}: nested more than ${IMPORT_LIMITS.schemaNesting} times`)
    if (!isObject(schema)) return { shape: { kind: 'open' }, isNullable: false }
    if (typeof schema.$ref === 'string') {
      const { $ref: reference } = schema
      if (place.within.includes(reference)) {
        note(`${place.where}: ${oneLine(reference)} contains itself; the draft says "any object" there`)
        return { shape: { kind: 'open' }, isNullable: false }
      }
      const called = decoded(reference.split('/').at(-1)!)
      return read(followPointer(document, reference), { ...inner(place), within: [...place.within, reference] }, called)
    }
    const types = Array.isArray(schema.type) ? schema.type : schema.type === undefined ? [] : [schema.type]
    const isNullable = schema.nullable === true || types.includes('null')
    const alternatives = schema.oneOf ?? schema.anyOf
    if (Array.isArray(alternatives)) {
      const real = alternatives.filter((one) => !isObject(one) || one.type !== 'null')
      if (real.length > 1) note(`${place.where}: one of ${real.length} shapes; the draft has the first`)
      const chosen = read(real[0] ?? {}, inner(place), name)
      return { ...chosen, isNullable: chosen.isNullable || isNullable || real.length < alternatives.length }
    }
    return {
      shape: shapeOfType(
        schema,
        types.find((type) => type !== 'null'),
        place,
        name,
      ),
      isNullable,
    }
  }

  function shapeOfType(schema: Json, type: unknown, place: Place, name: string | undefined): Shape {
    const values = schema.const === undefined ? schema.enum : [schema.const]
    if (Array.isArray(values)) {
      const choice = choiceOf(values)
      if (choice) return choice
      if (type === undefined || type === 'string')
        note(`${place.where}: ${values.length} values to choose from; the draft takes any text`)
    }
    const isRecord = type === 'object' || isObject(schema.properties) || Array.isArray(schema.allOf)
    if (isRecord) return recordOf(schema, place, name)
    if (type === 'array') {
      const element = place.depth >= IMPORT_LIMITS.schemaDepth ? undefined : schema.items
      const { shape } = read(element ?? {}, { ...inner(place), depth: place.depth + 1 })
      return { kind: 'list', element: shape }
    }
    if (type === 'boolean') return { kind: 'flag' }
    if (type === 'integer' || type === 'number')
      return {
        kind: 'number',
        isInteger: type === 'integer',
        ...bound('least', schema.minimum),
        ...bound('most', schema.maximum),
      }
    if (type !== 'string') note(`${place.where}: its type is not said; the draft takes a text`)
    if (typeof schema.pattern === 'string')
      note(`${place.where}: must match ${oneLine(schema.pattern, 80)}, which the draft does not ask for`)
    const format = FORMATS[textOf(schema.format)]
    return {
      kind: 'text',
      ...(format === undefined ? {} : { format }),
      ...bound('least', schema.minLength),
      ...bound('most', schema.maxLength),
    }
  }

  function recordOf(schema: Json, place: Place, name: string | undefined): Shape {
    if (place.depth >= IMPORT_LIMITS.schemaDepth) {
      note(`${place.where}: is deeper than ${IMPORT_LIMITS.schemaDepth} levels; the draft has "any object" there`)
      return { kind: 'open' }
    }
    const fields = new Map<string, Field>()
    for (const part of Array.isArray(schema.allOf) ? schema.allOf : []) {
      const { shape } = read(part, inner(place))
      if (shape.kind === 'record') for (const [field, said] of shape.fields) fields.set(field, said)
    }
    const required = new Set(Array.isArray(schema.required) ? schema.required : [])
    for (const [field, said] of Object.entries(isObject(schema.properties) ? schema.properties : {})) {
      const where = `${place.where}, ${oneLine(field, 40)}`
      const { shape, isNullable } = read(said, { ...inner(place), where, depth: place.depth + 1 })
      const about = resolved(said)
      const description = isObject(about) ? oneLine(textOf(about.description)) : ''
      fields.set(field, { shape, isRequired: required.has(field), isNullable, description })
    }
    // Required by one part of an allOf and described by another.
    for (const [field, said] of fields) if (required.has(field)) fields.set(field, { ...said, isRequired: true })
    if (fields.size > IMPORT_LIMITS.fields) {
      note(
        `${place.where}: has ${fields.size} fields; the draft leaves out those after the first ${IMPORT_LIMITS.fields}`,
      )
      for (const field of [...fields.keys()].slice(IMPORT_LIMITS.fields)) fields.delete(field)
    }
    if (fields.size === 0) return { kind: 'open' }
    return { kind: 'record', fields, ...(name === undefined ? {} : { name }) }
  }

  return {
    resolved,
    shapeOf(schema, where) {
      left = IMPORT_LIMITS.schemaParts
      return read(schema, { where, depth: 0, nesting: 0, within: [] }).shape
    },
  }
}

const inner = (place: Place): Place => ({ ...place, nesting: place.nesting + 1 })

const FORMATS: Readonly<Record<string, TextFormat | undefined>> = {
  date: 'date',
  'date-time': 'datetime',
  email: 'email',
  uri: 'url',
  url: 'url',
}

function choiceOf(values: readonly unknown[]): Shape | undefined {
  const stated = values.filter((value) => value !== null)
  const isSimple = stated.every((value) => typeof value === 'string' || Number.isFinite(value))
  if (!isSimple || stated.length === 0 || stated.length > IMPORT_LIMITS.enumValues) return undefined
  return { kind: 'choice', values: [...new Set(stated as (string | number)[])] }
}

const bound = <K extends string>(name: K, value: unknown): { [k in K]?: number } =>
  (Number.isFinite(value) ? { [name]: value } : {}) as { [k in K]?: number }
