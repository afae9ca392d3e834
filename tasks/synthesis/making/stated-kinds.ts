import { z } from 'zod'
import { entityKinds, meaningOf, type SpokenEnvironment } from '../../../servers/kernel/index.js'
import { kindsGiven, type Node } from '../graph.js'
import { oncePer } from '../once-per.js'

/**
 * Returns kinds of things that a person can mean after a call, because the call shows their names or keys that people say. A bare key in
 * a look-up leads to chains that a person cannot ask for. So it counts only where no look-up of the environment names such things.
 * @param spoken  people may say every key
 */
export const kindsStated = (node: Node, spoken: boolean): ReadonlySet<string> =>
  spoken || !node.tool.annotations.readOnly ? kindsGiven(node) : lookedUpIn(node.environment)(node.tool)

const lookedUpIn = oncePer((environment: SpokenEnvironment) => {
  const lookUps = environment.tools.filter(({ annotations }) => annotations.readOnly)
  const anywhere = new Set(lookUps.flatMap((tool) => [...namedBy(environment, tool)]))
  return oncePer((tool: Node['tool']): ReadonlySet<string> => {
    const named = namedBy(environment, tool)
    return new Set([...kindsGiven({ environment, tool })].filter((kind) => named.has(kind) || !anywhere.has(kind)))
  })
})

function namedBy(environment: SpokenEnvironment, { output }: Node['tool']): ReadonlySet<string> {
  const named = objectsIn(output).flatMap(({ shape }) =>
    Object.values(shape).flatMap((field) => {
      const { entity } = meaningOf(field as z.ZodType)
      if (entity === undefined) return []
      const { label, sayable } = environment.entities[entity] ?? {}
      return sayable || (label !== undefined && label in shape && !namesOther(environment, shape, entity, label))
        ? [entity]
        : []
    }),
  )
  return new Set([...named, ...[...entityKinds(output)].filter((kind) => environment.entities[kind]?.sayable)])
}

/** Whether the name in a row is that of another thing in it: the first key of a row is whose row it is. */
function namesOther(environment: SpokenEnvironment, shape: z.ZodRawShape, entity: string, label: string): boolean {
  const owner = Object.values(shape)
    .map((field) => meaningOf(field as z.ZodType).entity)
    .find((kind) => kind !== undefined && environment.entities[kind]?.label === label)
  return owner !== entity
}

function objectsIn(schema: unknown): z.ZodObject[] {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return objectsIn(schema.unwrap())
  if (schema instanceof z.ZodArray) return objectsIn(schema.element)
  if (schema instanceof z.ZodObject) return [schema, ...Object.values(schema.shape).flatMap(objectsIn)]
  return []
}
