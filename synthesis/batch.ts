import { nodeName } from './links.js'
import { type Made, makeExample, type Order, type Workshop } from './make-example.js'
import { type Recipe, workshopOf } from './workshop.js'

/** An order as a worker is told it. */
export type PlainOrder = Omit<Order, 'target'> & { readonly target: string }

export interface Batch {
  readonly recipe: Recipe
  readonly orders: readonly PlainOrder[]
}

export interface BatchResult extends Made {
  readonly index: number
}

let kept: { readonly recipe: string; readonly workshop: Workshop } | undefined

/**
 * Makes the examples of a batch: the function that a worker thread runs. What a worker keeps between batches is only
 * what follows from the recipe, so the result does not depend on which worker it is.
 */
export default function makeBatch({ recipe, orders }: Batch): BatchResult[] {
  const name = JSON.stringify(recipe)
  if (kept?.recipe !== name) kept = { recipe: name, workshop: workshopOf(recipe) }
  const { workshop } = kept
  const nodes = new Map(workshop.graph.nodes.map((node) => [nodeName(node), node]))
  return orders.map((order) => ({
    index: order.index,
    ...makeExample({ ...order, target: nodes.get(order.target)! }, workshop),
  }))
}
