import type { FoldImage } from './fold-image.js'
import type { BatchRecord, Publication, TrainedBatch } from './run-state.js'

/**
 * Which batches each policy is made of. All that a state has to hold of versions that are long over, and the only part of it that
 * grows with each: the provenance of every later policy lists them.
 */
export class Lineage {
  /** By version. */
  readonly #adapterSteps: number[] = []
  /** By the step that was made of it, or is to be. */
  readonly #batches = new Map<number, TrainedBatch>()

  get image(): Pick<FoldImage, 'adapterSteps' | 'trainedBatches'> {
    const trainedBatches = [...this.#batches].map(([step, batch]) => ({ step, ...batch }))
    return { adapterSteps: [...this.#adapterSteps], trainedBatches }
  }

  static of({ adapterSteps, trainedBatches }: Pick<FoldImage, 'adapterSteps' | 'trainedBatches'>): Lineage {
    const lineage = new Lineage()
    for (const [version, adapterStep] of adapterSteps.entries()) lineage.published({ version, adapterStep })
    for (const { step, ...batch } of trainedBatches) lineage.#batches.set(step, batch)
    return lineage
  }

  published({ version, adapterStep }: Pick<Publication, 'version' | 'adapterStep'>): void {
    this.#adapterSteps[version] = adapterStep
  }

  batched({ batchId, step, leaseIds }: BatchRecord): void {
    this.#batches.set(step, { batchId, groups: leaseIds.length })
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
    return steps.reverse().flatMap((step) => this.#batches.get(step) ?? [])
  }
}
