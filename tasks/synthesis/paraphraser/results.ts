import { type Environment, entitiesIn } from '../../../servers/kernel/index.js'
import type { Example, Exchange } from '../../dataset/example.js'

/** Keys of entities that people do not call by their key, anywhere in the calls and their results. */
export function keysOf({ exchanges }: Example, catalogue: ReadonlyMap<string, Environment>): string[] {
  const keys = new Set<string>()
  for (const { environment: name, name: toolName, arguments: args, response } of exchanges.flatMap(
    ({ calls }) => calls,
  )) {
    const environment = catalogue.get(name)
    const tool = environment?.toolsByName.get(toolName)
    if (!environment || !tool) continue
    const found = [...entitiesIn(tool.input, args), ...entitiesIn(tool.output, JSON.parse(response))]
    for (const { entity, key } of found) if (!environment.entities[entity]?.sayable) keys.add(key)
  }
  return [...keys]
}

/** All texts in the results of an exchange. */
export function textsIn({ calls }: Exchange): string[] {
  return [...new Set(calls.flatMap(({ response }) => leaves(JSON.parse(response))))]
}

function leaves(value: unknown): string[] {
  if (typeof value === 'string') return value.length > 1 ? [value] : []
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(leaves) : []
}
