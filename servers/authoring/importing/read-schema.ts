import { IMPORT_LIMITS } from './limits.js'
import { oneLine } from './names.js'
import { followPointer, isObject, type Json, lastPart, resolve, textOf } from './references.js'
import type { Field, Shape, TakeNote, TextFormat } from './shape.js'

export interface SchemaReader {
  /**
   * Reads a schema. Never throws: unreadable parts become "any object", with a note.
   * @param where  owner of the schema, for notes
   */
  shapeOf(schema: unknown, where: string): Shape
  /** Returns a value or the target of its reference; undefined, with a note, if the reference has no target. */
  resolved(value: unknown, where: string): unknown
}

interface Place {
  readonly where: string
  /** Levels of the draft. */
  readonly depth: number
  /** Levels of the schema, which may express one level of the draft in a hundred. */
  readonly nesting: number
  /** References that are being followed, to detect cycles. */
  readonly within: readonly string[]
}

interface Read {
  readonly shape: Shape
  readonly isNullable: boolean
}

const OPEN: Read = { shape: { kind: 'open' }, isNullable: false }
const TYPES: ReadonlySet<unknown> = new Set(['object', 'array', 'string', 'integer', 'number', 'boolean', 'null'])
/** Keywords with conditions that a draft does not express. */
const CONDITIONS = ['not', 'if', 'dependentRequired', 'dependentSchemas']

/**
 * Creates a reader of the schemas of one document.
 * @param document  the document in which references are looked up
 * @param note  receives the omissions and guesses
 */
export function createSchemaReader(document: unknown, note: TakeNote): SchemaReader {
  /** Parts that the current schema may still have. */
  let left = 0

  function resolved(value: unknown, where: string): unknown {
    const target = resolve(document, value)
    if ('found' in target) return target.found
    note(where, `${target.problem}; it is left out`)
    return undefined
  }

  /** Returns the target of a reference, or undefined without a note. */
  const quietly = (value: unknown): unknown => {
    const target = resolve(document, value)
    return 'found' in target ? target.found : undefined
  }

  function read(schema: unknown, place: Place, name?: string): Read {
    const { where, nesting, within } = place
    left--
    if (left === 0) note(where, `its schema has more than ${IMPORT_LIMITS.schemaParts} parts; the rest is left out`)
    if (left <= 0 || !isObject(schema)) return OPEN
    if (nesting > IMPORT_LIMITS.schemaNesting) {
      note(where, `nested more than ${IMPORT_LIMITS.schemaNesting} times; the draft has "any object" there`)
      return OPEN
    }
    if (typeof schema.$ref !== 'string') return readOwn(schema, place, name)
    const { $ref: reference } = schema
    const target = within.includes(reference)
      ? { problem: `${oneLine(reference)} contains itself` }
      : followPointer(document, reference)
    if ('problem' in target) {
      note(where, `${target.problem}; the draft has "any object" there`)
      return OPEN
    }
    const found = read(target.found, { ...inner(place), within: [...within, reference] }, lastPart(reference))
    return { ...found, isNullable: found.isNullable || schema.nullable === true }
  }

  function readOwn(schema: Json, place: Place, name: string | undefined): Read {
    const conditions = CONDITIONS.filter((keyword) => schema[keyword] !== undefined)
    if (conditions.length > 0)
      note(place.where, `has conditions (${conditions.join(', ')}) that the draft does not check`)
    const types = Array.isArray(schema.type) ? schema.type : schema.type === undefined ? [] : [schema.type]
    const alternatives = [schema.oneOf, schema.anyOf].flatMap((list): unknown[] => (Array.isArray(list) ? list : []))
    const real = alternatives.filter((one) => !isObject(one) || one.type !== 'null')
    const isNullable =
      schema.nullable === true ||
      types.includes('null') ||
      real.length < alternatives.length ||
      (Array.isArray(schema.enum) && schema.enum.includes(null))
    const isRecord =
      types.includes('object') ||
      isObject(schema.properties) ||
      (Array.isArray(schema.allOf) && schema.allOf.length > 0)
    let found: Read
    if (isRecord) found = readRecord(schema, real, place, name)
    else if (real.length > 0) found = readAlternative(schema, real, place, name)
    else found = { shape: simpleShape(schema, types, place), isNullable: false }
    return { shape: found.shape, isNullable: found.isNullable || isNullable }
  }

  /** Reads a schema with alternatives and without fields. The own type of the schema applies to each of them. */
  function readAlternative({ type, items }: Json, real: readonly unknown[], place: Place, name?: string): Read {
    const own = { ...(type === undefined ? {} : { type }), ...(items === undefined ? {} : { items }) }
    const withOwn = (one: unknown): unknown => (isObject(one) && one.$ref === undefined ? { ...own, ...one } : one)
    const values = real.map((one) => valuesOf(quietly(one)))
    const choice = values.every((list) => list !== undefined) ? choiceOf(values.flat()) : undefined
    if (choice) return { shape: choice, isNullable: values.flat().includes(null) }
    // Known values next to any text, as documents write lists that will grow.
    if (values.some((list) => list !== undefined) && real.every((one, i) => values[i] ?? isText(quietly(one))))
      return { shape: { kind: 'text' }, isNullable: false }
    if (real.length > 1) note(place.where, `one of ${real.length} shapes; the draft has the first`)
    return read(withOwn(real[0]), inner(place), name)
  }

  function simpleShape(schema: Json, types: readonly unknown[], place: Place): Shape {
    const stated = types.filter((type) => type !== 'null')
    const [type] = stated
    if (stated.length > 1)
      note(place.where, `one of the types ${oneLine(stated.join(', '), 60)}; the draft has the first`)
    const values = valuesOf(schema)
    const choice = values && choiceOf(values)
    if (choice) return choice
    if (values && (type === undefined || type === 'string'))
      note(place.where, `${values.length} values to choose from; the draft takes any text`)
    if (type === 'array') {
      if (place.depth >= IMPORT_LIMITS.schemaDepth) return { kind: 'list', element: tooDeep(place).shape }
      const { shape } = read(schema.items ?? {}, { ...inner(place), depth: place.depth + 1 })
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
    if (type === undefined) note(place.where, `its type is not said; the draft takes a text`)
    else if (!TYPES.has(type))
      note(place.where, `the type ${oneLine(String(type), 40)} is unknown; the draft takes a text`)
    if (typeof schema.pattern === 'string')
      note(place.where, `must match ${oneLine(schema.pattern, 80)}, which the draft does not ask for`)
    const format = FORMATS[textOf(schema.format)]
    return {
      kind: 'text',
      ...(format === undefined ? {} : { format }),
      ...bound('least', schema.minLength),
      ...bound('most', schema.maxLength),
    }
  }

  /** Reads an object, with the fields of all parts of `allOf` and, as optional ones, of its alternatives. */
  function readRecord(schema: Json, alternatives: readonly unknown[], place: Place, name: string | undefined): Read {
    if (place.depth >= IMPORT_LIMITS.schemaDepth) return tooDeep(place)
    const fields = new Map<string, Field>()
    const required = new Set(namesIn(schema.required))
    const parts = (Array.isArray(schema.allOf) ? schema.allOf : []).map((part) => {
      for (const field of namesIn((quietly(part) as Json | undefined)?.required)) required.add(field)
      return isConstraint(part) ? OPEN : read(part, inner(place))
    })
    for (const { shape } of parts)
      if (shape.kind === 'record') for (const [field, said] of shape.fields) fields.set(field, said)
    for (const [field, said] of Object.entries(isObject(schema.properties) ? schema.properties : {}))
      fields.set(field, readField(said, { ...place, where: `${place.where}, ${oneLine(field, 40)}` }))
    addAlternatives(fields, alternatives, place)
    // Required by one part of an allOf and described by another.
    for (const [field, said] of fields) if (required.has(field)) fields.set(field, { ...said, isRequired: true })
    if (fields.size > IMPORT_LIMITS.fields) {
      note(place.where, `has ${fields.size} fields; the draft leaves out those after the first ${IMPORT_LIMITS.fields}`)
      for (const field of [...fields.keys()].slice(IMPORT_LIMITS.fields)) fields.delete(field)
    }
    // An allOf with one reference is how a description is put next to it: a text or a list stays what it is.
    const [only] = parts.filter(({ shape }) => shape.kind !== 'open')
    if (fields.size === 0) return only ?? OPEN
    const called = name ?? (only?.shape.kind === 'record' && parts.length === 1 ? only.shape.name : undefined)
    const isNullable = parts.length === 1 && parts[0]!.isNullable
    return { shape: { kind: 'record', fields, ...(called === undefined ? {} : { name: called }) }, isNullable }
  }

  function tooDeep({ where }: Place): Read {
    note(where, `is deeper than ${IMPORT_LIMITS.schemaDepth} levels; the draft has "any object" there`)
    return OPEN
  }

  function readField(said: unknown, place: Place): Field {
    const { shape, isNullable } = read(said, { ...inner(place), depth: place.depth + 1 })
    const about = [said, quietly(said)].map((one) => (isObject(one) ? textOf(one.description) : ''))
    return { shape, isRequired: false, isNullable, description: oneLine(about.find((text) => text !== '') ?? '') }
  }

  /** Adds the fields of alternatives next to fields, and notes the condition between them. */
  function addAlternatives(fields: Map<string, Field>, alternatives: readonly unknown[], place: Place): void {
    if (alternatives.length === 0) return
    const chosen = alternatives.slice(0, IMPORT_LIMITS.enumValues)
    const groups = chosen.map((one) => {
      const { shape } = isConstraint(one) ? OPEN : read(one, inner(place))
      if (shape.kind === 'record')
        for (const [field, said] of shape.fields)
          if (!fields.has(field)) fields.set(field, { ...said, isRequired: false })
      return namesIn((quietly(one) as Json | undefined)?.required).join(' and ')
    })
    const named = [...new Set(groups.filter((group) => group !== ''))].join('; or ')
    const what = named === '' ? `one of ${alternatives.length} shapes` : `needs ${oneLine(named, 120)}`
    note(place.where, `${what}; the draft has the fields of all of them and does not check that`)
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

/** Tests whether a schema only constrains the fields of others, such as `{ required: [name] }`. */
const isConstraint = (schema: unknown): boolean =>
  isObject(schema) &&
  !['$ref', 'type', 'properties', 'allOf', 'oneOf', 'anyOf', 'enum', 'const'].some((key) => key in schema)

const isText = (schema: unknown): boolean => isObject(schema) && schema.type === 'string'

const namesIn = (list: unknown): string[] =>
  Array.isArray(list) ? list.filter((name): name is string => typeof name === 'string') : []

const FORMATS: Readonly<Record<string, TextFormat | undefined>> = {
  date: 'date',
  'date-time': 'datetime',
  email: 'email',
  uri: 'url',
  url: 'url',
}

/** Returns the values that a schema allows; undefined if it does not list them. */
function valuesOf(schema: unknown): readonly unknown[] | undefined {
  if (!isObject(schema)) return undefined
  if (schema.const !== undefined) return [schema.const]
  return Array.isArray(schema.enum) ? schema.enum : undefined
}

function choiceOf(values: readonly unknown[]): Shape | undefined {
  const stated = values.filter((value) => value !== null)
  const isSimple = stated.every((value) => typeof value === 'string' || Number.isFinite(value))
  if (!isSimple || stated.length === 0 || stated.length > IMPORT_LIMITS.enumValues) return undefined
  return { kind: 'choice', values: [...new Set(stated as (string | number)[])] }
}

const bound = <K extends string>(name: K, value: unknown): { [k in K]?: number } =>
  (Number.isFinite(value) ? { [name]: value } : {}) as { [k in K]?: number }
