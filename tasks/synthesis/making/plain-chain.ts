import type { SeededRandom } from '../../../servers/kernel/index.js'
import type { Node, ToolGraph } from '../graph.js'
import type { Chain } from './split.js'

/** Draws of a chain around one tool before it is held that there is none. */
const TRIES = 40
/** Share of the tools that are added before the first one rather than after the last one. */
const BACKWARDS = 0.4

/**
 * Draws a chain for plain speech, whose users may name every key: a path of the graph within one environment that runs through a tool.
 * @param fits  whether a whole chain is of use
 */
export function plainChain(
  through: Node,
  length: number,
  graph: ToolGraph,
  fits: (chain: Chain) => boolean,
  random: SeededRandom,
): Chain | undefined {
  for (let left = TRIES; left > 0; left--) {
    const chain = [through]
    while (chain.length < length) {
      const before = graph.intoWithin(chain[0] as Node).map(({ from }) => from)
      const after = graph.fromWithin(chain.at(-1) as Node).map(({ to }) => to)
      const [back, on] = [before, after].map((nodes) => nodes.filter((node) => !chain.includes(node))) as [
        Node[],
        Node[],
      ]
      if (back.length + on.length === 0) break
      if (on.length === 0 || (back.length > 0 && random.chance(BACKWARDS))) chain.unshift(random.pick(back))
      else chain.push(random.pick(on))
    }
    if (chain.length === length && fits(chain)) return chain
  }
  return undefined
}
