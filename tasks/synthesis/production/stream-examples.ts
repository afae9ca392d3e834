import type { Example } from '../../dataset/example.js'
import type { Split } from '../../dataset/profile.js'
import { makeExample } from '../making/make-example.js'
import { SynthesisError } from '../making/recipe.js'
import type { SynthesisContext } from '../making/synthesis-context.js'
import { assignmentsFor, createTargets, MAX_ROUNDS } from './assignments.js'
import { createDuplicateIndex } from './duplicates.js'

/**
 * Makes multi-turn examples of one split in this process, for small numbers and for environments outside the catalogue. The same context
 * gives the same examples.
 * @throws SynthesisError `no_yield`
 */
export function* streamExamples(context: SynthesisContext, split: Split, count: number): Generator<Example> {
  const { graph, seed } = context
  const composition = { 'multi-turn': count, clarification: 0, abstention: 0 }
  const duplicates = createDuplicateIndex()
  const targets = createTargets(graph, seed, context.profile.target)
  for (const first of assignmentsFor(composition, split === 'train' ? {} : { [split]: 1 }, graph, seed)) {
    let assignment = first
    for (;;) {
      const { example } = makeExample(assignment, context)
      if (example && duplicates.keep(example)) {
        targets.count(example)
        yield example
        break
      }
      assignment = targets.nextRound(assignment)
      if (assignment.round === MAX_ROUNDS) {
        throw new SynthesisError(
          'no_yield',
          `${split} example ${assignment.index} could not be made in ${MAX_ROUNDS} rounds: use more environments`,
        )
      }
    }
  }
}
