import { admitEnvironments } from '../../../servers/catalogue.js'
import { nodeName } from '../../../servers/kernel/tool-graph.js'
import { makeExample } from '../making/make-example.js'
import { contextOf, type Recipe, SynthesisError } from '../making/recipe.js'
import type { Assignment, Made, SynthesisContext } from '../making/synthesis-context.js'

/** Serialisable assignment for a worker. */
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
 * Makes the examples of a batch in a worker thread. Workers cache only values that follow from the recipe, so all workers give the same
 * result.
 */
export default async function makeBatch({ recipe, assignments }: Batch): Promise<BatchResult[]> {
  const name = JSON.stringify(recipe)
  if (kept?.recipe !== name) {
    await admitOutside(recipe)
    kept = { recipe: name, context: contextOf(recipe) }
  }
  const { context } = kept
  const nodes = new Map(context.graph.nodes.map((node) => [nodeName(node), node]))
  return assignments.map((assignment) => ({
    index: assignment.index,
    ...makeExample({ ...assignment, target: nodes.get(assignment.target)! }, context),
  }))
}

/** Loads the environments from outside the project. @throws SynthesisError `other_plan` if their code has changed since the data set was begun */
async function admitOutside({ outside }: Recipe): Promise<void> {
  if (!outside) return
  for (const { name, codeSha256 } of await admitEnvironments(outside.folders)) {
    if (!outside.codeSha256.includes(codeSha256!))
      throw new SynthesisError(
        'other_plan',
        `the code of the environment ${name} has changed since the synthesis began: remove the .parts folder and begin again`,
      )
  }
}
