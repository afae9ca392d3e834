import type { DropReason } from '../../dataset/example.js'
import type { Split } from '../../dataset/profile.js'
import { deriveSeed, type SeededRandom, type ServerDefinition, seededRandom } from '../../servers/kernel/index.js'
import { type Chain, splitOf } from './split.js'
import type { Assignment, SynthesisContext } from './synthesis-context.js'
import { hasNoOtherUse, type Undoing, undoingsIn } from './undoing.js'
import { drawChain, type Open, type Step, walk } from './walk.js'

/** A chain as it was executed. */
export interface Taken {
  readonly chain: Chain
  readonly steps: readonly Step[]
  readonly open: Open
  /** What is taken back in it, which has to be asked for in a later turn. */
  readonly undoings: readonly Undoing[]
}

/** A chain of the assignment's split around `core`, executed in fresh sessions. */
export function takeSteps(
  { split }: Assignment,
  core: Chain,
  length: number,
  worldSeed: number,
  context: SynthesisContext,
  random: SeededRandom,
): Taken | DropReason {
  const chain = drawChainOf(split, core, length, context, random)
  if (!chain) return 'no_walk'
  const open: Open = (server) => context.worlds.open(server, worldSeed)
  const steps = walk(chain, open, context.profile, random)
  if (!steps) return 'no_walk'
  const undoings = undoingsIn(steps, open)
  return undoings.every(({ later }) => hasNoOtherUse(steps[later]!)) ? { chain, steps, open, undoings } : 'undone'
}

/** Short chains around one tool are few, and perhaps none belongs to a rare split: others may then take its place. */
export function shortCore({ target, split }: Assignment, { graph }: SynthesisContext, random: SeededRandom): Chain {
  return [split === 'train' || random.chance(0.3) ? target : random.pick(graph.nodes)]
}

/**
 * Splits are told apart by hash, so chains are drawn until one belongs to the split that is wanted. Tools that need
 * several look-ups have no short chains: the length is then the least that there is.
 */
function drawChainOf(
  split: Split,
  core: Chain,
  length: number,
  { graph, profile, heldOutWorlds }: SynthesisContext,
  random: SeededRandom,
): Chain | null {
  for (let longer = length; longer <= LONGEST; longer++) {
    let drawn = false
    for (let attempt = 0; attempt < DRAWS_PER_SPLIT[split]; attempt++) {
      const chain = drawChain(graph, core, longer, profile, random)
      if (!chain) continue
      drawn = true
      if (splitOf(chain, heldOutWorlds) === split) return chain
    }
    if (drawn) return null
  }
  return null
}

/** The paper's chains have two to five tools (section 3.2). */
const LONGEST = 5

/** The rarer a split's chains, the more draws. */
const DRAWS_PER_SPLIT: Readonly<Record<Split, number>> = { train: 8, 'held-out': 16, validation: 60 }

/** What is drawn once per round, not per attempt, so that what is harder to find keeps its share. */
export const shapeRandom = ({ index, round }: Assignment, { seed }: SynthesisContext): SeededRandom =>
  seededRandom(deriveSeed('prove/shape/1', seed, index, round))

/** The worlds that a chain runs through. */
export const homeOf = (chain: Chain): ServerDefinition[] => [...new Set(chain.map(({ server }) => server))]
