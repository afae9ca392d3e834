import type { Refusal } from './refusal-file.js'

/** Outcome of a batch. */
export type BatchOutcome =
  | { readonly kind: 'trained'; readonly step: number }
  /** Its token scores are written, and the trainer waits for findings. */
  | { readonly kind: 'measured' }
  | ({ readonly kind: 'refused' } & Refusal)

/** The process that turns batches into steps, through the job directory; see docs/reference/trainer.md. */
export interface TrainEngine {
  /** Resolves when the trainer is ready at its newest complete step. @throws TrainerError */
  start(signal: AbortSignal): Promise<{ readonly step: number }>
  /**
   * Waits for the outcome of a batch in the job directory. Idempotent: a batch that was trained before returns its step. After
   * `measured`, the caller writes findings and calls again; it may get `measured` again if the trainer restarted.
   * @throws TrainerError when there will be no outcome
   */
  outcome(batchId: string, signal: AbortSignal): Promise<BatchOutcome>
  close(): Promise<void>
}
