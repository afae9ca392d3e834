import { lookedUp, type Node, type ToolGraph } from './graph.js'
import { kindsStated } from './stated-kinds.js'

const known = new WeakMap<ToolGraph, ReadonlySet<Node>[]>()

/** The tools that have a chain of two: nothing in it has to be looked up by a third. */
export function pairedTools(graph: ToolGraph, spokenKeys: boolean): ReadonlySet<Node> {
  let paired = known.get(graph)
  if (!paired) {
    paired = [pairedIn(graph, false), pairedIn(graph, true)]
    known.set(graph, paired)
  }
  return paired[spokenKeys ? 1 : 0]!
}

function pairedIn(graph: ToolGraph, spokenKeys: boolean): ReadonlySet<Node> {
  const paired = new Set<Node>()
  for (const { kind, from, to } of graph.links) {
    if (kind === 'cross-environment' || lookedUp(from, spokenKeys).size > 0) continue
    const given = kindsStated(from, spokenKeys)
    if ([...lookedUp(to, spokenKeys).values()].some((entity) => !given.has(entity))) continue
    paired.add(from).add(to)
  }
  return paired
}
