import { type Kind, SPLITS, type Split } from '../../dataset/profile.js'
import { deriveSeed, seededRandom } from '../../servers/kernel/index.js'
import type { Node, ToolGraph } from '../../servers/kernel/tool-graph.js'
import type { Assignment } from '../making/synthesis-context.js'

/** How many examples of each kind, over all splits. */
export type Composition = Readonly<Record<Kind, number>>

/** The paper's composition of 13,517 examples (section 3.2). */
export const PAPER_COMPOSITION: Composition = { 'multi-turn': 10_895, clarification: 1_500, abstention: 1_122 }

/** Shares of the examples that are not for training. */
export const SPLIT_SHARES: Readonly<Record<Exclude<Split, 'train'>, number>> = { validation: 0.05, 'held-out': 0.05 }

/** The paper's composition scaled to `total` examples, rounded so that it sums up. */
export function compositionOf(total: number): Composition {
  const whole = Object.values(PAPER_COMPOSITION).reduce((sum, count) => sum + count, 0)
  const clarification = Math.round((total * PAPER_COMPOSITION.clarification) / whole)
  const abstention = Math.round((total * PAPER_COMPOSITION.abstention) / whole)
  return { 'multi-turn': total - clarification - abstention, clarification, abstention }
}

/**
 * One order per example: exact counts of kinds and splits in random order, and the tools take turns at being what an
 * example is about, within each kind and split, so that none is left out.
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

/** The assignment for the next round: another tool where this one led to nothing, so that no example waits for ever. */
export function nextRound(assignment: Assignment, graph: ToolGraph, seed: number): Assignment {
  const round = assignment.round + 1
  if (round < ROUNDS_PER_TARGET) return { ...assignment, round }
  const drawn = deriveSeed('prove/target/1', seed, assignment.index, round) % graph.nodes.length
  return { ...assignment, round, target: graph.nodes[drawn]! }
}

/** Rounds in which an example keeps its tool. */
const ROUNDS_PER_TARGET = 5
/** Rounds after which an example that nothing came of is a fault of the worlds or the profile. */
export const MAX_ROUNDS = 60
