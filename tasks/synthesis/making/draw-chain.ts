import type { SeededRandom } from '../../../servers/kernel/index.js'
import type { Profile } from '../../dataset/profile.js'
import { type Link, lookedUp, type Node, type ToolGraph } from './graph.js'
import { endsWithCheck, isPurposeful } from './purpose.js'
import type { Chain } from './split.js'
import { kindsStated } from './stated-kinds.js'

/** Share of the tools that come between two others: where a chain of the two is of another split, only so they occur in one. */
const BETWEEN = 0.12
/** The same where chains have to be parted. */
const BETWEEN_PARTED = 0.6
/** Draws of a chain around one tool before another length is drawn. */
const TRIES_PER_CHAIN = 12
/** Draws of a link before it is held that none leads to a tool that can be called. */
const TRIES_PER_LINK = 6

/** Source from which a chain is drawn. */
export interface ChainSource {
  readonly graph: ToolGraph
  readonly profile: Profile
  /** Whether a tool could be called after those of a chain, as far as that can be told without calling any. */
  isReady(node: Node, earlier: Chain): boolean
  /** Whether the chain is to be parted: some two of its tools may not follow one another. */
  readonly parted?: boolean
}

/**
 * Draws a chain of `length` tools that runs through `core` along the links of the graph. Look-ups come before the calls that need them. The
 * chain contains no call that the state forbids from the start.
 * @returns `null` if no chain was found
 */
export function drawChain(source: ChainSource, core: Chain, length: number, random: SeededRandom): Chain | null {
  const spoken = source.profile.keys === 'spoken'
  const isPlain = source.profile.speech === 'plain'
  for (let attempt = 0; attempt < TRIES_PER_CHAIN; attempt++) {
    const chain = [...core]
    while (chain.length < length && grow(chain, source, random));
    if (
      chain.length === length &&
      !firstUncovered(chain, spoken) &&
      (isPlain || (isPurposeful(chain) && endsWithCheck(chain)))
    )
      return chain
  }
  return null
}

/** Adds one tool: a look-up where one is missing, otherwise one before the first or after the last. @returns false if none fits */
function grow(chain: Node[], { graph, profile, isReady, parted }: ChainSource, random: SeededRandom): boolean {
  const spoken = profile.keys === 'spoken'
  const missing = firstUncovered(chain, spoken)
  if (missing) {
    const sources = graph
      .intoWithin(missing.node)
      .filter(
        ({ kind, through, from }) =>
          kind === 'explicit' &&
          through === missing.entity &&
          !chain.includes(from) &&
          kindsStated(from, spoken).has(missing.entity),
      )
    const link = pickLink(sources, random, ({ from }) => isReady(from, []))
    if (link) chain.splice(random.int(0, chain.indexOf(missing.node)), 0, link.from)
    return link !== undefined
  }
  if (!spoken && chain.length > 1 && random.chance(parted ? BETWEEN_PARTED : BETWEEN)) {
    const at = random.int(1, chain.length - 1)
    const inner = graph.fromWithin(chain[at - 1]!).filter(({ to }) => !chain.includes(to))
    const link = pickLink(inner, random, ({ to }) => isReady(to, chain.slice(0, at)))
    if (link) {
      chain.splice(at, 0, link.to)
      return true
    }
  }
  const [first, last] = [chain[0]!, chain.at(-1)!]
  const isNew = (node: Node): boolean => !chain.includes(node)
  const goesBack = graph.into(first).some(({ from }) => isNew(from))
  const goesOn = graph.from(last).some(({ to }) => isNew(to))
  const backwards = goesBack && (!goesOn || random.chance(0.4))
  // Where the chain is to go on in another environment, it is built around the link that leads there.
  const link = backwards
    ? pickLink(
        graph.intoWithin(first).filter(({ from }) => isNew(from)),
        random,
        ({ from }) => isReady(from, []),
      )
    : pickLink(
        graph.fromWithin(last).filter(({ to }) => isNew(to)),
        random,
        ({ to }) => isReady(to, chain),
      )
  if (!link) return false
  if (backwards) chain.unshift(link.from)
  else chain.push(link.to)
  return true
}

function firstUncovered(chain: Chain, spoken: boolean): { node: Node; entity: string } | undefined {
  for (const [i, node] of chain.entries()) {
    for (const entity of lookedUp(node, spoken).values())
      if (!isCovered(entity, chain, i, spoken)) return { node, entity }
  }
  return undefined
}

/** Whether the result of a call before `at` in the same environment holds a key of this kind. */
const isCovered = (entity: string, chain: Chain, at: number, spoken: boolean): boolean =>
  chain.some(
    (node, i) => i < at && node.environment === chain[at]!.environment && kindsStated(node, spoken).has(entity),
  )

function pickLink(links: readonly Link[], random: SeededRandom, fits: (link: Link) => boolean): Link | undefined {
  for (let left = links.length === 0 ? 0 : TRIES_PER_LINK; left > 0; left--) {
    const link = random.pick(links)
    if (fits(link)) return link
  }
  return undefined
}
