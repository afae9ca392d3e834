import { createDuplicateIndex } from './duplicates.js'
import type { Example } from './example.js'
import { makeExample, type Workshop } from './make-example.js'
import { MAX_ROUNDS, nextRound, ordersFor } from './orders.js'
import type { Split } from './profile.js'
import { SynthesisError } from './workshop.js'

/**
 * Multi-turn examples of one split, one after the other in this process: for small numbers, and for worlds outside the
 * catalogue. The same workshop gives the same examples.
 * @throws SynthesisError `no_yield`
 */
export function* streamExamples(workshop: Workshop, split: Split, count: number): Generator<Example> {
  const { graph, seed } = workshop
  const composition = { 'multi-turn': count, clarification: 0, abstention: 0 }
  const duplicates = createDuplicateIndex()
  for (const first of ordersFor(composition, split === 'train' ? {} : { [split]: 1 }, graph, seed)) {
    let order = first
    for (;;) {
      const { example } = makeExample(order, workshop)
      if (example && duplicates.keep(example)) {
        yield example
        break
      }
      order = nextRound(order, graph, seed)
      if (order.round === MAX_ROUNDS) {
        throw new SynthesisError(
          'no_yield',
          `${split} example ${order.index} could not be made in ${MAX_ROUNDS} rounds`,
        )
      }
    }
  }
}
