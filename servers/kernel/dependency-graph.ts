import { z } from 'zod'
import type { Environment, ToolDefinition } from './define-environment.js'
import { entityKinds, requiredReferences } from './fields.js'

/**
 * An edge of a server's dependency graph (paper, section 3.2). `explicit`: an output of `from` can feed the required
 * input `field` of `to`. `implicit`: `from` establishes a fact that `to` needs.
 */
export type DependencyEdge =
  | {
      readonly kind: 'explicit'
      readonly from: string
      readonly to: string
      readonly field: string
      readonly entity: string
    }
  | { readonly kind: 'implicit'; readonly from: string; readonly to: string; readonly fact: string }

export interface DependencyGraph {
  readonly edges: readonly DependencyEdge[]
  /** Edges that leave a tool, in declaration order. */
  from(tool: string): readonly DependencyEdge[]
  /**
   * Names of the tools whose calls come before a call of `tool`: those with an edge into it. A look-up is no prerequisite of another look-up
   * about the same thing. It was given the key itself, and neither changes anything.
   */
  prerequisites(tool: string): ReadonlySet<string>
}

const graphs = new WeakMap<Environment, DependencyGraph>()

/** Derives the graph from the declarations: nothing about it is written by hand. */
export function dependencyGraph(environment: Environment): DependencyGraph {
  // Synthesis asks anew for every attempt at a task, and deriving took a quarter of its time.
  let graph = graphs.get(environment)
  if (!graph) {
    graph = derive(environment)
    graphs.set(environment, graph)
  }
  return graph
}

function derive(environment: Environment): DependencyGraph {
  const produces = new Map(environment.tools.map((tool) => [tool.name, entityKinds(tool.output)]))
  const edges = environment.tools.flatMap((to) =>
    environment.tools.flatMap((from) => edgesBetween(from, to, produces.get(from.name)!)),
  )
  const outgoing = new Map(environment.tools.map(({ name }) => [name, edges.filter((edge) => edge.from === name)]))
  const prerequisites = new Map(
    environment.tools.map((tool) => [
      tool.name,
      new Set(
        edges
          .filter(
            (edge) => edge.to === tool.name && !isLookUpOfSame(environment.toolsByName.get(edge.from)!, tool, edge),
          )
          .map((edge) => edge.from),
      ),
    ]),
  )
  return {
    edges,
    from: (tool) => outgoing.get(tool) ?? [],
    prerequisites: (tool) => prerequisites.get(tool) ?? new Set(),
  }
}

function edgesBetween(from: ToolDefinition, to: ToolDefinition, produced: ReadonlySet<string>): DependencyEdge[] {
  if (from.name === to.name) return []
  const explicit = requiredReferences(to.input)
    .filter(([, entity]) => produced.has(entity))
    .map(([field, entity]) => ({ kind: 'explicit', from: from.name, to: to.name, field, entity }) as const)
  const implicit = (to.needs ?? [])
    .filter((fact) => from.establishes?.includes(fact))
    .map((fact) => ({ kind: 'implicit', from: from.name, to: to.name, fact }) as const)
  return [...explicit, ...implicit]
}

/** Whether both tools only read, and the first one shows of the edge's kind no list, but only a thing like the one that it was given. */
function isLookUpOfSame(from: ToolDefinition, to: ToolDefinition, edge: DependencyEdge): boolean {
  if (edge.kind === 'implicit' || !from.annotations.readOnly || !to.annotations.readOnly) return false
  const isGiven = requiredReferences(from.input).some(([, entity]) => entity === edge.entity)
  return isGiven && !listsKind(from.output, edge.entity)
}

/** Whether a list within a schema can contain keys of a kind. */
function listsKind(schema: z.core.$ZodType, entity: string): boolean {
  if (!entityKinds(schema).has(entity)) return false
  if (schema instanceof z.ZodArray) return true
  if (schema instanceof z.ZodObject)
    return Object.values(schema.shape).some((field) => listsKind(field as z.ZodType, entity))
  return schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodReadonly
    ? listsKind(schema.unwrap(), entity)
    : false
}
