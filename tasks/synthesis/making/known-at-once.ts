import { oncePer } from '../once-per.js'
import { entitiesShown } from './entities-shown.js'
import type { Result } from './references.js'

/** A call with its result. */
export type Call = Pick<Result, 'tool' | 'args' | 'output'>

/** Share of a name that is enough to look for the thing that has it, and not for all that have something in common. */
const TELLING_SHARE = 0.5

/**
 * Returns whether the only thing of a kind in a result was known to be the only one before the user saw it. Such a thing was made,
 * belongs to the thing that was asked about, or was looked for by its name.
 */
export function isSoughtAsOne(result: Result, entity: string): boolean {
  const { environment, tool, args, output } = result
  if (!tool.annotations.readOnly) return true
  const label = environment.entities[entity]?.label
  return entitiesShown(result).every(({ entity: kind, key, within }) => {
    if (kind !== entity || within === output) return true
    const name = label === undefined ? undefined : within[label]
    return Object.values(args).some((asked) => asked === key || (typeof name === 'string' && isNamedBy(name, asked)))
  })
}

const isNamedBy = (name: string, asked: unknown): boolean =>
  typeof asked === 'string' &&
  asked.length >= TELLING_SHARE * name.length &&
  name.toLowerCase().includes(asked.toLowerCase())

/**
 * Returns whether the name of a thing that a call shows occurs in the call, or in calls and results of earlier turns. A thing that is made
 * out of another, such as a deal out of a lead, has a name that is unknown before.
 */
export function isKnownBefore(label: string, steps: readonly Call[], source: number, begun: number): boolean {
  const text = JSON.stringify(label).slice(1, -1)
  return [...steps.slice(begun, source + 1).map(({ args }) => args), ...statedBefore(steps, begun)].some((values) =>
    writtenOf(values).includes(text),
  )
}

/** Returns all that was said before a turn: the arguments and results of its earlier calls. */
export const statedBefore = (steps: readonly Call[], begun: number): Call['args'][] =>
  steps.slice(0, begun).flatMap(({ args, output }) => [args, output])

/** Arguments or a result as JSON. */
const writtenOf = oncePer((values: Call['args']): string => JSON.stringify(values))
