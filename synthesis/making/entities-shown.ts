import { type EntityOccurrence, entitiesIn, type ToolDefinition } from '../../servers/kernel/index.js'

/** What a call gave. */
interface Shown {
  readonly tool: ToolDefinition
  readonly output: Readonly<Record<string, unknown>>
}

/** Results are never changed, and looked at dozens of times while a chain is walked: searching them anew took an eighth of the time. */
const known = new WeakMap<Shown['output'], readonly EntityOccurrence[]>()

/** The entities that the result of a call shows, in reading order. */
export function entitiesShown({ tool, output }: Shown): readonly EntityOccurrence[] {
  let found = known.get(output)
  if (!found) {
    found = entitiesIn(tool.output, output)
    known.set(output, found)
  }
  return found
}
