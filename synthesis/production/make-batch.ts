import { nodeName } from '../../servers/kernel/tool-graph.js'
import { makeExample } from '../making/make-example.js'
import { contextOf, type Recipe } from '../making/recipe.js'
import type { Assignment, Made, SynthesisContext } from '../making/synthesis-context.js'

/** An assignment as a worker is told it. */
export type PlainAssignment = Omit<Assignment, 'target'> & { readonly target: string }

export interface Batch {
  readonly recipe: Recipe
  readonly assignments: readonly PlainAssignment[]
}

export interface BatchResult extends Made {
  readonly index: number
}

let kept: { readonly recipe: string; readonly context: SynthesisContext } | undefined

/**
 * Makes the examples of a batch: the function that a worker thread runs. What a worker keeps between batches is only
 * what follows from the recipe, so the result does not depend on which worker it is.
 */
export default function makeBatch({ recipe, assignments }: Batch): BatchResult[] {
  const name = JSON.stringify(recipe)
  if (kept?.recipe !== name) kept = { recipe: name, context: contextOf(recipe) }
  const { context } = kept
  const nodes = new Map(context.graph.nodes.map((node) => [nodeName(node), node]))
  return assignments.map((assignment) => ({
    index: assignment.index,
    ...makeExample({ ...assignment, target: nodes.get(assignment.target)! }, context),
  }))
}
