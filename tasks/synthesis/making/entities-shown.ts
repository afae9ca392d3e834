import type { z } from 'zod'
import { type EntityOccurrence, entitiesIn, type ToolDefinition } from '../../../servers/kernel/index.js'

type Values = Readonly<Record<string, unknown>>

/** What a call gave. */
interface Shown {
  readonly tool: ToolDefinition
  readonly output: Values
}

/** Arguments and results are never changed, and looked at dozens of times while a chain is walked: searching them again took an eighth of the time. */
const taken = new WeakMap<Values, readonly EntityOccurrence[]>()
const shown = new WeakMap<Values, readonly EntityOccurrence[]>()
const listed = new WeakMap<Values, ReadonlySet<string>>()

/** The entities that a call is given, in the order of its arguments' declarations. */
export function entitiesTaken({ tool, args }: { readonly tool: ToolDefinition; readonly args: Values }) {
  let found = taken.get(args)
  if (!found) {
    found = entitiesIn(tool.input, args)
    taken.set(args, found)
  }
  return found
}

/** The entities that the result of a call shows, in reading order. */
export function entitiesShown({ tool, output }: Shown): readonly EntityOccurrence[] {
  let found = shown.get(output)
  if (!found) {
    found = entitiesIn(tool.output, output)
    shown.set(output, found)
  }
  return found
}

/** Kinds of the entities in the lists at the top of a result. */
export function kindsListed({ tool, output }: Shown): ReadonlySet<string> {
  let kinds = listed.get(output)
  if (!kinds) {
    const lists = Object.entries(tool.output.shape).filter(([field]) => Array.isArray(output[field]))
    const found = lists.flatMap(([field, schema]) => entitiesIn(schema as z.ZodType, output[field]))
    kinds = new Set(found.map(({ entity }) => entity))
    listed.set(output, kinds)
  }
  return kinds
}
