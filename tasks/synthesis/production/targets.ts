import {
  createSeedStateCache,
  deriveSeed,
  type SeededRandom,
  type SeedStateCache,
  seededRandom,
} from '../../../servers/kernel/index.js'
import { EXPECTED_PER_TOOL } from '../../dataset/coverage.js'
import type { Example } from '../../dataset/example.js'
import type { Profile } from '../../dataset/profile.js'
import { toolsOfChain } from '../../dataset/statistics.js'
import { type Node, nodeName, type ToolGraph } from '../graph.js'
import { valueAt } from '../item-at.js'
import { type ChainIndex, chainIndex } from '../making/chain-index.js'
import { canFailIn, fieldsToLeaveOut } from '../making/conversation-shape.js'
import { hasRuleFor } from '../making/domain-rules.js'
import { type FittingChain, fittingChains } from '../making/fitting-chains.js'
import type { TaskPlan } from '../making/plan.js'
import { CHAIN_LENGTHS } from '../making/split.js'
import { type StateIndex, stateIndex } from '../making/state-index.js'
import type { Assignment, Rejection } from '../making/synthesis-context.js'
import { spentName } from '../making/take-steps.js'

/** Rejections of a chain after which it is not tried again, if nothing came of it. */
const SPENT_AFTER = 2
/** The same for a chain through a scarce tool, whose few chains need a state that is rare. */
const SPENT_AFTER_IF_SCARCE = 24
/** Rounds after which a rare failure becomes a usual one, and after which a plan asks for less: some splits have no chain for each kind. */
const ROUNDS_WITH_RARE = 10
const ROUNDS_WITH_ALL = 16

/** Chooses the tool that each example is about, and remembers what came of it. */
export interface Targets {
  /** Tools with a chain that can carry a plan, as far as the tools show. */
  able(plan: TaskPlan): readonly Node[]
  /** Returns the plan with the tool that the fewest examples call so far. */
  assign(plan: TaskPlan, index: number, round: number): Assignment
  /** Notes what came of an assignment. */
  note(assignment: Assignment, kept: Example | null, rejected: readonly Rejection[]): void
  /** Names of the chains of which nothing came, see `spentName`. */
  spent(): string[]
  /** Returns why a tool has few examples, by its name: the chains through it, and what dropped its candidates. */
  scarcity(): Record<string, string>
}

/** Number of objections that a reason names. */
const MAIN_OBJECTIONS = 3

export function createTargets(
  graph: ToolGraph,
  profile: Profile,
  heldOutEnvironments: ReadonlySet<string>,
  seed: number,
  seedStates: SeedStateCache = createSeedStateCache(),
): Targets {
  // Which calls fail for a wrong value is much the same in all states, so one of them is looked at.
  const state = stateIndex(deriveSeed('prove/planning-state/1', seed), seedStates)
  const called = new Map(graph.nodes.map((node) => [nodeName(node), 0]))
  const waiting = new Map<string, number>()
  const failures = new Map<string, number>()
  const chains = new Map<string, number>()
  const dropped = new Map(graph.nodes.map((node) => [nodeName(node), new Map<string, number>()]))
  const known = new Map<string, readonly Node[]>()
  const add = (counts: Map<string, number>, name: string, more: number): void => {
    counts.set(name, Math.max(0, (counts.get(name) ?? 0) + more))
  }
  const able = (plan: TaskPlan): readonly Node[] => {
    const { kind, split, calls, requests, information, recovery, crossing, missing, rules } = plan
    const name = JSON.stringify([kind, split, calls, requests, information, recovery, crossing, missing, rules])
    let nodes = known.get(name)
    if (!nodes) {
      nodes = ableNodes(plan, graph, profile, heldOutEnvironments, state)
      known.set(name, nodes)
    }
    return nodes
  }
  /** Tools with fewer examples than expected, and with by far fewer than other tools. */
  const scarce = (): ReadonlySet<string> => {
    const average = [...called.values()].reduce((sum, count) => sum + count, 0) / called.size
    return new Set(
      [...called].flatMap(([name, count]) =>
        count < EXPECTED_PER_TOOL && EXPECTED_PER_TOOL * (count + 1) <= average ? [name] : [],
      ),
    )
  }
  const cost = (node: Node): number => {
    const name = nodeName(node)
    return (called.get(name) ?? 0) + (waiting.get(name) ?? 0) + (failures.get(name) ?? 0) ** 2
  }
  return {
    able,
    assign(wanted, index, round) {
      const plan =
        round < ROUNDS_WITH_RARE ? wanted : round < ROUNDS_WITH_ALL ? withUsualFailure(wanted) : withLess(wanted)
      const random = seededRandom(deriveSeed('prove/target/2', seed, index, round))
      const among = able(plan)
      const target = cheapest(among.length > 0 ? among : graph.nodes, cost, random)
      add(waiting, nodeName(target), 1)
      return { ...plan, index, target, round }
    },
    note(assignment, kept, rejected) {
      const own = nodeName(assignment.target)
      add(waiting, own, -1)
      if (kept) failures.delete(own)
      else add(failures, own, 1)
      const environments = new Map(kept?.task.toolset.map(({ environment, tool }) => [tool, environment]))
      for (const name of new Set(kept?.task.groundTruth.map((call) => `${environments.get(call.name)}:${call.name}`)))
        add(called, name, 1)
      for (const { by, chain } of rejected) {
        add(valueAt(dropped, own), by, 1)
        if (chain !== undefined) add(chains, spentName(chain, assignment, by), 1)
      }
      if (!kept) return
      for (const name of [kept.task.chain, spentName(kept.task.chain, assignment)])
        chains.set(name, Number.NEGATIVE_INFINITY)
    },
    spent() {
      const few = scarce()
      const isSpent = ([name, count]: readonly [string, number]): boolean => {
        if (count < SPENT_AFTER || count >= SPENT_AFTER_IF_SCARCE || few.size === 0) return count >= SPENT_AFTER
        const [chain = ''] = name.split(' ')
        return !toolsOfChain(chain).some((tool) => few.has(tool))
      }
      return [...chains].filter(isSpent).map(([name]) => name)
    },
    scarcity: () =>
      Object.fromEntries(
        profile.speech === 'plain'
          ? []
          : graph.nodes.map((node) => [
              nodeName(node),
              reasonFor(chainsThrough(node, chainIndex(graph, heldOutEnvironments)), valueAt(dropped, nodeName(node))),
            ]),
      ),
  }
}

const chainsThrough = (node: Node, index: ChainIndex): number =>
  CHAIN_LENGTHS.flatMap((length) =>
    [true, false].map((crossing) => index.through(node, { length, split: 'train', crossing }).length),
  ).reduce((sum, count) => sum + count, 0)

function reasonFor(chains: number, dropped: ReadonlyMap<string, number>): string {
  if (chains === 0) return 'no chain of training runs through the tool'
  const main = [...dropped].sort(([, a], [, b]) => b - a).slice(0, MAIN_OBJECTIONS)
  const by = main.map(([name, count]) => `\`${name}\` ${count}`).join(', ')
  return `${chains} ${chains === 1 ? 'chain' : 'chains'} of training${by === '' ? '' : `; dropped by ${by}`}`
}

function cheapest(nodes: readonly Node[], cost: (node: Node) => number, random: SeededRandom): Node {
  let [best, least] = [nodes[0] as Node, Number.POSITIVE_INFINITY]
  for (const node of random.shuffle(nodes)) {
    const own = cost(node)
    if (own < least) [best, least] = [node, own]
  }
  return best
}

function ableNodes(
  plan: TaskPlan,
  graph: ToolGraph,
  profile: Profile,
  heldOutEnvironments: ReadonlySet<string>,
  state: StateIndex,
): readonly Node[] {
  const { kind, calls, split, crossing, missing, rules } = plan
  const ruled =
    rules === 'declined' || rules === 'confirmed' ? graph.nodes.filter((node) => hasRuleFor(node, rules)) : graph.nodes
  if (profile.speech === 'plain') return ruled
  if (kind !== 'multi-turn')
    return missing === 'value' ? ruled.filter((node) => fieldsToLeaveOut(node).length > 0) : ruled
  const { all } = fittingChains(chainIndex(graph, heldOutEnvironments), { length: calls, split, crossing }, plan)
  const isFit = ({ nodes, partings }: FittingChain): boolean =>
    partings.some((parts) => canFailIn(plan, nodes, parts, state))
  const fitting = new Set(all.flatMap((chain) => (isFit(chain) ? chain.nodes : [])))
  return ruled.filter((node) => fitting.has(node))
}

/** The plan with a failure that other arguments make good, if it has a failure: few calls fail otherwise. */
const withUsualFailure = (plan: TaskPlan): TaskPlan =>
  plan.recovery === null ? plan : { ...plan, recovery: 'corrected', information: 'complete' }

/** The plan without what is rarest in it. */
const withLess = ({ rules, ...plan }: TaskPlan): TaskPlan => ({
  ...plan,
  recovery: null,
  crossing: false,
  ...(plan.kind === 'multi-turn' ? { information: 'complete', requests: Math.min(2, plan.calls) } : {}),
  ...(rules === undefined ? {} : { rules: 'abiding' }),
})
