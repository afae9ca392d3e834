import { deriveSeed, type SeededRandom, type SpokenEnvironment, seededRandom } from '../../../servers/kernel/index.js'
import type { DropReason } from '../../dataset/example.js'
import type { Split } from '../../dataset/profile.js'
import { belongsTogether } from './belonging.js'
import { type ChainSource, drawChain } from './draw-chain.js'
import { isOneErrand } from './errand.js'
import type { Node } from './graph.js'
import { knownChain } from './known-chains.js'
import { lookUpsAreWorthIt } from './looks.js'
import { isPrepared, possibleAtFirst, prepared } from './preconditions.js'
import { isPurposeful } from './purpose.js'
import { type Chain, chainName, splitOf } from './split.js'
import type { Parts } from './state-references.js'
import type { Open, Step } from './step.js'
import type { Assignment, SynthesisContext } from './synthesis-context.js'
import { hasNoOtherUse, isIdle, leadsOnlyBack, type Undoing, undoingsIn } from './undoing.js'
import { walk } from './walk.js'

/** A chain as it was executed. */
export interface Taken {
  readonly chain: Chain
  readonly steps: readonly Step[]
  readonly open: Open
  /** Steps that take an earlier step back. They have to be asked for in a later turn. */
  readonly undoings: readonly Undoing[]
}

export interface Wanted {
  /** Which chains are of use, as far as their tools tell. */
  fits?(chain: Chain): boolean
  /** The ways to ask for a chain in turns, of which one has to do. */
  partsOf?(chain: Chain): readonly Parts[]
}

/** A chain of the assignment's split around `core`, executed in fresh sessions. */
export function takeSteps(
  { split, round }: Assignment,
  core: Chain,
  length: number,
  environmentSeed: number,
  context: SynthesisContext,
  random: SeededRandom,
  { fits = () => true, partsOf }: Wanted = {},
): Taken | DropReason {
  const { graph, profile, seedStates: environments } = context
  const isNatural = profile.speech === 'natural'
  const isPossible = possibleAtFirst(environmentSeed, environments)
  // What the tools tell is asked before what the environments do, which may have to be generated for it.
  const canFollow = (node: Node, earlier: Chain): boolean => isPrepared(node, earlier) || isPossible(node)
  const isOfUse = (chain: Chain): boolean => fits(chain) && chain.every((node, i) => canFollow(node, chain.slice(0, i)))
  const isAround = isNatural && core.length === 1
  const listed =
    isAround && random.chance(LISTED) ? knownChain(core[0]!, length, split, context, isOfUse, random) : undefined
  const drawn = (): Chain | null => {
    const start = prepared(core, graph, isPossible, random)
    if (!start || start.length > LONGEST) return null
    const isReady = (node: Node, earlier: Chain): boolean =>
      (!isNatural || isPurposeful([...earlier, node])) && canFollow(node, earlier)
    const source = { graph, profile, isReady, fits }
    const least = isNatural && length >= LONG && round < ROUNDS_OF_LENGTH ? length : SHORTEST
    return drawChainOf(split, start, { length, least }, source, context.heldOutEnvironments, random)
  }
  const chain = listed ?? drawn()
  if (!chain) return 'no_chain'
  const open: Open = (environment) => environments.open(environment, environmentSeed)
  const steps = walk(chain, open, profile, random, isNatural ? partsOf?.(chain) : undefined)
  if (!steps) return 'no_walk'
  if (isNatural && !(isOneErrand(steps) && belongsTogether(steps, open) && !isIdle(steps, open))) return 'errand'
  if (isNatural && !lookUpsAreWorthIt(steps, open)) return 'look_up'
  const undoings = undoingsIn(steps, open)
  const isUsual = ({ earlier, later }: Undoing): boolean =>
    hasNoOtherUse(steps[later]!) || leadsOnlyBack(chain[earlier]!, graph)
  return undoings.every(isUsual) ? { chain, steps, open, undoings } : 'undone'
}

/** Steps from which on many tools have no chain. */
const LONG = 4
/** Rounds in which a long chain does not give way to a shorter one, for the tool of a later round may have one. */
const ROUNDS_OF_LENGTH = 6
/** How often a chain around one tool is one of those that are listed. Others come from looking things up in another order. */
const LISTED = 0.7

/** Chains around one tool are few, and perhaps none is of the kind that is wanted: others may then take its place. */
export function coreAround(
  { target, split }: Assignment,
  { graph }: SynthesisContext,
  random: SeededRandom,
  isRare = split !== 'train',
): Chain {
  return [!isRare || random.chance(0.3) ? target : random.pick(graph.nodes)]
}

/**
 * Splits are told apart by hash, so chains are drawn until one belongs to the split that is wanted. Tools that need
 * several look-ups have no short chains, and some that little leads to have no long ones: the length is then the next
 * that there is. It is the next one too where every chain runs through one of another split: something has to come between the two tools
 * of which that one is made.
 */
function drawChainOf(
  split: Split,
  core: Chain,
  { length, least }: { readonly length: number; readonly least: number },
  { fits, ...source }: ChainSource & { fits(chain: Chain): boolean },
  heldOutEnvironments: ReadonlySet<string>,
  random: SeededRandom,
): Chain | null {
  let parted = false
  for (const next of lengthsFrom(length, Math.max(core.length, Math.min(length, least)))) {
    const known = new Set<string>()
    let again = 0
    let elsewhere = false
    for (let attempt = 0; attempt < DRAWS_PER_SPLIT[split]; attempt++) {
      const chain = drawChain({ ...source, parted }, core, next, random)
      if (!chain && known.size === 0 && attempt >= DRAWS_PER_SPLIT.train) break
      if (!chain) continue
      const name = chainName(chain)
      if (known.has(name) && ++again > known.size) break
      known.add(name)
      if (!fits(chain)) continue
      const own = splitOf(chain, heldOutEnvironments)
      if (own === split) return chain
      elsewhere ||= own !== undefined
    }
    if (elsewhere) return null
    parted ||= known.size > 0
  }
  return null
}

/** The length that is wanted, then longer ones, then shorter ones; none that the core does not fit. */
function lengthsFrom(wanted: number, least: number): number[] {
  const all = Array.from({ length: LONGEST - least + 1 }, (_, i) => least + i)
  return [...all.filter((length) => length >= wanted), ...all.filter((length) => length < wanted).reverse()]
}

/** The paper's chains have two to five tools (section 3.2). */
const SHORTEST = 2
const LONGEST = 5

/** The rarer a split's chains, the more draws. */
const DRAWS_PER_SPLIT: Readonly<Record<Split, number>> = { train: 8, 'held-out': 16, validation: 60 }

/**
 * Returns the generator for choices that are settled for rounds, not drawn per attempt. So choices that are harder to find keep their
 * share.
 */
export const shapeRandom = (assignment: Assignment, context: SynthesisContext): SeededRandom =>
  seededRandom(deriveSeed('prove/shape/1', context.seed, assignment.index, settledRound(assignment, context, 1)))

/** The number of a stretch of rounds in which what was drawn for an example stays. @param plain  rounds of one in plain speech, where all is found soon */
export const settledRound = ({ round }: Assignment, { profile }: SynthesisContext, plain: number): number =>
  Math.floor(round / (profile.speech === 'plain' ? plain : ROUNDS_SETTLED))

const ROUNDS_SETTLED = 8

/** The environments that a chain runs through. */
export const homeOf = (chain: Chain): SpokenEnvironment[] => [...new Set(chain.map(({ environment }) => environment))]
