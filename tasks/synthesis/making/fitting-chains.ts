import { type Node, nodeName } from '../graph.js'
import { oncePer } from '../once-per.js'
import type { ChainIndex, ChainQuery, WiredChain } from './chain-index.js'
import { canCarry, partsOf, type Shape } from './conversation-shape.js'
import type { Parts } from './step.js'
import { canBeAskedInTurns } from './wiring.js'

/** A chain that can carry a conversation of a shape, as far as its tools show. */
export interface FittingChain extends WiredChain {
  /** The ways to ask for the chain in turns. */
  readonly partings: readonly Parts[]
}

/** Chains that can carry conversations of one shape. */
export interface FittingChains {
  readonly all: readonly FittingChain[]
  through(node: Node): readonly FittingChain[]
}

const lists = oncePer((_: ChainIndex) => new Map<string, FittingChains>())

/** Returns the chains of an index that can carry conversations of a shape. They are listed once per process. */
export function fittingChains(index: ChainIndex, query: ChainQuery, shape: Shape): FittingChains {
  const known = lists(index)
  const { length, split, crossing } = query
  const { requests, information, recovery } = shape
  const name = [length, split, crossing, requests, information, recovery].join(' ')
  const found = known.get(name) ?? listed(index.of(query), shape)
  known.set(name, found)
  return found
}

function listed(chains: readonly WiredChain[], shape: Shape): FittingChains {
  const byTool = new Map<string, FittingChain[]>()
  const all = chains.flatMap((chain): FittingChain[] => {
    const { nodes, wiring } = chain
    const partings = canCarry(nodes, shape)
      ? partsOf(nodes, shape).filter((parts) => canBeAskedInTurns(nodes, wiring, parts))
      : []
    return partings.length === 0 ? [] : [{ ...chain, partings }]
  })
  for (const chain of all)
    for (const node of new Set(chain.nodes.map(nodeName))) {
      const own = byTool.get(node)
      if (own) own.push(chain)
      else byTool.set(node, [chain])
    }
  return { all, through: (node) => byTool.get(nodeName(node)) ?? [] }
}
