import type { z } from 'zod'
import { type EntityOccurrence, entitiesIn, type ToolDefinition } from '../../../servers/kernel/index.js'
import { oncePerName } from '../once-per.js'

type Values = Readonly<Record<string, unknown>>

/** What a call gave. */
interface Shown {
  readonly tool: ToolDefinition
  readonly output: Values
}

// Arguments and results never change, and a walk looks at them dozens of times.

const takenBy = oncePerName((args: Values, tool: ToolDefinition) => entitiesIn(tool.input, args))
const shownIn = oncePerName((output: Values, tool: ToolDefinition) => entitiesIn(tool.output, output))
const listedIn = oncePerName((output: Values, tool: ToolDefinition): ReadonlySet<string> => {
  const lists = Object.entries(tool.output.shape).filter(([field]) => Array.isArray(output[field]))
  const found = lists.flatMap(([field, schema]) => entitiesIn(schema as z.ZodType, output[field]))
  return new Set(found.map(({ entity }) => entity))
})

/** The entities that a call is given, in the order of its arguments' declarations. */
export const entitiesTaken = ({
  tool,
  args,
}: {
  readonly tool: ToolDefinition
  readonly args: Values
}): readonly EntityOccurrence[] => takenBy(args, tool)

/** The entities that the result of a call shows, in reading order. */
export const entitiesShown = ({ tool, output }: Shown): readonly EntityOccurrence[] => shownIn(output, tool)

/** Kinds of the entities in the lists at the top of a result. */
export const kindsListed = ({ tool, output }: Shown): ReadonlySet<string> => listedIn(output, tool)

/** The entities of one kind that a result shows, each once, and their keys. */
interface OfKind {
  readonly entities: readonly EntityOccurrence[]
  readonly keys: readonly string[]
}

const NOTHING: OfKind = { entities: [], keys: [] }

const kindsIn = oncePerName((output: Values, tool: ToolDefinition): ReadonlyMap<string, OfKind> => {
  const kinds = new Map<string, { entities: EntityOccurrence[]; keys: string[] }>()
  for (const found of shownIn(output, tool)) {
    const kind = kinds.get(found.entity) ?? { entities: [], keys: [] }
    kinds.set(found.entity, kind)
    if (kind.keys.includes(found.key)) continue
    kind.entities.push(found)
    kind.keys.push(found.key)
  }
  return kinds
})

const ofKind = ({ tool, output }: Shown, entity: string): OfKind => kindsIn(output, tool).get(entity) ?? NOTHING

/** The entities of one kind that the result of a call shows, in reading order, each once. */
export const entitiesOfKind = (shown: Shown, entity: string): readonly EntityOccurrence[] =>
  ofKind(shown, entity).entities

/** The keys of these entities. */
export const keysShown = (shown: Shown, entity: string): readonly string[] => ofKind(shown, entity).keys
