import type { SeededRandom, SpokenEnvironment } from '../../../servers/kernel/index.js'
import type { Node } from '../graph.js'
import { oncePerName } from '../once-per.js'
import { type ChainQuery, chainIndex, type WiredChain } from './chain-index.js'
import { canCarry, type Shape } from './conversation-shape.js'
import { type FittingChain, fittingChains } from './fitting-chains.js'
import { firstObjection, type ObjectionName, OF_CALLS } from './objections.js'
import { plainChain } from './plain-chain.js'
import type { TaskPlan } from './plan.js'
import { reversalsIn } from './reversals.js'
import { type Chain, chainName, LONGEST, SHORTEST, splitOf } from './split.js'
import { type StateIndex, stateIndex } from './state-index.js'
import type { ExecutedChain, Open, Parts, Step } from './step.js'
import type { Assignment, Setting, SynthesisContext } from './synthesis-context.js'
import { type WalkOptions, walk } from './walk.js'
import type { Wiring } from './wiring.js'

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
  /** The conversation that the chain carries. Without a shape, the calls need not be asked for in turns. */
  readonly shape?: Shape
  /** Which of these chains are of use, as far as their tools tell. */
  fits?(chain: Chain): boolean
  /** Whether a chain in these turns is of use in a state of the environments. */
  inState?(chain: Chain, parts: Parts, state: StateIndex): boolean
  /** Whether the calls of a chain will do when they are asked for in one of these ways; otherwise others are looked for. */
  isEnough?(steps: readonly Step[], partings: readonly Parts[], open: Open): boolean
}

/** A chain of the assignment's split, executed in fresh sessions. */
export function takeSteps(wanted: Wanted, setting: Setting): ExecutedChain | ObjectionName {
  const { environmentSeed, context, random, tried } = setting
  const { graph, profile, seedStates } = context
  const isNatural = profile.speech === 'natural'
  const found = isNatural ? chooseChain(wanted, setting) : choosePlain(wanted, setting)
  if (!found) return 'no_chain'
  const { nodes: chain, wiring, partings } = found
  tried.add(chainName(chain))
  const open: Open = (environment) => seedStates.open(environment, environmentSeed)
  const isEnough: WalkOptions['isEnough'] = (walked, left) => wanted.isEnough?.(walked, left ?? [], open) ?? true
  const steps = walk(chain, { ...(wiring ? { wiring } : {}), open, profile, random, partings, isEnough })
  if (!steps) return 'no_walk'
  const objection = isNatural ? firstObjection(OF_CALLS, { chain, steps, open, graph }) : undefined
  return objection ?? { chain, steps, open, reversals: reversalsIn(steps, open) }
}

/** Objections to a chain whatever is said about it. */
const OF_CHAIN: ReadonlySet<ObjectionName> = new Set(['no_walk', ...OF_CALLS.map(({ name }) => name)])

/**
 * Returns the name under which a chain counts as spent after repeated rejections: of the chain alone, or of conversations of one shape.
 * @param by  the objection, unless the name of the shape is wanted
 */
export const spentName = (chain: string, plan: TaskPlan, by?: ObjectionName): string =>
  by !== undefined && OF_CHAIN.has(by) ? chain : `${chain}${shapeName(plan)}`

const shapeName = ({ information, recovery, missing }: TaskPlan): string => ` ${information} ${recovery} ${missing}`

/** Returns the chains that are spent for conversations of a shape. */
const spentOf = oncePerName(
  (spent: ReadonlySet<string>, shape: string): ReadonlySet<string> =>
    new Set([...spent].flatMap((name) => (name.endsWith(shape) ? [name.slice(0, -shape.length)] : []))),
)

/** A chain, its things and the ways to ask for it; plain speech and requests that no call answers need not all of these. */
interface Found {
  readonly nodes: Chain
  readonly wiring?: Wiring
  readonly partings?: readonly Parts[]
}

/** Tools whose chains may take the place of those of the wanted one. */
const OTHER_TOOLS = 24
/** Most chains of a kind that are all tried, at last also those of which nothing came in other states. */
const FEW = 200

/** A chain of the index that can be called in this state and was not tried in it. */
function chooseChain(
  wanted: Wanted,
  { assignment, environmentSeed, context, random, tried, spent }: Setting,
): Found | undefined {
  const {
    around,
    length,
    crossing = false,
    anyLength,
    anywhere,
    shape,
    fits = () => true,
    inState = () => true,
  } = wanted
  const { split } = assignment
  const isNear = (node: Node): boolean => anywhere === true || node.environment === around.environment
  const others = random.sample(context.graph.nodes.filter(isNear), OTHER_TOOLS)
  const state = stateIndex(environmentSeed, context.seedStates)
  const index = chainIndex(context.graph, context.heldOutEnvironments)
  const spentHere = spentOf(spent, shapeName(assignment))
  const isFresh = (name: string): boolean => !spent.has(name) && !spentHere.has(name)
  for (const next of anyLength ? lengthsFrom(length) : [length]) {
    const query: ChainQuery = { length: next, split, crossing }
    const fitting = shape && fittingChains(index, query, shape)
    const few = anywhere && fitting && fitting.all.length <= FEW ? fitting.all : undefined
    // Where no chain through the tool that is wanted will do, one through another tool takes its place.
    const lists = few ? [around] : [around, ...others]
    const through = lists.map((tool): readonly Candidate[] =>
      fitting ? fitting.through(tool) : index.through(tool, query),
    )
    const fresh = [...through, ...(few ? [few] : [])]
    const again = few ? [few] : shape ? [] : through
    for (const [place, list] of [...fresh, ...again].entries()) {
      for (const { name, nodes, wiring, partings: all } of inRandomOrder(list, random)) {
        const isTaken = tried.has(name) || (place < fresh.length && !isFresh(name))
        if (isTaken || !fits(nodes) || !state.canCarry(nodes, wiring)) continue
        const partings = all?.filter((parts) => inState(nodes, parts, state))
        if (partings?.length !== 0) return { nodes, wiring, ...(partings ? { partings } : {}) }
      }
    }
  }
  return undefined
}

type Candidate = WiredChain & Partial<Pick<FittingChain, 'partings'>>

/** Yields the items of a list in random order. Few are asked for, so the list is not shuffled as a whole. */
function* inRandomOrder<T>(items: readonly T[], random: SeededRandom): Generator<T> {
  const moved = new Map<number, T>()
  const itemIn = (place: number): T => moved.get(place) ?? (items[place] as T)
  for (let last = items.length - 1; last >= 0; last--) {
    const at = random.int(0, last)
    yield itemIn(at)
    moved.set(at, itemIn(last))
  }
}

function choosePlain(
  { around, length, shape, fits = () => true }: Wanted,
  { assignment: { split }, environmentSeed, context, random }: Setting,
): Found | undefined {
  const { graph, seedStates, heldOutEnvironments } = context
  const state = stateIndex(environmentSeed, seedStates)
  const isOfUse = (chain: Chain): boolean =>
    fits(chain) &&
    (!shape || canCarry(chain, shape)) &&
    splitOf(chain, heldOutEnvironments) === split &&
    state.canCarry(chain, undefined)
  const others = split === 'train' ? [] : random.sample(graph.nodes, OTHER_TOOLS)
  for (const next of lengthsFrom(length)) {
    // Outside of training, few chains of a length run through one tool.
    for (const tool of [around, ...others]) {
      const nodes = plainChain(tool, next, graph, isOfUse, random)
      if (nodes) return { nodes }
    }
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
