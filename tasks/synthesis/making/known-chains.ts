import type { SeededRandom } from '../../../servers/kernel/index.js'
import type { Split } from '../../dataset/profile.js'
import { lookedUp, type Node, nodeName, type ToolGraph } from './graph.js'
import { endsWithCheck, isPurposeful } from './purpose.js'
import { type Chain, splitOf } from './split.js'
import { kindsStated } from './stated-kinds.js'
import type { SynthesisContext } from './synthesis-context.js'

const known = new WeakMap<SynthesisContext, Map<string, readonly Chain[]>>()

/**
 * Returns a chain of a split in the environment of `around`. The chain runs through that tool if such a chain is of use. Otherwise the
 * function returns another chain of the environment, and none for training. Of two calls in a row one leads to the other, so these are not
 * all chains. They are few enough to be listed. A chain that is of use is found in the list at once. Otherwise a long chain, or one of a
 * rare split, would take dozens of draws.
 * @param fits  which of them are of use
 */
export function knownChain(
  around: Node,
  length: number,
  split: Split,
  context: SynthesisContext,
  fits: (chain: Chain) => boolean,
  random: SeededRandom,
): Chain | undefined {
  const { environment } = around
  const all = listed(context, `${split} ${length}`, () => {
    const paths = pathsOf(length, context.graph).filter(endsWithCheck)
    return paths.filter((chain) => splitOf(chain, context.heldOutEnvironments) === split)
  })
  const inEnvironment = (): readonly Chain[] =>
    listed(context, `${split} ${length} ${environment.name}`, () =>
      all.filter(([first]) => first!.environment === environment),
    )
  const through = listed(context, `${split} ${length} ${nodeName(around)}`, () =>
    inEnvironment().filter((chain) => chain.includes(around)),
  )
  const found = random.shuffle(through).find(fits)
  return found ?? (split === 'train' ? undefined : random.shuffle(inEnvironment()).find(fits))
}

function listed(context: SynthesisContext, name: string, list: () => readonly Chain[]): readonly Chain[] {
  let lists = known.get(context)
  if (!lists) {
    lists = new Map()
    known.set(context, lists)
  }
  let chains = lists.get(name)
  if (!chains) {
    chains = list()
    lists.set(name, chains)
  }
  return chains
}

/** Chains along the links within one environment, in which everything is looked up before it is used and every change has a purpose. */
function pathsOf(length: number, graph: ToolGraph): Chain[] {
  if (length === 0) return [[]]
  const longer = pathsOf(length - 1, graph).flatMap((chain) =>
    following(chain, graph).map((node): Chain => [...chain, node]),
  )
  return longer.filter((chain) => isLookedUp(chain) && isPurposeful(chain))
}

function following(chain: Chain, graph: ToolGraph): readonly Node[] {
  const last = chain.at(-1)
  if (!last) return graph.nodes
  const next = graph.fromWithin(last).filter(({ to }) => !chain.includes(to))
  return [...new Set(next.map(({ to }) => to))]
}

/** Whether calls before the last one show all that it must be given. */
function isLookedUp(chain: Chain): boolean {
  const shown = new Set(chain.slice(0, -1).flatMap((node) => [...kindsStated(node, false)]))
  return [...lookedUp(chain.at(-1)!, false).values()].every((kind) => shown.has(kind))
}
