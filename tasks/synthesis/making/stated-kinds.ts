import { z } from 'zod'
import { entityKinds, meaningOf, type SpokenEnvironment } from '../../../servers/kernel/index.js'
import { kindsGiven, type Node } from '../graph.js'

const stated = new WeakMap<z.ZodType, ReadonlySet<string>>()
const ofLookUp = new WeakMap<Node['tool'], ReadonlySet<string>>()
const tellable = new WeakMap<SpokenEnvironment, ReadonlySet<string>>()

/**
 * Returns kinds of things that a person can mean after a call, because the call shows their names or keys that people say. A bare key in
 * a look-up leads to chains that a person cannot ask for. So it counts only where no look-up of the environment names such things.
 * @param spoken  people may say every key
 */
export function kindsStated(node: Node, spoken: boolean): ReadonlySet<string> {
  const given = kindsGiven(node)
  if (spoken || !node.tool.annotations.readOnly) return given
  let kinds = ofLookUp.get(node.tool)
  if (!kinds) {
    const named = namedBy(node)
    const anywhere = tellableIn(node.environment)
    kinds = new Set([...given].filter((kind) => named.has(kind) || !anywhere.has(kind)))
    ofLookUp.set(node.tool, kinds)
  }
  return kinds
}

/** Kinds that some look-up of the environment names. */
function tellableIn(environment: SpokenEnvironment): ReadonlySet<string> {
  let anywhere = tellable.get(environment)
  if (!anywhere) {
    const lookUps = environment.tools.filter(({ annotations }) => annotations.readOnly)
    anywhere = new Set(lookUps.flatMap((tool) => [...namedBy({ environment, tool })]))
    tellable.set(environment, anywhere)
  }
  return anywhere
}

function namedBy({ environment, tool }: Node): ReadonlySet<string> {
  const known = stated.get(tool.output)
  if (known) return known
  const kinds = new Set(
    objectsIn(tool.output).flatMap(({ shape }) =>
      Object.values(shape).flatMap((field) => {
        const { entity } = meaningOf(field as z.ZodType)
        if (entity === undefined) return []
        const { label, sayable } = environment.entities[entity] ?? {}
        return sayable || (label !== undefined && label in shape && !namesOther(environment, shape, entity, label))
          ? [entity]
          : []
      }),
    ),
  )
  for (const kind of entityKinds(tool.output)) if (environment.entities[kind]?.sayable) kinds.add(kind)
  stated.set(tool.output, kinds)
  return kinds
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
