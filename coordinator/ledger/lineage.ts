import canonicalize from 'canonicalize'
import type { BatchRecord, Publication, Recipe, TrainedBatch } from './run-state.js'
import type { StateSnapshot } from './state-snapshot.js'

interface KnownBatch {
  readonly batchId: string
  readonly groups: number
  /** Place of the terms in force when it was formed. */
  readonly configuration: number
  /** Place of what its step was made by; null: not known, or not yet. */
  recipe: number | null
}

/**
 * Which batches each policy is made of, and how. All that a state has to hold of versions that are long over, and the only part of it
 * that grows with each: the provenance of every later policy lists them.
 */
export class Lineage {
  /** By version. */
  readonly #adapterSteps: number[] = []
  /** By the step that was made of it, or is to be. */
  readonly #batches = new Map<number, KnownBatch>()
  /** Each that is different, once. */
  readonly #recipes: Recipe[] = []
  /** Their places by their canonical JSON (RFC 8785). */
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

  /** @param configuration  place of those in force */
  batched({ batchId, step, leaseIds }: BatchRecord, configuration: number): void {
    this.#batches.set(step, { batchId, groups: leaseIds.length, configuration, recipe: null })
  }

  /** The batch was refused or given up: its step is free again. */
  dropped({ batchId, step }: Pick<BatchRecord, 'batchId' | 'step'>): void {
    if (this.#batches.get(step)?.batchId === batchId) this.#batches.delete(step)
  }

  /** The batches whose updates made the adapter of a step, oldest first. */
  behind(adapterStep: number): TrainedBatch[] {
    const steps: number[] = []
    // Step n goes on from what was published as version n - 1.
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
