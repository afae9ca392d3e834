import type { SpokenEnvironment } from '../../../servers/kernel/index.js'
import type { Split } from '../../dataset/profile.js'
import { type Node, nodeName, type ToolGraph } from '../graph.js'
import { itemAt } from '../item-at.js'
import { endsWithCheck, goesOn, isPurposeful } from './purpose.js'
import { SynthesisError } from './recipe.js'
import { type Chain, chainName, LONGEST, splitOf } from './split.js'
import { isOneErrandByTools, type Keys, keysOf, type Wiring, wire } from './wiring.js'

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

/** All chains of two to five tools in which one reason fits all calls, as far as the declarations of the tools show. */
export interface ChainIndex {
  of(query: ChainQuery): readonly WiredChain[]
  /** The same that run through a tool. */
  through(node: Node, query: ChainQuery): readonly WiredChain[]
}

/** Calls of an unfinished chain that nothing before leads to: look-ups and things that are made for a later call. */
const ROOTS = 2

const indexes = new WeakMap<ToolGraph, Map<string, ChainIndex>>()

/** Returns the index of a graph, which is made once per process. */
export function chainIndex(graph: ToolGraph, heldOutEnvironments: ReadonlySet<string>): ChainIndex {
  const name = [...heldOutEnvironments].join()
  const known = indexes.get(graph) ?? new Map<string, ChainIndex>()
  indexes.set(graph, known)
  const index = known.get(name) ?? createIndex(graph, heldOutEnvironments)
  known.set(name, index)
  return index
}

function createIndex(graph: ToolGraph, heldOutEnvironments: ReadonlySet<string>): ChainIndex {
  const environments = [...new Set(graph.nodes.map(({ environment }) => environment))]
  const lists = new Map<string, WiredChain[]>()
  const loaded = new Set<string>()
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
  const once = (name: string, chains: () => Iterable<WiredChain>): void => {
    if (loaded.has(name)) return
    loaded.add(name)
    for (const chain of chains()) add(chain)
  }
  const load = (environment: SpokenEnvironment, { length, crossing }: ChainQuery): void => {
    if (crossing) once('crossings', () => crossingsOf(graph))
    else once(`${environment.name} ${length}`, () => chainsWithin(environment, graph, length))
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
}

/** A chain within one environment: the places of its tools in the environment, and their things. */
interface Path {
  readonly places: readonly number[]
  readonly wiring: Wiring
}

const paths = new WeakMap<SpokenEnvironment, Map<number, readonly Path[]>>()

/** The chains of one length in an environment. They follow from its declarations alone, so they are listed once per process. */
function* chainsWithin(environment: SpokenEnvironment, graph: ToolGraph, length: number): Generator<WiredChain> {
  const known = paths.get(environment) ?? new Map<number, readonly Path[]>()
  paths.set(environment, known)
  const nodes = graph.nodes.filter((node) => node.environment === environment)
  let found = known.get(length)
  if (!found) {
    const listed: Path[] = []
    visitPaths(toolMap(environment, graph), undefined, length, (path) => {
      const chain = path.length === length ? wired(path) : undefined
      if (chain) listed.push({ places: path.map((node) => nodes.indexOf(node)), wiring: chain.wiring })
    })
    found = listed
    known.set(length, found)
  }
  for (const { places, wiring } of found)
    yield named(
      places.map((place) => itemAt(nodes, place)),
      wiring,
    )
}

/** The chains that continue in another environment. */
function crossingsOf(graph: ToolGraph): WiredChain[] {
  const maps = new Map<SpokenEnvironment, ToolMap>()
  const mapOf = (environment: SpokenEnvironment): ToolMap => {
    const map = maps.get(environment) ?? toolMap(environment, graph)
    maps.set(environment, map)
    return map
  }
  const crossings = new Map<Node, Set<Node>>()
  for (const { kind, from, to } of graph.links)
    if (kind === 'cross-environment' && goesOn(from, to))
      crossings.set(from, (crossings.get(from) ?? new Set()).add(to))
  const found: WiredChain[] = []
  for (const environment of new Set([...crossings.keys()].map((node) => node.environment)))
    visitPaths(mapOf(environment), undefined, LONGEST - 1, (nodes) => {
      for (const to of crossings.get(itemAt(nodes, nodes.length - 1)) ?? [])
        visitPaths(mapOf(to.environment), to, LONGEST - nodes.length, (rest) => {
          const chain = isPurposeful([...nodes, ...rest]) ? wired([...nodes, ...rest]) : undefined
          if (chain) found.push(chain)
        })
    })
  return found
}

function wired(nodes: Chain): WiredChain | undefined {
  const wiring = endsWithCheck(nodes) ? wire(nodes) : undefined
  return wiring && isOneErrandByTools(nodes, wiring) ? named(nodes, wiring) : undefined
}

const named = (nodes: Chain, wiring: Wiring): WiredChain => ({ name: chainName(nodes), nodes, wiring })

/** The tools of an environment by number. Sets of kinds of things are bits of a number: there are millions of unfinished chains. */
interface ToolMap {
  readonly tools: readonly MappedTool[]
  readonly leads: readonly (readonly boolean[])[]
}

interface MappedTool {
  readonly node: Node
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
  const followers = nodes.map((node) => new Set(graph.fromWithin(node).map(({ to }) => to)))
  return {
    tools: nodes.map((node, i) => {
      const { required, must, shown, about } = keys[i] as Keys
      const needed = required.filter(([field]) => must.has(field)).map(([, kind]) => kind)
      return {
        node,
        required: required.map(([, kind]) => bit(kind)),
        must: bits(needed),
        shown: bits(shown),
        settles: bits(required.map(([, kind]) => kind)) | bit(about),
        isSearch: node.tool.annotations.readOnly && about === undefined,
      }
    }),
    leads: followers.map((next) => nodes.map((node) => next.has(node))),
  }
}

/**
 * Visits every order of up to `longest` tools in which everything is shown before it is used, every change has a purpose, and every search can
 * still be of use: a call takes the thing of its kind that was taken last, and otherwise one from the nearest result.
 * @param begun  the first tool, if it is settled
 */
function visitPaths(
  { tools, leads }: ToolMap,
  begun: Node | undefined,
  longest: number,
  visit: (nodes: readonly Node[]) => void,
): void {
  const path: number[] = []
  function longer(settled: number, seen: number, roots: number, changed: Node | undefined): void {
    for (const [at, tool] of tools.entries()) {
      const { node, must, shown } = tool
      if ((must & ~seen) !== 0 || path.includes(at) || (path.length === 0 && begun && node !== begun)) continue
      const isRoot = path.length > 0 && !path.some((i) => leads[i]?.[at])
      if (isRoot && (roots === ROOTS || must !== 0 || (shown & ~seen) === 0)) continue
      const changes = !node.tool.annotations.readOnly
      if (changes && changed && !isPurposeful([changed, node])) continue
      path.push(at)
      const all = settled | tool.settles
      if (path.every((_, place) => isOfUse(path, place, all, tools))) {
        visit(path.map((i) => itemAt(tools, i).node))
        if (path.length < longest) longer(all, seen | shown, roots + (isRoot ? 1 : 0), changes ? node : changed)
      }
      path.pop()
    }
  }
  longer(0, 0, 0, undefined)
}

/** Whether something was taken out of the result of a search, or can still be. */
function isOfUse(path: readonly number[], place: number, settled: number, tools: readonly MappedTool[]): boolean {
  const search = tools[path[place] as number] as MappedTool
  if (!search.isSearch || place === path.length - 1) return true
  let before = 0
  for (let i = 0; i < place; i++) before |= (tools[path[i] as number] as MappedTool).settles
  let later = 0
  let known = before
  for (let i = place + 1; i < path.length; i++) {
    const { required, settles, shown } = tools[path[i] as number] as MappedTool
    // The second key of a kind, such as the account that money goes to, is of another thing.
    const isTaken = (kind: number, nth: number): boolean =>
      ((kind & known) === 0 || required.indexOf(kind) < nth) && (kind & later) === 0 && (kind & search.shown) !== 0
    if (required.some(isTaken)) return true
    known |= settles
    later |= shown
  }
  return (search.shown & ~settled & ~later) !== 0
}
