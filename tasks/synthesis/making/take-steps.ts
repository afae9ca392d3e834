import type { SeededRandom, SpokenEnvironment } from '../../../servers/kernel/index.js'
import type { Node } from '../graph.js'
import { type ChainQuery, chainIndex, type WiredChain } from './chain-index.js'
import { firstObjection, type ObjectionName, OF_CALLS } from './objections.js'
import { plainChain } from './plain-chain.js'
import type { TaskPlan } from './plan.js'
import { type Chain, chainName, LONGEST, SHORTEST, splitOf } from './split.js'
import { type StateIndex, stateIndex } from './state-index.js'
import type { Parts } from './state-references.js'
import type { Open, Step } from './step.js'
import type { Assignment, Setting, SynthesisContext } from './synthesis-context.js'
import type { Taken } from './taken.js'
import { undoingsIn } from './undoing.js'
import { type WalkOptions, walk } from './walk.js'
import { canBeAskedInTurns } from './wiring.js'

/** Which chain is wanted. */
export interface Wanted {
  /** The tool that the chain runs through. */
  readonly around: Node
  readonly length: number
  readonly crossing?: boolean
  /** Whether another length will do where this one has no chain. */
  readonly anyLength?: boolean
  /** Whether a chain of another environment will do where the tool has no chain. */
  readonly anywhere?: boolean
  /** Which chains are of use, as far as their tools tell. */
  fits?(chain: Chain): boolean
  /** The ways to ask for a chain in turns, of which one has to do. */
  partsOf?(chain: Chain): readonly Parts[]
  /** Whether a chain in these turns is of use in a state of the environments. */
  inState?(chain: Chain, parts: Parts, state: StateIndex): boolean
  /** Whether the calls of a chain will do when they are asked for in one of these ways; otherwise others are looked for. */
  isEnough?(steps: readonly Step[], partings: readonly Parts[], open: Open): boolean
}

/** A chain of the assignment's split, executed in fresh sessions. */
export function takeSteps(wanted: Wanted, setting: Setting): Taken | ObjectionName {
  const { environmentSeed, context, random, tried } = setting
  const { graph, profile, seedStates } = context
  const isNatural = profile.speech === 'natural'
  const found = isNatural ? chooseChain(wanted, setting) : choosePlain(wanted, setting)
  if (!found) return 'no_chain'
  const { nodes: chain, partings } = found
  tried.add(chainName(chain))
  const open: Open = (environment) => seedStates.open(environment, environmentSeed)
  const { wiring } = found
  const isEnough: WalkOptions['isEnough'] = (walked, left) => wanted.isEnough?.(walked, left ?? [], open) ?? true
  const steps = walk(chain, { ...(wiring ? { wiring } : {}), open, profile, random, partings, isEnough })
  if (!steps) return 'no_walk'
  const objection = isNatural ? firstObjection(OF_CALLS, { chain, steps, open, graph }) : undefined
  return objection ?? { chain, steps, open, undoings: undoingsIn(steps, open) }
}

/** Objections to a chain whatever is said about it. */
const OF_CHAIN: ReadonlySet<ObjectionName> = new Set(['no_walk', ...OF_CALLS.map(({ name }) => name)])

/**
 * Returns the name under which a chain counts as spent after repeated rejections: of the chain alone, or of conversations of one shape.
 * @param by  the objection, unless the name of the shape is wanted
 */
export const spentName = (chain: string, { information, recovery, missing }: TaskPlan, by?: ObjectionName): string =>
  by !== undefined && OF_CHAIN.has(by) ? chain : `${chain} ${information} ${recovery} ${missing}`

interface Found extends Pick<WiredChain, 'nodes'>, Partial<Pick<WiredChain, 'wiring'>> {
  readonly partings: readonly Parts[] | undefined
}

/** Tools whose chains may take the place of those of the wanted one. */
const OTHER_TOOLS = 24

/** A chain of the index that can be called in this state and was not tried in it. */
function chooseChain(
  { around, length, crossing = false, anyLength, anywhere = false, fits = () => true, partsOf, inState }: Wanted,
  { assignment, environmentSeed, context, random, tried, spent }: Setting,
): Found | undefined {
  const { split } = assignment
  const isNear = (node: Node): boolean => anywhere || node.environment === around.environment
  const others = random.sample(context.graph.nodes.filter(isNear), OTHER_TOOLS)
  const state = stateIndex(environmentSeed, context.seedStates)
  const index = chainIndex(context.graph, context.heldOutEnvironments)
  for (const next of anyLength ? lengthsFrom(length) : [length]) {
    const query: ChainQuery = { length: next, split, crossing }
    // Where no chain through the tool that is wanted will do, one through another tool takes its place.
    for (const tool of [around, ...others]) {
      for (const { nodes, wiring } of random.shuffle(index.through(tool, query))) {
        const name = chainName(nodes)
        if (tried.has(name) || spent.has(name) || spent.has(spentName(name, assignment)) || !fits(nodes)) continue
        const isFit = (parts: Parts): boolean =>
          canBeAskedInTurns(nodes, wiring, parts) && (inState?.(nodes, parts, state) ?? true)
        const partings = state.canCarry(nodes, wiring) ? partsOf?.(nodes).filter(isFit) : []
        if (partings?.length !== 0) return { nodes, wiring, partings }
      }
    }
  }
  return undefined
}

function choosePlain(
  { around, length, fits = () => true }: Wanted,
  { assignment: { split }, environmentSeed, context, random }: Setting,
): Found | undefined {
  const { graph, seedStates, heldOutEnvironments } = context
  const state = stateIndex(environmentSeed, seedStates)
  const isOfUse = (chain: Chain): boolean =>
    fits(chain) && splitOf(chain, heldOutEnvironments) === split && state.canCarry(chain, undefined)
  for (const next of lengthsFrom(length)) {
    const nodes = plainChain(around, next, graph, isOfUse, random)
    if (nodes) return { nodes, partings: undefined }
  }
  return undefined
}

/** The length that is wanted, then longer ones, then shorter ones. */
function lengthsFrom(wanted: number): number[] {
  const least = Math.min(wanted, SHORTEST)
  const all = Array.from({ length: LONGEST - least + 1 }, (_, i) => least + i)
  return [...all.filter((length) => length >= wanted), ...all.filter((length) => length < wanted).reverse()]
}

/** Draws the tool of a chain. Outside of training chains are few, so that other tools may take the place of the wanted one. */
export const toolAround = ({ target, split }: Assignment, { graph }: SynthesisContext, random: SeededRandom): Node =>
  split === 'train' || random.chance(OWN_TARGET) ? target : random.pick(graph.nodes)

const OWN_TARGET = 0.3

/** The environments that a chain runs through. */
export const homeOf = (chain: Chain): SpokenEnvironment[] => [...new Set(chain.map(({ environment }) => environment))]
