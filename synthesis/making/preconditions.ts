import { LRUCache } from 'lru-cache'
import { deriveSeed, seededRandom, type WorldCache } from '../../servers/kernel/index.js'
import { type Node, nodeName, type ToolGraph } from '../../servers/kernel/tool-graph.js'
import type { Chain } from './split.js'

/** Draws of arguments before it is held that a state has none: some samplers look at part of their tables only. */
const DRAWS = 3
/** Answers kept: those for the tools of all worlds under a few dozen seeds. */
const KEPT = 20_000

const answers = new WeakMap<WorldCache, LRUCache<string, boolean>>()

/** Whether a tool could be called as the first one in the worlds of a seed. The same world gives the same answer. */
export function isPossibleAtFirst(node: Node, worldSeed: number, worlds: WorldCache): boolean {
  let known = answers.get(worlds)
  if (!known) {
    known = new LRUCache({ max: KEPT })
    answers.set(worlds, known)
  }
  const name = `${nodeName(node)} ${worldSeed}`
  let answer = known.get(name)
  if (answer === undefined) {
    const session = worlds.open(node.server, worldSeed)
    const random = seededRandom(deriveSeed('prove/possible/1', worldSeed, nodeName(node)))
    answer = Array.from({ length: DRAWS }).some(() => session.sampleArguments(node.tool, random, {}) !== null)
    known.set(name, answer)
  }
  return answer
}

/** Whether a call of the chain makes a fact true that the tool needs. */
export const isPrepared = ({ server, tool }: Node, earlier: Chain): boolean =>
  earlier.some(
    (node) => node.server === server && node.tool.establishes?.some((fact) => tool.needs?.includes(fact)) === true,
  )

/**
 * The core of a chain with a call before it that prepares what its first one needs, where the state does not have it.
 * @returns `null` when nothing prepares it
 */
export function prepared(
  core: Chain,
  graph: ToolGraph,
  isPossible: (node: Node) => boolean,
  pick: (nodes: readonly Node[]) => Node,
): Chain | null {
  const [first] = core
  if (isPossible(first!)) return core
  const before = graph
    .into(first!)
    .filter(({ kind, from }) => kind === 'implicit' && !core.includes(from) && isPossible(from))
    .map(({ from }) => from)
  return before.length === 0 ? null : [pick(before), ...core]
}
