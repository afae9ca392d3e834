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
  /** Names of the tools with an edge, explicit or implicit, into `tool`. */
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
    environment.tools.map(({ name }) => [
      name,
      new Set(edges.filter((edge) => edge.to === name).map((edge) => edge.from)),
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
  const explicit = [...requiredReferences(to.input)]
    .filter(([, entity]) => produced.has(entity))
    .map(([field, entity]) => ({ kind: 'explicit', from: from.name, to: to.name, field, entity }) as const)
  const implicit = (to.needs ?? [])
    .filter((fact) => from.establishes?.includes(fact))
    .map((fact) => ({ kind: 'implicit', from: from.name, to: to.name, fact }) as const)
  return [...explicit, ...implicit]
}
