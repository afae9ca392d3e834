import { z } from 'zod'
import type { Json, JsonObject } from '../../../rollout/reward/index.js'
import { type Environment, meaningOf, type ToolDefinition } from '../../../servers/kernel/index.js'
import type { Example } from '../../dataset/example.js'
import { valueAt } from '../item-at.js'

/** A thing that a result or a call speaks of. */
export interface Thing {
  readonly entity: string
  readonly key: string
  /** By what people call it, where the same object states that. */
  readonly label: string | undefined
  /** The name in that object of which it is not clear whether it is this thing's. */
  readonly nameBeside?: string | undefined
  /** The object that it stands in. */
  readonly row: JsonObject
}

/** A list of a result, one entry after the other, by the things that each entry speaks of. */
export interface ShownList {
  readonly entries: readonly (readonly Thing[])[]
  /** The environment has more of them than the result shows. */
  readonly cut: boolean
}

/** One call as the conversation shows it. */
export interface SeenCall {
  /** Place in the ground truth; `null` for a call that failed. */
  readonly truth: number | null
  readonly readOnly: boolean
  /** Things that the arguments name. */
  readonly named: readonly Thing[]
  /** Things that the result speaks of, outside of lists and in them. */
  readonly shown: readonly Thing[]
  readonly lists: readonly ShownList[]
}

/** A conversation as those who take part in it see it. */
export interface Transcript {
  readonly turns: readonly { readonly user: string; readonly calls: readonly SeenCall[]; readonly assistant: string }[]
  /** Whether the user sees results as they are, because the assistant's words tell nothing of them. */
  readonly userSeesResults: boolean
}

type Catalogue = ReadonlyMap<string, Environment>
type Conversation = Pick<Example, 'exchanges' | 'speech'>

/** Reads a conversation: words, calls and their results, and nothing of how it was made. */
export function transcriptOf({ exchanges, speech }: Conversation, catalogue: Catalogue): Transcript {
  return {
    userSeesResults: speech === 'plain',
    turns: exchanges.map(({ user, calls, assistant }) => ({
      user,
      assistant,
      calls: calls.map(({ environment: name, name: toolName, arguments: args, response, ok, truth }) => {
        const environment = valueAt(catalogue, name)
        const tool = valueAt(environment.toolsByName, toolName)
        const output = ok ? (JSON.parse(response) as JsonObject) : {}
        return { truth, readOnly: tool.annotations.readOnly, ...readCall(environment, tool, args, output) }
      }),
    })),
  }
}

function readCall(
  environment: Environment,
  tool: ToolDefinition,
  args: JsonObject,
  output: JsonObject,
): Pick<SeenCall, 'named' | 'shown' | 'lists'> {
  const listed = listsIn(tool.output, output)
  const goesOn = output.next_page !== undefined || (typeof args.page === 'number' && args.page > 1)
  const lists = listed.map(({ element, rows }): ShownList => {
    const entries = rows.map((row) => thingsIn(environment, element, row))
    return { entries, cut: goesOn || (typeof output.found === 'number' && output.found > rows.length) }
  })
  const within = listed.flatMap(({ element, rows }) => rows.flatMap((row) => thingsWithin(environment, element, row)))
  // What a call takes beside a key may be new to the thing: a text to write, a name to give.
  const named = thingsIn(environment, tool.input, args).map(({ nameBeside: _, ...thing }) => ({
    ...thing,
    label: undefined,
  }))
  return {
    named,
    shown: [
      ...thingsOutsideLists(environment, tool.output, output),
      ...lists.flatMap(({ entries }) => entries.flat()),
      ...within,
    ],
    lists,
  }
}

function listsIn(
  schema: z.ZodObject,
  row: JsonObject,
): { readonly element: z.ZodObject; readonly rows: readonly JsonObject[] }[] {
  return Object.entries(schema.shape).flatMap(([field, part]) => {
    const element = elementOf(part as z.core.$ZodType)
    const rows = row[field]
    return element && Array.isArray(rows) ? [{ element, rows: rows.map((each) => (isObject(each) ? each : {})) }] : []
  })
}

/** Things in the lists of an entry: they have names, but no place that a person would count them by. */
function thingsWithin(environment: Environment, schema: z.ZodObject, row: JsonObject): Thing[] {
  return listsIn(schema, row).flatMap(({ element, rows }) =>
    rows.flatMap((each) => [...thingsIn(environment, element, each), ...thingsWithin(environment, element, each)]),
  )
}

function thingsOutsideLists(environment: Environment, schema: z.ZodObject, row: JsonObject): Thing[] {
  const inner = Object.entries(schema.shape).flatMap(([field, part]) => {
    const value = row[field]
    const shape = objectOf(part as z.core.$ZodType)
    return shape && value !== undefined && isObject(value) ? thingsOutsideLists(environment, shape, value) : []
  })
  return [...thingsIn(environment, schema, row), ...inner]
}

/**
 * Keys that stand in an object itself. A label beside several keys is that of the first whose kind is labelled so: a
 * light is a device too, by the same key and name. An order that is called after its restaurant names both, since the
 * restaurant's key spells the same name.
 */
function thingsIn(environment: Environment, schema: z.ZodObject, row: JsonObject): Thing[] {
  const owners = new Map<string, string>()
  return Object.entries(schema.shape).flatMap(([field, part]): Thing[] => {
    const { entity } = meaningOf(part as z.core.$ZodType)
    const value = row[field]
    if (entity === undefined || typeof value !== 'string') return []
    const labelField = environment.entities[entity]?.label
    if (labelField === undefined) return [{ entity, key: value, label: undefined, row }]
    if (!owners.has(labelField)) owners.set(labelField, value)
    const text = row[labelField]
    const isItsName = typeof text === 'string' && (owners.get(labelField) === value || spelled(text) === value)
    return [
      {
        entity,
        key: value,
        label: isItsName ? text : undefined,
        nameBeside: typeof text === 'string' ? text : undefined,
        row,
      },
    ]
  })
}

const spelled = (name: string): string => name.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, '-')

const unwrapped = (schema: z.core.$ZodType): z.core.$ZodType => {
  const { innerType } = schema._zod.def as { readonly innerType?: z.core.$ZodType }
  return innerType ? unwrapped(innerType) : schema
}

function objectOf(schema: z.core.$ZodType): z.ZodObject | undefined {
  const inner = unwrapped(schema)
  return inner instanceof z.ZodObject ? inner : undefined
}

function elementOf(schema: z.core.$ZodType): z.ZodObject | undefined {
  const inner = unwrapped(schema)
  return inner instanceof z.ZodArray ? objectOf(inner.element) : undefined
}

const isObject = (value: Json): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
