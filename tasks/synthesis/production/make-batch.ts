import { admitEnvironments } from '../../../servers/catalogue.js'
import { speechSha256 } from '../../../servers/load-speech.js'
import { nodeName } from '../graph.js'
import { valueAt } from '../item-at.js'
import { makeExample } from '../making/make-example.js'
import { contextOf, type Recipe, SynthesisError } from '../making/recipe.js'
import type { Assignment, Made, SynthesisContext } from '../making/synthesis-context.js'

/** An assignment as plain data, which a worker thread can receive. */
export type PlainAssignment = Omit<Assignment, 'target'> & { readonly target: string }

export interface Batch {
  readonly recipe: Recipe
  /** Chains of which nothing came in earlier batches. */
  readonly spent: readonly string[]
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
export default async function makeBatch({ recipe, spent, assignments }: Batch): Promise<BatchResult[]> {
  const name = JSON.stringify(recipe)
  if (kept?.recipe !== name) {
    await admitOutside(recipe)
    kept = { recipe: name, context: await contextOf(recipe) }
  }
  const { context } = kept
  const nodes = new Map(context.graph.nodes.map((node) => [nodeName(node), node]))
  const known = new Set(spent)
  return assignments.map((assignment) => ({
    index: assignment.index,
    ...makeExample({ ...assignment, target: valueAt(nodes, assignment.target) }, context, known),
  }))
}

/**
 * Admits the environments from outside this package.
 * @throws SynthesisError `other_plan` if an environment has changed since the data set was begun
 */
async function admitOutside({ outside }: Recipe): Promise<void> {
  if (!outside) return
  for (const environment of await admitEnvironments(outside.folders)) {
    const { name, codeSha256 } = environment
    const isSame = outside.codeSha256.includes(codeSha256!) && outside.speechSha256.includes(speechSha256(environment))
    if (!isSame)
      throw new SynthesisError(
        'other_plan',
        `the files of the environment ${name} have changed during the synthesis; start it again with another --out`,
      )
  }
}
