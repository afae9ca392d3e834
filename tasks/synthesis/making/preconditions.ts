import { LRUCache } from 'lru-cache'
import {
  deriveSeed,
  type SeededRandom,
  type SeedStateCache,
  seededRandom,
  type ToolDefinition,
} from '../../../servers/kernel/index.js'
import { type Node, nodeName, type ToolGraph } from './graph.js'
import type { Chain } from './split.js'

/** Draws of arguments before it is held that a state has none: some samplers look at part of their tables only. */
const DRAWS = 3
/** World seeds whose answers are kept: each has one for every tool that was asked about. */
const SEEDS_KEPT = 64

const answers = new WeakMap<SeedStateCache, LRUCache<number, Map<ToolDefinition, boolean>>>()

/** Tells whether a tool could be called as the first one in the environments of a seed. The same environment gives the same answer. */
export function possibleAtFirst(environmentSeed: number, seedStates: SeedStateCache): (node: Node) => boolean {
  let bySeed = answers.get(seedStates)
  if (!bySeed) {
    bySeed = new LRUCache({ max: SEEDS_KEPT })
    answers.set(seedStates, bySeed)
  }
  const known = bySeed.get(environmentSeed) ?? new Map<ToolDefinition, boolean>()
  bySeed.set(environmentSeed, known)
  return (node) => {
    let answer = known.get(node.tool)
    if (answer === undefined) {
      const session = seedStates.open(node.environment, environmentSeed)
      const random = seededRandom(deriveSeed('prove/possible/1', environmentSeed, nodeName(node)))
      answer = Array.from({ length: DRAWS }).some(() => session.sampleArguments(node.tool, random, {}) !== null)
      known.set(node.tool, answer)
    }
    return answer
  }
}

/** Whether a call of the chain makes a fact true that the tool needs. */
export const isPrepared = ({ environment, tool }: Node, earlier: Chain): boolean =>
  earlier.some(
    (node) =>
      node.environment === environment && node.tool.establishes?.some((fact) => tool.needs?.includes(fact)) === true,
  )

/** Calls that may have to come before one another until a tool can be used: an engine is started before a car moves, and cruises then. */
const MOST_PREPARING = 4
/** How often a call is prepared that could be made as it is: what it then does may not be what the next one needs. */
const GO_ON = 0.3
/** How often a tool is prepared by one that needs preparing itself, though another could be called at once: it may need another thing. */
const DEEPER = 0.5

/**
 * The core of a chain with the calls before it that prepare what its first one needs, where the state does not have it.
 * @returns `null` when nothing prepares it
 */
export function prepared(
  core: Chain,
  graph: ToolGraph,
  isPossible: (node: Node) => boolean,
  random: SeededRandom,
  left = MOST_PREPARING,
): Chain | null {
  return isPossible(core[0]!) ? core : preparedBy(core, graph, isPossible, random, left)
}

function preparedBy(
  core: Chain,
  graph: ToolGraph,
  isPossible: (node: Node) => boolean,
  random: SeededRandom,
  left: number,
): Chain | null {
  const before = graph
    .intoWithin(core[0]!)
    .filter(({ kind, from }) => kind === 'implicit' && !core.includes(from))
    .map(({ from }) => from)
  if (before.length === 0) return null
  const ready = before.filter(isPossible)
  const others = before.filter((node) => !ready.includes(node))
  const last = left <= 1
  const isFirst = core.length < 2
  const goesOn = !last && (isFirst ? others.length > 0 && random.chance(DEEPER) : random.chance(GO_ON))
  if (ready.length > 0 && !goesOn) return [random.pick(ready), ...core]
  if (last) return null
  const next = [random.pick(isFirst ? others : before), ...core]
  return isPossible(next[0]!)
    ? (preparedBy(next, graph, isPossible, random, left - 1) ?? next)
    : prepared(next, graph, isPossible, random, left - 1)
}
