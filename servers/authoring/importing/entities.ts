import { pluralOf, singularOf, snakeName, unused, wordsOf } from './names.js'
import type { Field, ForeignTool, Shape } from './shape.js'

/** Something that has a key: what calls name by it, and what answers show of it. */
export interface Entity {
  readonly name: string
  readonly table: string
  /** The field of the row with the key, by its name in the source. */
  readonly key: string
  readonly fields: ReadonlyMap<string, Field>
  /** A field by which people would name one. */
  readonly label: string | undefined
  /** Whether any answer shows its fields: otherwise nothing is known of it but the key. */
  readonly isShown: boolean
}

/** What other names of the same thing end with. */
const SUFFIX = /_(response|dto|model|resource|details|summary|out|read|schema|object|item)$/
const LABELS = ['name', 'title', 'label', 'subject', 'username', 'summary']

const entityName = (text: string): string => snakeName(text, 'thing').replace(SUFFIX, '')

/** Returns the kind of an object, by its own name or by the name of the field that contains it. */
export const recordName = ({ name }: { readonly name?: string }, called: string | undefined): string | undefined =>
  name !== undefined ? entityName(name) : called === undefined ? undefined : entityName(called)

/** Keys are texts and whole numbers. */
const canBeKey = ({ kind, ...shape }: Shape): boolean =>
  kind === 'text' || (kind === 'number' && (shape as { isInteger?: boolean }).isInteger === true)

/** `petId`, `pet_id`, `petIds`: a name that says whose key it is. */
export function namedEntity(field: string, shape: Shape): string | undefined {
  const inside = shape.kind === 'list' ? shape.element : shape
  const words = wordsOf(field)
  const last = words.at(-1)
  if (words.length < 2 || (last !== 'id' && !(last === 'ids' && shape.kind === 'list'))) return undefined
  return canBeKey(inside) ? words.slice(0, -1).join('_') : undefined
}

/** The field of a record that is its own key: `id`, or `petId` in a pet. */
export function ownKey(fields: ReadonlyMap<string, Field>, entity: string): string | undefined {
  return [...fields].find(
    ([name, { shape }]) => canBeKey(shape) && (/^(id|uuid|key)$/i.test(name) || namedEntity(name, shape) === entity),
  )?.[0]
}

interface Seen {
  readonly fields: Map<string, Field>
  key: string | undefined
}

/**
 * The entities of a service, by what its calls take and answer.
 * @param tools  their records need not be named: `pets: [{ id, … }]` shows pets
 */
export function entitiesOf(tools: readonly ForeignTool[]): ReadonlyMap<string, Entity> {
  const seen = new Map<string, Seen>()
  const look = (shape: Shape, called: string | undefined): void => {
    if (shape.kind === 'list') look(shape.element, called === undefined ? undefined : singularOf(called))
    if (shape.kind !== 'record') return
    const name = recordName(shape, called)
    const key = name === undefined ? undefined : ownKey(shape.fields, name)
    if (name !== undefined && key !== undefined) {
      const entity = seen.get(name) ?? { fields: new Map(), key }
      for (const [field, said] of shape.fields) if (!entity.fields.has(field)) entity.fields.set(field, said)
      seen.set(name, entity)
    }
    for (const [field, said] of shape.fields) look(said.shape, field)
  }
  for (const { output } of tools) if (output) look(output, undefined)
  for (const { input, keysOf } of tools)
    for (const [field, { shape }] of input) {
      const name = keysOf.get(field) ?? namedEntity(field, shape)
      if (name !== undefined && !seen.has(name)) seen.set(name, { fields: new Map(), key: undefined })
    }

  const tables = new Set<string>()
  return new Map(
    [...seen].map(([name, { fields, key }]) => {
      const label = LABELS.find((one) => fields.get(one)?.shape.kind === 'text')
      const table = unused(pluralOf(name), tables)
      return [name, { name, table, key: key ?? 'id', fields, label, isShown: key !== undefined }] as const
    }),
  )
}
