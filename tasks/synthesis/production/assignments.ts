import { deriveSeed, seededRandom } from '../../../servers/kernel/index.js'
import type { Example } from '../../dataset/example.js'
import { type Kind, type Profile, SPLITS, type Split } from '../../dataset/profile.js'
import { type Node, nodeName, type ToolGraph } from '../making/graph.js'
import type { Assignment } from '../making/synthesis-context.js'

/** Number of examples of each kind, over all splits. */
export type Composition = Readonly<Record<Kind, number>>

/** The paper's composition of 13,517 examples (section 3.2). */
export const PAPER_COMPOSITION: Composition = { 'multi-turn': 10_895, clarification: 1_500, abstention: 1_122 }

/** Shares of the examples outside the training split. */
export const SPLIT_SHARES: Readonly<Record<Exclude<Split, 'train'>, number>> = { validation: 0.05, 'held-out': 0.05 }

/** Returns the paper's composition scaled to `total` examples, rounded so that the sum is exact. */
export function compositionOf(total: number): Composition {
  const whole = Object.values(PAPER_COMPOSITION).reduce((sum, count) => sum + count, 0)
  const clarification = Math.round((total * PAPER_COMPOSITION.clarification) / whole)
  const abstention = Math.round((total * PAPER_COMPOSITION.abstention) / whole)
  return { 'multi-turn': total - clarification - abstention, clarification, abstention }
}

/**
 * Returns one assignment per example: exact counts of kinds and splits in random order. Target tools alternate within each kind and
 * split, so that every tool is used.
 */
export function assignmentsFor(
  composition: Composition,
  shares: Readonly<Partial<Record<Split, number>>>,
  graph: ToolGraph,
  seed: number,
): Assignment[] {
  const random = seededRandom(deriveSeed('prove/orders/1', seed))
  const wanted: Pick<Assignment, 'kind' | 'split' | 'target'>[] = []
  for (const [kind, count] of Object.entries(composition) as [Kind, number][]) {
    const aside = SPLITS.filter((split) => split !== 'train').map(
      (split) => [split, Math.round(count * (shares[split] ?? 0))] as const,
    )
    const training = count - aside.reduce((sum, [, size]) => sum + size, 0)
    for (const [split, size] of [['train', training] as const, ...aside]) {
      let turn: Node[] = []
      for (let i = 0; i < size; i++) {
        if (turn.length === 0) turn = random.shuffle(graph.nodes)
        wanted.push({ kind, split, target: turn.pop()! })
      }
    }
  }
  return random.shuffle(wanted).map((assignment, index) => ({ ...assignment, index, round: 0 }))
}

/** Counts the kept examples that call each tool, and prefers rare tools in later rounds. */
export interface Targets {
  count(example: Example): void
  /**
   * Returns the assignment for the next round. An unsuccessful target tool is replaced, alternately by the rarest tool so far and by any
   * tool.
   */
  nextRound(assignment: Assignment): Assignment
}

export function createTargets(graph: ToolGraph, seed: number, { rounds, least }: Profile['target']): Targets {
  const calls = new Map(graph.nodes.map((node) => [nodeName(node), 0]))
  let waiting: Node[] = []
  const shortest = (): Node => {
    const callsOf = (node: Node): number => calls.get(nodeName(node))!
    if (waiting.length === 0) {
      const ranked = [...graph.nodes].sort((a, b) => callsOf(a) - callsOf(b))
      const few = ranked.filter((node) => callsOf(node) < least)
      waiting = few.length > 0 ? few : ranked.slice(0, Math.ceil(ranked.length * SHORT_SHARE))
    }
    return waiting.shift()!
  }
  return {
    count({ task }) {
      const environments = new Map(task.toolset.map(({ environment, tool }) => [tool, environment]))
      for (const name of new Set(task.groundTruth.map((call) => `${environments.get(call.name)}:${call.name}`)))
        calls.set(name, (calls.get(name) ?? 0) + 1)
    },
    nextRound(assignment) {
      const round = assignment.round + 1
      if (round < rounds) return { ...assignment, round }
      if (round % 2 === 1) return { ...assignment, round, target: shortest() }
      const drawn = deriveSeed('prove/target/1', seed, assignment.index, round) % graph.nodes.length
      return { ...assignment, round, target: graph.nodes[drawn]! }
    },
  }
}

/** Share of the tools that count as rare when all tools have enough examples. */
const SHORT_SHARE = 0.25
/** Rounds before an unsuccessful example is given up. */
export const MAX_ROUNDS = 60
/** Consecutive rounds without a new example after which the environments count as exhausted. */
export const IDLE_ROUNDS = 24
