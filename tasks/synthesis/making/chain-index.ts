import type { SpokenEnvironment } from '../../../servers/kernel/index.js'
import type { Split } from '../../dataset/profile.js'
import { type Node, nodeName, type ToolGraph, toolGraph } from '../graph.js'
import { itemAt, valueAt } from '../item-at.js'
import { oncePer, oncePerName } from '../once-per.js'
import { endsWithCheck, goesOn, isPurposeful } from './purpose.js'
import { SynthesisError } from './recipe.js'
import { type Chain, chainName, LONGEST, splitOf } from './split.js'
import { type GrowingChain, hasOnePurposeByTools, keysOf, NO_CALLS, type Wiring, wire, withCall } from './wiring.js'

/** A chain with the things that its calls are about. */
export interface WiredChain {
  readonly name: string
  readonly nodes: Chain
  readonly wiring: Wiring
}

/** Which chains are asked for. */
export interface ChainQuery {
  readonly length: number
  readonly split: Split
  readonly crossing: boolean
}

/** All chains of one to five tools in which one reason fits all calls, as far as the declarations of the tools show. */
export interface ChainIndex {
  of(query: ChainQuery): readonly WiredChain[]
  /** The same that run through a tool. */
  through(node: Node, query: ChainQuery): readonly WiredChain[]
}

/** Calls of an unfinished chain that nothing before leads to: look-ups and things that are made for a later call. */
const ROOTS = 2

/** Returns the index of a graph, which is made once per process. */
export const chainIndex = (graph: ToolGraph, heldOutEnvironments: ReadonlySet<string>): ChainIndex =>
  indexOf(graph, [...heldOutEnvironments].join())

const indexOf = oncePerName((graph: ToolGraph, heldOut: string): ChainIndex => {
  const heldOutEnvironments = new Set(heldOut.split(','))
  const environments = [...new Set(graph.nodes.map(({ environment }) => environment))]
  const lists = new Map<string, WiredChain[]>()
  const loaded = new Set<SpokenEnvironment | 'crossings'>()
  const nameOf = (place: string, { length, split, crossing }: ChainQuery): string =>
    `${place} ${length} ${split} ${crossing}`
  const add = (chain: WiredChain): void => {
    const split = splitOf(chain.nodes, heldOutEnvironments)
    if (split === undefined) return
    const query = { length: chain.nodes.length, split, crossing: chain.wiring.crossing !== undefined }
    for (const place of [itemAt(chain.nodes, 0).environment.name, ...chain.nodes.map(nodeName)]) {
      const list = lists.get(nameOf(place, query))
      if (list) list.push(chain)
      else lists.set(nameOf(place, query), [chain])
    }
  }
  const load = (environment: SpokenEnvironment, { crossing }: ChainQuery): void => {
    const part = crossing ? 'crossings' : environment
    if (loaded.has(part)) return
    loaded.add(part)
    for (const chain of crossing ? crossingsOf(graph) : chainsWithin(environment, graph)) add(chain)
  }
  return {
    of: (query) =>
      environments.flatMap((environment) => {
        load(environment, query)
        return lists.get(nameOf(environment.name, query)) ?? []
      }),
    through: (node, query) => {
      load(node.environment, query)
      return lists.get(nameOf(nodeName(node), query)) ?? []
    },
  }
})

/** A chain within one environment: the places of its tools in the environment, and their things. */
interface Path {
  readonly places: readonly number[]
  readonly wiring: Wiring
}

/** Lists the chains in an environment. They follow from its declarations alone, so they are listed once per process. */
const pathsIn = oncePer((environment: SpokenEnvironment): readonly Path[] => {
  const graph = toolGraph([environment])
  const found: Path[] = []
  visitChains(toolMap(environment, graph), undefined, LONGEST, ({ nodes, wiring }) => {
    if (endsWithCheck(nodes) && hasOnePurposeByTools(nodes, wiring))
      found.push({ places: nodes.map((node) => graph.nodes.indexOf(node)), wiring })
  })
  return found
})

function chainsWithin(environment: SpokenEnvironment, graph: ToolGraph): WiredChain[] {
  const nodes = graph.nodes.filter((node) => node.environment === environment)
  return pathsIn(environment).map(({ places, wiring }) => {
    const chain = places.map((place) => itemAt(nodes, place))
    return { name: chainName(chain), nodes: chain, wiring }
  })
}

/** The chains that continue in another environment. */
function crossingsOf(graph: ToolGraph): WiredChain[] {
  const crossings = new Map<Node, Set<Node>>()
  for (const { kind, from, to } of graph.links)
    if (kind === 'cross-environment' && goesOn(from, to))
      crossings.set(from, (crossings.get(from) ?? new Set()).add(to))
  const ends = [...new Set([...crossings.keys(), ...[...crossings.values()].flatMap((to) => [...to])])]
  const maps = new Map(ends.map(({ environment }) => [environment, toolMap(environment, graph)]))
  const found: WiredChain[] = []
  for (const environment of new Set([...crossings.keys()].map((node) => node.environment)))
    visitChains(valueAt(maps, environment), undefined, LONGEST - 1, ({ nodes }) => {
      for (const to of crossings.get(itemAt(nodes, nodes.length - 1)) ?? [])
        visitChains(valueAt(maps, to.environment), to, LONGEST - nodes.length, ({ nodes: rest }) => {
          const chain = [...nodes, ...rest]
          const wiring = isPurposeful(chain) && endsWithCheck(chain) ? wire(chain) : undefined
          if (wiring && hasOnePurposeByTools(chain, wiring))
            found.push({ name: chainName(chain), nodes: chain, wiring })
        })
    })
  return found
}

/** The tools of an environment by number. Sets of kinds of things are bits of a number: there are a million unfinished chains. */
interface ToolMap {
  readonly tools: readonly MappedTool[]
  /** Whether the graph leads from one tool to another. */
  readonly leads: readonly (readonly boolean[])[]
  /** Whether a person would make one change after another. */
  readonly follows: readonly (readonly boolean[])[]
  /** Whether a chain can end with a tool after a change, see `endsWithCheck`. */
  readonly ends: readonly (readonly boolean[])[]
}

interface MappedTool {
  readonly node: Node
  readonly isChange: boolean
  readonly required: readonly number[]
  readonly must: number
  readonly shown: number
  /** Kinds of the things that the call is about. */
  readonly settles: number
  readonly isSearch: boolean
}

/** Most kinds of one environment that fit into the bits of a number. */
const MOST_KINDS = 31

function toolMap(environment: SpokenEnvironment, graph: ToolGraph): ToolMap {
  const nodes = graph.nodes.filter((node) => node.environment === environment)
  const keys = nodes.map(keysOf)
  const kinds = [
    ...new Set(keys.flatMap(({ required, shown, about }) => [...required.map(([, kind]) => kind), ...shown, about])),
  ]
  if (kinds.length > MOST_KINDS)
    throw new SynthesisError(
      'too_many_kinds',
      `${environment.name} has ${kinds.length} kinds of things: synthesis takes ${MOST_KINDS}`,
    )
  const bit = (kind: string | undefined): number => (kind === undefined ? 0 : 1 << kinds.indexOf(kind))
  const bits = (some: Iterable<string>): number => [...some].reduce((all, kind) => all | bit(kind), 0)
  const pairs = (holds: (first: Node, second: Node) => boolean): boolean[][] =>
    nodes.map((first) => nodes.map((second) => holds(first, second)))
  return {
    tools: nodes.map((node, i) => {
      const { required, must, shown, about } = itemAt(keys, i)
      const all = required.map(([, kind]) => kind)
      const isLook = node.tool.annotations.readOnly
      return {
        node,
        isChange: !isLook,
        required: all.map(bit),
        must: bits(required.flatMap(([field, kind]) => (must.has(field) ? [kind] : []))),
        shown: bits(shown),
        settles: bits(all) | bit(about),
        isSearch: isLook && about === undefined,
      }
    }),
    leads: nodes.map((node) => {
      const next = new Set(graph.fromWithin(node).map(({ to }) => to))
      return nodes.map((other) => next.has(other))
    }),
    follows: pairs((first, second) => isPurposeful([first, second])),
    ends: pairs((first, second) => endsWithCheck([first, second])),
  }
}

/**
 * Visits every order of up to `longest` tools in which everything is shown before it is used, every change has a purpose, and every search can
 * still be of use: a call takes the thing of its kind that was taken last, and otherwise one from the nearest result.
 * @param begun  the first tool, if it is settled
 */
function visitChains(
  { tools, leads, follows, ends }: ToolMap,
  begun: Node | undefined,
  longest: number,
  visit: (chain: GrowingChain) => void,
): void {
  const path: number[] = []
  function longer(chain: GrowingChain, settled: number, seen: number, roots: number, changed: number): void {
    const isLast = path.length === longest - 1
    for (const [at, { node, isChange, must, shown, settles }] of tools.entries()) {
      if ((must & ~seen) !== 0 || path.includes(at) || (path.length === 0 && begun && node !== begun)) continue
      const isRoot = path.length > 0 && !path.some((i) => leads[i]?.[at])
      if (isRoot && (roots === ROOTS || must !== 0 || (shown & ~seen) === 0)) continue
      if (changed >= 0 && isChange && !follows[changed]?.[at]) continue
      if (changed >= 0 && isLast && !ends[changed]?.[at]) continue
      path.push(at)
      const all = settled | settles
      const next = path.every((_, place) => isOfUse(path, place, all, tools)) ? withCall(chain, node) : undefined
      if (next) {
        visit(next)
        if (!isLast) longer(next, all, seen | shown, roots + (isRoot ? 1 : 0), isChange ? at : changed)
      }
      path.pop()
    }
  }
  longer(NO_CALLS, 0, 0, 0, -1)
}

/** Whether something was taken out of the result of a search, or can still be. */
function isOfUse(path: readonly number[], place: number, settled: number, tools: readonly MappedTool[]): boolean {
  const search = itemAt(tools, itemAt(path, place))
  if (!search.isSearch || place === path.length - 1) return true
  let before = 0
  for (let i = 0; i < place; i++) before |= itemAt(tools, itemAt(path, i)).settles
  let later = 0
  let known = before
  for (let i = place + 1; i < path.length; i++) {
    const { required, settles, shown } = itemAt(tools, itemAt(path, i))
    // The second key of a kind, such as the account that money goes to, is of another thing.
    for (const [nth, kind] of required.entries())
      if (((kind & known) === 0 || required.indexOf(kind) < nth) && (kind & ~later & search.shown) !== 0) return true
    known |= settles
    later |= shown
  }
  return (search.shown & ~settled & ~later) !== 0
}
