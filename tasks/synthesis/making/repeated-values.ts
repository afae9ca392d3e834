import type { Json, JsonObject } from '../../../rollout/reward/index.js'
import { entityKinds, isOptional, meaningOf } from '../../../servers/kernel/index.js'
import type { Node } from '../graph.js'

/** A call that was made, with its result. */
interface Call extends Node {
  readonly args: JsonObject
  readonly output: JsonObject
}

const MOMENT = /^\d{4}-\d{2}(-\d{2})?$|^\d{2}:\d{2}$/

/**
 * Returns days, times, cities and numbers from earlier look-ups in an environment, for arguments of a later call that have the same names.
 * A user who looks for a hotel from the 27th for three nights books it from the 27th for three nights. Of results, only days, months and
 * times of day are used. A value that was set and belongs to no thing, such as a speed, is used again too.
 */
export function saidBefore({ environment, tool }: Node, steps: readonly Call[]): Readonly<Record<string, Json>> {
  const isAboutNone = entityKinds(tool.input).size === 0
  const earlier = steps
    .filter((step) => step.environment === environment)
    .filter((step) => step.tool.annotations.readOnly || (isAboutNone && entityKinds(step.tool.input).size === 0))
    .reverse()
  if (earlier.length === 0) return {}
  const found: Record<string, Json> = {}
  for (const [field, schema] of Object.entries(tool.input.shape)) {
    const { entity, common } = meaningOf(schema)
    if (entity !== undefined || field === 'page' || (tool.annotations.readOnly && isOptional(schema))) continue
    const isCity = common === 'city'
    for (const { args, output } of earlier) {
      const asked = args[field]
      const value = isSaid(asked, isCity) ? asked : output[field]
      if (value !== undefined && (value === asked || isMoment(value))) {
        found[field] = value
        break
      }
    }
  }
  return found
}

/** A day, a month or a time of day. */
export const isMoment = (value: Json | undefined): boolean => typeof value === 'string' && MOMENT.test(value)

const isSaid = (value: Json | undefined, isCity: boolean): value is Json =>
  typeof value === 'number' || isMoment(value) || (isCity && typeof value === 'string')
