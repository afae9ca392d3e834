import { createHash } from 'node:crypto'
import { type DependencyGraph, dependencyGraph, type ServerDefinition } from '../servers/kernel/index.js'

/** A path through one server's dependency graph: each tool has an edge from the one before it. No tool occurs twice. */
export interface Chain {
  readonly server: ServerDefinition
  readonly tools: readonly string[]
  /** `banking:list_accounts>freeze_card`. */
  readonly name: string
}

export type Split = 'train' | 'held-out'

export interface ChainSplit {
  readonly train: readonly Chain[]
  readonly heldOut: readonly Chain[]
}

export const MIN_CHAIN = 2
export const MAX_CHAIN = 4
/** One chain in this many is held out. */
const HELD_OUT_EVERY = 5

/** All chains of `MIN_CHAIN` to `MAX_CHAIN` tools of a server, in a fixed order. */
export function chainsOf(server: ServerDefinition): Chain[] {
  const graph = dependencyGraph(server)
  return server.tools
    .flatMap(({ name }) => extend(graph, [name]))
    .map((tools) => ({ server, tools, name: chainName(server, tools) }))
}

function extend(graph: DependencyGraph, path: readonly string[]): string[][] {
  const found: string[][] = path.length >= MIN_CHAIN ? [[...path]] : []
  if (path.length === MAX_CHAIN) return found
  const next = new Set(graph.from(path.at(-1)!).map((edge) => edge.to))
  for (const tool of next) if (!path.includes(tool)) found.push(...extend(graph, [...path, tool]))
  return found
}

function chainName(server: ServerDefinition, tools: readonly string[]): string {
  return `${server.name}:${tools.join('>')}`
}

function isHeldOut(name: string): boolean {
  return createHash('sha256').update(`prove/held-out/1 ${name}`).digest().readUInt32LE(0) % HELD_OUT_EVERY === 0
}

/**
 * Splits the chains of a server for good: which are held out depends on their names alone. A training chain that runs
 * through a held-out one is in neither split, so no held-out chain occurs in training, not even as a part.
 */
export function splitChains(server: ServerDefinition): ChainSplit {
  const chains = chainsOf(server)
  const heldOut = chains.filter(({ name }) => isHeldOut(name))
  const heldOutNames = new Set(heldOut.map(({ name }) => name))
  const train = chains.filter(({ tools }) => parts(tools).every((part) => !heldOutNames.has(chainName(server, part))))
  return { train, heldOut }
}

/** Every contiguous run of a chain that is a chain itself, the whole included. */
function parts(tools: readonly string[]): string[][] {
  return tools.flatMap((_, from) =>
    tools.slice(from + MIN_CHAIN - 1).map((_, more) => tools.slice(from, from + MIN_CHAIN + more)),
  )
}
