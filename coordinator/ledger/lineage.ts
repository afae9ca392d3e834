import canonicalize from 'canonicalize'
import type { BatchRecord, Publication, Recipe, TrainedBatch } from './run-state.js'
import type { StateSnapshot } from './state-snapshot.js'

interface KnownBatch {
  readonly batchId: string
  readonly groups: number
  /** Index of the run configuration in force when it was formed. */
  readonly configuration: number
  /** Index of the recipe of its step; null: unknown. */
  recipe: number | null
}

/**
 * Batches and recipes that each policy was made from. It is the only part of the state that grows with every version: the provenance of
 * every later policy lists them.
 */
export class Lineage {
  /** Adapter step of each version. */
  readonly #adapterSteps: number[] = []
  /** Batches by step. */
  readonly #batches = new Map<number, KnownBatch>()
  /** Distinct recipes. */
  readonly #recipes: Recipe[] = []
  /** Indices of the recipes by their canonical JSON (RFC 8785). */
  readonly #places = new Map<string, number>()

  get snapshot(): Pick<StateSnapshot, 'adapterSteps' | 'trainedBatches' | 'recipes'> {
    const trainedBatches = [...this.#batches].map(([step, batch]) => ({ step, ...batch }))
    return { adapterSteps: [...this.#adapterSteps], trainedBatches, recipes: [...this.#recipes] }
  }

  static of({ adapterSteps, trainedBatches, recipes }: Lineage['snapshot']): Lineage {
    const lineage = new Lineage()
    lineage.#adapterSteps.push(...adapterSteps)
    for (const recipe of recipes) lineage.#placeOf(recipe)
    for (const { step, ...batch } of trainedBatches) lineage.#batches.set(step, { ...batch })
    return lineage
  }

  published({ version, step, adapterStep, recipe }: Publication): void {
    this.#adapterSteps[version] = adapterStep
    const batch = this.#batches.get(step)
    if (batch && recipe) batch.recipe = this.#placeOf(recipe)
  }

  /** @param configuration  index of the run configuration in force */
  batched({ batchId, step, leaseIds }: BatchRecord, configuration: number): void {
    this.#batches.set(step, { batchId, groups: leaseIds.length, configuration, recipe: null })
  }

  /** Notes that a batch was refused or dissolved: its step is free again. */
  dropped({ batchId, step }: Pick<BatchRecord, 'batchId' | 'step'>): void {
    if (this.#batches.get(step)?.batchId === batchId) this.#batches.delete(step)
  }

  /** Returns the batches whose updates made the adapter of a step, oldest first. */
  behind(adapterStep: number): TrainedBatch[] {
    const steps: number[] = []
    // Step n continues from version n - 1.
    for (let step = adapterStep; step > 0; step = this.#adapterSteps[step - 1]!) steps.push(step)
    return steps.reverse().flatMap((step) => {
      const batch = this.#batches.get(step)
      return batch ? [{ step, ...batch, recipe: batch.recipe === null ? null : this.#recipes[batch.recipe]! }] : []
    })
  }

  #placeOf(recipe: Recipe): number {
    const name = canonicalize(recipe)!
    const place = this.#places.get(name) ?? this.#recipes.push(recipe) - 1
    this.#places.set(name, place)
    return place
  }
}
