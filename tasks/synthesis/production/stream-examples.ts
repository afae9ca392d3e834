import type { Example } from '../../dataset/example.js'
import type { Split } from '../../dataset/profile.js'
import { makeExample } from '../making/make-example.js'
import { SynthesisError } from '../making/recipe.js'
import type { SynthesisContext } from '../making/synthesis-context.js'
import { MAX_ROUNDS, plansFor } from './assignments.js'
import { createDuplicateIndex } from './duplicates.js'
import { createTargets } from './targets.js'

/**
 * Makes multi-turn examples of one split in this process, for small numbers and for environments outside the catalogue. The same context
 * gives the same examples.
 * @throws SynthesisError `no_yield`
 */
export function* streamExamples(context: SynthesisContext, split: Split, count: number): Generator<Example> {
  const { graph, seed, profile, heldOutEnvironments } = context
  const composition = { 'multi-turn': count, clarification: 0, abstention: 0 }
  const duplicates = createDuplicateIndex()
  const targets = createTargets(graph, profile, heldOutEnvironments, seed)
  const plans = plansFor(composition, split === 'train' ? {} : { [split]: 1 }, context, targets.able)
  for (const [index, plan] of plans.entries()) {
    for (let round = 0; ; round++) {
      if (round === MAX_ROUNDS)
        throw new SynthesisError(
          'no_yield',
          `${split} example ${index} could not be made in ${MAX_ROUNDS} rounds: use more environments`,
        )
      const assignment = targets.assign(plan, index, round)
      const { example, rejected } = makeExample(assignment, context, new Set(targets.spent()))
      const isKept = example !== null && duplicates.keep(example)
      targets.note(assignment, isKept ? example : null, rejected)
      if (!isKept) continue
      yield example
      break
    }
  }
}
