import { z } from 'zod'

/**
 * Values that all environments share: a city of the gazetteer by name, a street address in one (`12 Rua do Moinho, Lisbon`), a
 * date (YYYY-MM-DD).
 */
export type CommonValue = 'city' | 'address' | 'date'

/** Meaning of a field of a tool's input or output beyond its JSON type. Clients never see it. */
export interface FieldMeaning {
  /** The field contains the key of an entity of this kind. */
  readonly entity?: string
  /** The value means the same in every environment, so the output of one can be the input of another. */
  readonly common?: CommonValue
  /** A secret: a task may use it only if it came from an earlier user turn or tool result (paper, section 3.2). */
  readonly sensitive?: boolean
}

const meanings: z.core.$ZodRegistry<FieldMeaning> = z.registry<FieldMeaning>()

/** Returns a field with the key of an entity. As an input the field consumes the entity, as an output it produces the entity. */
export function ref(entity: string, description?: string): z.ZodString {
  const field = z.string().min(1).max(80)
  return (description ? field.describe(description) : field).register(meanings, { entity })
}

/** Marks a field as sensitive. Apply it last: later schema methods return a copy without the mark. */
export function sensitive<S extends z.ZodType>(field: S): S {
  meanings.add(field, { ...meanings.get(field), sensitive: true })
  return field
}

/** Marks a field whose value other environments understand. Apply it last: later schema methods return a copy without the mark. */
export function common<S extends z.ZodType>(value: CommonValue, field: S): S {
  meanings.add(field, { ...meanings.get(field), common: value })
  return field
}

const knownMeanings = new WeakMap<z.core.$ZodType, FieldMeaning>()

/** Returns the meaning of a field, also through optional, nullable and readonly wrappers. Call it when the declaration is complete. */
export function meaningOf(schema: z.core.$ZodType): FieldMeaning {
  let meaning = knownMeanings.get(schema)
  if (!meaning) {
    meaning = meanings.get(schema as z.ZodType) ?? (isWrapper(schema) ? meaningOf(schema._zod.def.innerType) : {})
    knownMeanings.set(schema, meaning)
  }
  return meaning
}

const knownOptional = new WeakMap<z.ZodType, boolean>()

/** Returns whether a field may be omitted. The answer is cached, because zod finds it by parsing, which is slow. */
export function isOptional(field: z.ZodType): boolean {
  let optional = knownOptional.get(field)
  if (optional === undefined) {
    optional = field.isOptional()
    knownOptional.set(field, optional)
  }
  return optional
}

function isWrapper(schema: z.core.$ZodType): schema is z.core.$ZodOptional | z.core.$ZodNullable | z.core.$ZodReadonly {
  return schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodReadonly
}

/** An entity key found in a tool's output. */
export interface EntityOccurrence {
  readonly entity: string
  readonly key: string
  /** The object that contains the key. */
  readonly within: Readonly<Record<string, unknown>>
}

/** Returns every entity key in `value`, in reading order, as its schema declares. Null and missing keys are skipped. */
export function entitiesIn(
  schema: z.core.$ZodType,
  value: unknown,
  within: Record<string, unknown> = {},
): EntityOccurrence[] {
  if (value === undefined || value === null || entityKinds(schema).size === 0) return []
  const { entity } = meaningOf(schema)
  if (entity !== undefined) return typeof value === 'string' ? [{ entity, key: value, within }] : []
  if (isWrapper(schema)) return entitiesIn(schema._zod.def.innerType, value, within)
  if (schema instanceof z.ZodArray)
    return (value as unknown[]).flatMap((item) => entitiesIn(schema.element, item, within))
  if (schema instanceof z.ZodObject) {
    const record = value as Record<string, unknown>
    return Object.entries(schema.shape).flatMap(([name, field]) => entitiesIn(field as z.ZodType, record[name], record))
  }
  return []
}

const knownKinds = new WeakMap<z.core.$ZodType, ReadonlySet<string>>()

/** Returns the kinds of entity whose keys a schema can contain. */
export function entityKinds(schema: z.core.$ZodType): ReadonlySet<string> {
  let kinds = knownKinds.get(schema)
  if (!kinds) {
    kinds = findKinds(schema)
    knownKinds.set(schema, kinds)
  }
  return kinds
}

function findKinds(schema: z.core.$ZodType): ReadonlySet<string> {
  const { entity } = meaningOf(schema)
  if (entity !== undefined) return new Set([entity])
  if (isWrapper(schema)) return entityKinds(schema._zod.def.innerType)
  if (schema instanceof z.ZodArray) return entityKinds(schema.element as z.ZodType)
  if (schema instanceof z.ZodObject) {
    return new Set(Object.values(schema.shape).flatMap((field) => [...entityKinds(field as z.ZodType)]))
  }
  return new Set()
}

/** A required field that consumes an entity, and the kind of the entity. */
export type RequiredReference = readonly [field: string, entity: string]

const knownReferences = new WeakMap<z.ZodObject, readonly RequiredReference[]>()

/**
 * Returns the required fields of an object schema that consume an entity, with the kind of the entity. A field whose value contains keys of
 * several kinds occurs with each of them. A key counts only if everything that contains it is required too.
 */
export function requiredReferences(schema: z.ZodObject): readonly RequiredReference[] {
  let found = knownReferences.get(schema)
  if (!found) {
    found = Object.entries(schema.shape).flatMap(([name, field]) =>
      [...requiredKinds(field as z.ZodType)].map((entity): RequiredReference => [name, entity]),
    )
    knownReferences.set(schema, found)
  }
  return found
}

/** Returns the kinds of entity whose keys every value of a schema contains. A list counts as if it had an entry. */
function requiredKinds(schema: z.ZodType): ReadonlySet<string> {
  if (entityKinds(schema).size === 0 || isOptional(schema)) return new Set()
  const { entity } = meaningOf(schema)
  if (entity !== undefined) return new Set([entity])
  if (isWrapper(schema)) return requiredKinds(schema._zod.def.innerType as z.ZodType)
  if (schema instanceof z.ZodArray) return requiredKinds(schema.element as z.ZodType)
  if (schema instanceof z.ZodObject)
    return new Set(Object.values(schema.shape).flatMap((field) => [...requiredKinds(field as z.ZodType)]))
  return new Set()
}
